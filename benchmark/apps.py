from django.apps import AppConfig


class BenchmarkConfig(AppConfig):
    name = "benchmark"
    verbose_name = "Benchmarks"

    def ready(self) -> None:
        from benchmark.services.evaluating import register_purpose

        register_purpose()
