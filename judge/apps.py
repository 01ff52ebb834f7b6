from django.apps import AppConfig


class JudgeConfig(AppConfig):
    name = "judge"
    verbose_name = "Judging"

    def ready(self) -> None:
        from core.made_by import register
        from judge.services import audit_words
        from judge.services.alignment_archive import register_archive
        from judge.services.alignment_effort import register_effort

        register("judge", libraries=["rapidfuzz"])
        register_effort()
        register_archive()
        audit_words.register_words()
