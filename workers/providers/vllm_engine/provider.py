"""vLLM in a GPU worker's own process."""

from core.messages import gettext_noop
from workers.providers.contract import EngineBackend, Spec
from workers.providers.description import PRICES, RATES, Provider
from workers.providers.vllm_engine.options import OPTIONS


def _backend(spec: Spec) -> EngineBackend:
    from workers.providers.vllm_engine.backend import VllmEngine

    return VllmEngine(spec)


PROVIDER = Provider(
    name="vllm-engine",
    label=gettext_noop("vLLM inside a GPU worker"),
    sentence=gettext_noop("The model is loaded into a GPU worker of Credence; no server stands between."),
    backend=_backend,
    hosted=False,
    position=40,
    in_process=True,
    packages=("vllm",),
    defaults={"max_concurrency": 512, "repeat_unknown": 1},
    left_out=(
        "base_url",
        "api_key_env",
        "batches",
        "sets_temperature",
        "repeat_unknown",
        "timeout_seconds",
        *RATES,
        *PRICES,
    ),
    placeholders={"name": "qwen-gpu", "model": "Qwen/Qwen2.5-7B-Instruct"},
    options=OPTIONS,
    options_sentence=(
        gettext_noop(
            "A JSON object: dtype, quantization, tensor_parallel_size, max_model_len, "
            "gpu_memory_utilization and others."
        )
    ),
)
