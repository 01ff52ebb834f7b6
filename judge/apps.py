from django.apps import AppConfig


class JudgeConfig(AppConfig):
    name = "judge"
    verbose_name = "Judging"

    def ready(self) -> None:
        from core.made_by import register
        from judge.services import audit_words
        from judge.services.alignment_archive import register_archive
        from judge.services.alignment_effort import register_effort
        from judge.services.open_work import register_work

        register("judge", libraries=["rapidfuzz"])
        register_effort()
        register_archive()
        register_work()
        audit_words.register_words()
