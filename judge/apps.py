from django.apps import AppConfig


class JudgeConfig(AppConfig):
    name = "judge"
    verbose_name = "Judging"

    def ready(self) -> None:
        from core.made_by import register
        from judge.domain.lexical_judge import LEXICAL_JUDGE
        from judge.services import audit_words
        from judge.services.alignment_archive import register_archive
        from judge.services.alignment_effort import register_effort
        from workers.providers.baseline.registered import register_baseline

        register("judge", libraries=["rapidfuzz"])
        register_baseline(LEXICAL_JUDGE)
        register_effort()
        register_archive()
        audit_words.register_words()
