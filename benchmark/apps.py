from django.apps import AppConfig


class BenchmarkConfig(AppConfig):
    name = "benchmark"
    verbose_name = "Benchmarks"

    def ready(self) -> None:
        from django.core.exceptions import ImproperlyConfigured

        from annotation.models import schema_of
        from annotation.services import audit, open_work
        from annotation.services.checklist import register as register_steps
        from benchmark.services import additions, evaluating, judges
        from benchmark.suites.registry import SuiteRefused, schemas_from, suites

        register_steps(additions.steps_of)
        audit.register(additions.ACTIONS, additions.DETAILS)
        evaluating.register_handler()
        judges.register_handler()
        try:
            suites()
        except SuiteRefused as error:
            raise ImproperlyConfigured(str(error)) from error
        open_work.register(open_work.Work.SECOND_LOOKS, additions.to_look_at)
        schemas_from(schema_of)
