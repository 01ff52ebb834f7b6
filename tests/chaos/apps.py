from django.apps import AppConfig


class ChaosConfig(AppConfig):
    name = "tests.chaos"
    label = "chaos"

    def ready(self) -> None:
        from tests.chaos.purpose import Receipts
        from workers.services.purposes import register

        register("chaos", Receipts())
