from django.apps import AppConfig
from django.contrib.staticfiles.apps import StaticFilesConfig


class ConfigConfig(AppConfig):
    name = "config"

    def ready(self) -> None:
        from config import checks  # noqa: F401  registers the checks


class StaticFiles(StaticFilesConfig):
    # No page uses these. The comments of the extensions name modules that do not exist, which a storage that follows
    # imports refuses.
    ignore_patterns = [*StaticFilesConfig.ignore_patterns, "django_htmx/ext/*", "drf_spectacular_sidecar/redoc/*"]
