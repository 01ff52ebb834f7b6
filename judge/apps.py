from django.apps import AppConfig


class JudgeConfig(AppConfig):
    name = "judge"
    verbose_name = "Judging"

    def ready(self) -> None:
        from judge.domain.lexical_judge import LEXICAL_JUDGE
        from workers.providers.baseline.registered import register_baseline

        register_baseline(LEXICAL_JUDGE)
