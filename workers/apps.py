from django.apps import AppConfig


class WorkersConfig(AppConfig):
    name = "workers"
    verbose_name = "Models and calls"

    def ready(self) -> None:
        from core.made_by import register

        register("workers")
