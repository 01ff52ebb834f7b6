from django.apps import AppConfig


class JudgeConfig(AppConfig):
    name = "judge"
    verbose_name = "Judging"

    def ready(self) -> None:
        from annotation.services.checklist import register as register_steps
        from judge.services import checklist, runs, sample, studies
        from judge.services.alignment_archive import register_archive
        from judge.services.open_work import register_work
        from judge.services.settling import register_effort

        register_effort()
        register_archive()
        register_work()
        register_steps(checklist.steps_of)
        studies.register_words()
        runs.register_calibration()
        sample.register_judges()
