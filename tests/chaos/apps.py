from django.apps import AppConfig


class ChaosConfig(AppConfig):
    name = "tests.chaos"
    label = "chaos"

    def ready(self) -> None:
        from tests.chaos.models import Receipts
        from workers.services.handlers import register

        register("chaos", Receipts())
