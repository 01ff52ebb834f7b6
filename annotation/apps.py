from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"
    verbose_name = "Annotation"

    def ready(self) -> None:
        from annotation.domain.baselines import BASELINES
        from annotation.services.prefill_handler import register_handler
        from core.made_by import register
        from workers.providers.baseline.registered import register_baseline

        register("annotation")
        for baseline in BASELINES:
            register_baseline(baseline)
        register_handler()
