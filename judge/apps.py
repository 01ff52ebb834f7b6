from django.apps import AppConfig


class JudgeConfig(AppConfig):
    name = "judge"
    verbose_name = "Judging"

    def ready(self) -> None:
        from annotation.domain.effort import Activity
        from annotation.services import archive_sections, audit, checklist, effort
        from judge.services import alignment_archive, alignment_report, open_work, runs, sample, settling, studies

        effort.SOURCES[Activity.ALIGNMENT] = settling.EFFORT
        archive_sections.further.append(alignment_archive.PART)
        audit.register(studies.ACTIONS, studies.DETAILS)
        checklist.register(alignment_report.steps_of)
        open_work.register_work()
        runs.register_calibration()
        sample.register_judges()
