from django.apps import AppConfig
from django.utils import translation


class ConfigConfig(AppConfig):
    name = "config"

    def ready(self) -> None:
        from config import checks  # noqa: F401  registers the checks
        from core import language
        from core.catalogues.files import compile_ours

        compile_ours()
        language.install(translation.gettext, translation.ngettext)
