from django.apps import AppConfig


class BenchmarkConfig(AppConfig):
    name = "benchmark"
    verbose_name = "Benchmarks"

    def ready(self) -> None:
        from django.core.exceptions import ImproperlyConfigured

        from annotation.models import schema_of
        from annotation.services.checklist import register as register_steps
        from benchmark.services import additions, audit_words, evaluating, judges
        from benchmark.suites.registry import SuiteRefused, schemas_from, suites

        register_steps(additions.steps_of)
        audit_words.register_words()
        evaluating.register_handler()
        judges.register_handler()
        try:
            suites()
        except SuiteRefused as error:
            raise ImproperlyConfigured(str(error)) from error
        additions.register_work()
        schemas_from(schema_of)
