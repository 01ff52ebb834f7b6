"""The options of an endpoint that its engine is given."""

from workers.providers.options import KnownOptions

OPTIONS: KnownOptions = {
    "dtype": (str,),
    "quantization": (str,),
    "tensor_parallel_size": (int,),
    "max_model_len": (int,),
    "gpu_memory_utilization": (float, int),
    "seed": (int,),
    "enforce_eager": (bool,),
    "reasoning_parser": (str,),
    "structured_outputs_backend": (str,),
}
