"""Estimate of whether a GPU can hold a model, from the weight files and the configuration, before minutes are spent on
loading.

What is counted is what vLLM counts when it starts: the weights, the activations of its profiling run, and a key-value
cache that holds at least one sequence of full length. The formulas are those of the transformer's shapes; the
constants below are vLLM's defaults.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from core.incoming.shapes import Open
from workers.providers.contract import Spec

GIB = 2**30


class Step(NamedTuple):
    """Tokens in one step and sequences at once: what vLLM's profiling run fills."""

    tokens: int
    sequences: int


STEP, LARGE_STEP = Step(8192, 256), Step(16384, 1024)
LARGE_GPU = 70 * GIB
"""From this memory on vLLM takes the large step. It leaves out the A100 of 80 GB, for which the figure is too high."""
OVERHEAD = GIB
"""CUDA context, communication buffers and captured graphs, in bytes."""
UTILIZATION = 0.92
"""vLLM's own default for gpu_memory_utilization."""
_SIZES = {"float32": 4, "float": 4, "bfloat16": 2, "float16": 2, "half": 2}
_QUANTIZED = {"fp8": 1.0, "bitsandbytes": 0.5 + 4 / 64}
"""Bytes a parameter where vLLM quantises while it loads; bitsandbytes keeps one float32 scale for 64 weights."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes on each GPU. `kv_cache` is one sequence of full length, the least with which the engine starts."""

    weights: int
    kv_cache: int
    activations: int
    overhead: int = OVERHEAD

    @property
    def total(self) -> int:
        return self.weights + self.kv_cache + self.activations + self.overhead


class Gpu(NamedTuple):
    """A GPU's memory in bytes."""

    free: int
    total: int


class TransformerConfig(Open):
    """The shapes of a transformer, by the names of its config.json."""

    num_hidden_layers: int | None = None
    num_attention_heads: int | None = None
    num_key_value_heads: int | None = None
    hidden_size: int | None = None
    intermediate_size: int | None = None
    vocab_size: int | None = None
    head_dim: int | None = None
    kv_lora_rank: int | None = None
    qk_rope_head_dim: int | None = None
    max_position_embeddings: int | None = None
    tie_word_embeddings: bool | None = None
    dtype: str | None = None
    torch_dtype: str | None = None

    def need(self, name: str) -> int:
        """Return a shape. Raises KeyError where the configuration lacks it."""
        value: int | None = getattr(self, name)
        if value is None:
            raise KeyError(name)
        return value


class ModelConfig(TransformerConfig):
    """A config.json. A model that reads more than texts has the shapes of its language model in an object of their
    own."""

    text_config: TransformerConfig | None = None
    quantization_config: Any = None

    @property
    def text(self) -> TransformerConfig:
        return self.text_config or self

    @property
    def stored_dtype(self) -> str | None:
        own = self.text_config or TransformerConfig()
        return self.dtype or self.torch_dtype or own.dtype or own.torch_dtype


class _IndexMetadata(Open):
    total_size: float | None = None


class _WeightIndex(Open):
    """The index of weights that lie in several files."""

    metadata: _IndexMetadata | None = None


class StoredModel(NamedTuple):
    """A model as it lies on this machine: its configuration, and the bytes of its weight files."""

    config: ModelConfig
    weight_bytes: int


def memory_needed(
    config: ModelConfig,
    weight_bytes: int,
    dtype: str = "auto",
    *,
    quantization: str | None = None,
    tensor_parallel_size: int = 1,
    max_model_len: int | None = None,
    step: Step = STEP,
) -> Memory:
    """Return what each of `tensor_parallel_size` GPUs has to hold. `weight_bytes` is the size of the model's files.

    Sliding windows and other savings of single architectures are not counted: the figure is rather too high than too
    low. Raises KeyError where the configuration lacks the shapes of a transformer.
    """
    text = config.text
    size = _loaded_size(config, dtype)
    length = max_model_len if max_model_len and max_model_len > 0 else text.need("max_position_embeddings")
    return Memory(
        weights=math.ceil(_weights(config, weight_bytes, size, quantization) / tensor_parallel_size),
        kv_cache=length * _kv_numbers_a_token(text, tensor_parallel_size) * size,
        activations=_activations(text, size, tensor_parallel_size, step),
    )


def verdict(memory: Memory, gpus: Sequence[Gpu], *, count: int = 1, utilization: float = UTILIZATION) -> str:
    """Return one sentence on whether the model fits; the first `count` GPUs share it."""
    if len(gpus) < count:
        visible = "no GPU is" if not gpus else f"only {len(gpus)} {'GPU is' if len(gpus) == 1 else 'GPUs are'}"
        return f"The model wants {count} GPU{'s' if count > 1 else ''}, and {visible} visible to this process."
    needs = (
        f"The model needs about {memory.total / GIB:.1f} GiB on each GPU ({memory.weights / GIB:.1f} of them weights)"
    )
    for at, gpu in enumerate(gpus[:count]):
        share = utilization * gpu.total
        if memory.total > share:
            return (
                f"{needs}, more than the {share / GIB:.1f} GiB that the engine may take of GPU {at}: it does not fit."
            )
        if gpu.free < share:
            return (
                f"{needs}, and would fit, but GPU {at} has only {gpu.free / GIB:.1f} GiB free of the "
                f"{share / GIB:.1f} GiB that the engine takes (gpu_memory_utilization)."
            )
    least = min(utilization * gpu.total for gpu in gpus[:count])
    return f"{needs} of the {least / GIB:.1f} GiB that the engine may take: it fits."


def fits(spec: Spec) -> str:
    """One sentence on whether the GPUs of this machine can hold the model. Reads files and the GPUs, no network."""
    options, count = spec.options, spec.options.get("tensor_parallel_size", 1)
    try:
        if (model := read_model(spec.model, spec.revision)) is None:
            return f"The files of {spec.model} are not on this machine, so how much memory they need is not known."
        gpus = visible_gpus()
        memory = memory_needed(
            model.config,
            model.weight_bytes,
            options.get("dtype", "auto"),
            quantization=options.get("quantization"),
            tensor_parallel_size=count,
            max_model_len=options.get("max_model_len"),
            step=_step_on(gpus),
        )
        share = options.get("gpu_memory_utilization", UTILIZATION)
        return verdict(memory, gpus, count=count, utilization=share)
    except KeyError as error:
        return f"How much memory {spec.model} needs is not known: its config.json has no {error}."
    except (OSError, ValueError, RuntimeError) as error:
        return f"How much memory {spec.model} needs could not be found out ({type(error).__name__}: {error})."


def read_model(model: str, revision: str = "") -> StoredModel | None:
    """Return a model of a folder or of the local cache; None where there is neither."""
    folder = Path(model) if Path(model).is_dir() else _cached(model, revision)
    if folder is None or not (folder / "config.json").is_file():
        return None
    config = ModelConfig.of(json.loads((folder / "config.json").read_text("utf-8")))
    if size := _indexed_bytes(folder / "model.safetensors.index.json"):
        return StoredModel(config, size)
    for pattern in (
        "model*.safetensors",
        "*.safetensors",
        "*.bin",
    ):  # the same weights may lie there in several formats
        if files := list(folder.glob(pattern)):
            return StoredModel(config, sum(file.stat().st_size for file in files))
    return None


def _indexed_bytes(index: Path) -> int:
    """Return how many bytes an index of weight files counts; 0 where there is none."""
    if not index.is_file():
        return 0
    metadata = _WeightIndex.of(json.loads(index.read_text("utf-8"))).metadata
    return int((metadata and metadata.total_size) or 0)


def visible_gpus() -> list[Gpu]:
    """Free and total memory of every GPU that torch sees; empty without torch or without CUDA.

    To ask opens a CUDA context in this process, some hundreds of MB on each GPU until it ends. It is the engine's own
    question and has its answer: NVML, which opens none, counts the physical GPUs whatever CUDA_VISIBLE_DEVICES says,
    and memory that the driver keeps for itself.
    """
    try:
        import torch
    except ImportError:
        return []
    return [Gpu(*torch.cuda.mem_get_info(at)) for at in range(torch.cuda.device_count())]


def _step_on(gpus: Sequence[Gpu]) -> Step:
    """Return the step that vLLM chooses by the memory of the first GPU."""
    return LARGE_STEP if gpus and gpus[0].total >= LARGE_GPU else STEP


def _cached(model: str, revision: str) -> Path | None:
    try:
        from huggingface_hub import snapshot_download

        return Path(snapshot_download(model, revision=revision or None, local_files_only=True))
    except (ImportError, OSError, ValueError):  # not in the cache, or no name that a hub could have
        return None


def _stored_size(config: ModelConfig) -> int:
    """Bytes a parameter in the files; an absent dtype is read as float32, as vLLM does."""
    return _SIZES.get((config.stored_dtype or "").removeprefix("torch."), 4)


def _loaded_size(config: ModelConfig, dtype: str) -> int:
    """Bytes a parameter in memory; "auto" takes float32 files as 16 bits."""
    return _SIZES.get(dtype) or min(2, _stored_size(config))


def _weights(config: ModelConfig, weight_bytes: int, size: int, quantization: str | None) -> float:
    if config.quantization_config:  # quantised in the files already
        return weight_bytes
    text = config.text
    parameters = weight_bytes / _stored_size(config)
    if quantization not in _QUANTIZED:
        return parameters * size
    matrices = 1 if text.tie_word_embeddings else 2
    embeddings = min(parameters, text.need("vocab_size") * text.need("hidden_size") * matrices)
    return embeddings * size + (parameters - embeddings) * _QUANTIZED[quantization]


def _kv_numbers_a_token(text: TransformerConfig, parallel: int) -> int:
    """Numbers kept for one token; multi-head latent attention keeps one compressed vector, and every GPU all of it."""
    layers = text.need("num_hidden_layers")
    if text.kv_lora_rank:
        return layers * (text.kv_lora_rank + (text.qk_rope_head_dim or 0))
    heads = text.need("num_attention_heads")
    head = text.head_dim or text.need("hidden_size") // heads
    return 2 * layers * math.ceil((text.num_key_value_heads or heads) / parallel) * head


def _activations(text: TransformerConfig, size: int, parallel: int, step: Step) -> int:
    """The residual stream and the widest layer of a full step, and float32 logits twice for the sampler."""
    hidden = text.need("hidden_size")
    wide = math.ceil((text.intermediate_size or 4 * hidden) / parallel)
    return step.tokens * (4 * hidden + 3 * wide) * size + 2 * step.sequences * text.need("vocab_size") * 4
