from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"
    verbose_name = "Annotation"

    def ready(self) -> None:
        from annotation.domain.baselines import BASELINES
        from annotation.domain.scripted_readers import READERS
        from annotation.services import prefill_rounds
        from workers.providers.baseline.registered import register_baseline
        from workers.providers.scripted.functions import FUNCTIONS

        for baseline in BASELINES:
            register_baseline(baseline)
        FUNCTIONS.update({reader.name: reader.answer for reader in READERS})
        prefill_rounds.register_handlers()
