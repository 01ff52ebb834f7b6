from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"
    verbose_name = "Annotation"

    def ready(self) -> None:
        from annotation.domain.baselines import BASELINES
        from annotation.domain.scripted_readers import READERS
        from annotation.services.prefill_rounds import HANDLERS
        from workers.providers.baseline.registered import register_baseline
        from workers.providers.scripted.functions import FUNCTIONS
        from workers.services.handlers import register

        for baseline in BASELINES:
            register_baseline(baseline)
        FUNCTIONS.update({reader.name: reader.answer for reader in READERS})
        for handler in HANDLERS.values():
            register(handler.name, handler)
