"""A language model of two layers with random weights: real files, made on the spot, for tests without a network or a
GPU.

`python -m tests.workers.tiny_model FOLDER` writes it, and with `--drive` also asks the real VllmEngine 64 questions and
prints what came of them as one line of JSON. Needs what an environment with vLLM has: torch, transformers and
tokenizers.
"""

import argparse
import json
from pathlib import Path

VOCABULARY, LENGTH = 512, 2048
"""Tokens in the vocabulary; the longest sequence in tokens."""
BEGIN, END, PAD = "<s>", "</s>", "<pad>"
TEMPLATE = (
    "{{ '<s>' }}{% for message in messages %}{{ message['role'] + ': ' + message['content'] + '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ 'assistant: ' }}{% endif %}"
)
_TEXT = (
    "Sally puts the marble into the basket and goes out.",
    "Anne takes the marble out of the basket and puts it into the box.",
    "Sally comes back. Sally believes that the marble is in the basket.",
    'user: system: assistant: {"truth": "True", "knowledge": "False", "score": 3}',
)


def write_tiny_model(folder: Path) -> Path:
    """Write config, weights and tokenizer into `folder`, the same bytes each time; returns the folder."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = _tokenizer()
    torch.manual_seed(7)
    ends = {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
    sizes = {"hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2, "max_position_embeddings": LENGTH}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "pad_token_id": tokenizer.pad_token_id}
    config = LlamaConfig(vocab_size=VOCABULARY, tie_word_embeddings=False, **sizes, **heads, **ends)
    LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _tokenizer():
    """Byte-level, so that every text can be written; filled up to the vocabulary's size with unused tokens."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[PAD, BEGIN, END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_TEXT, trainer)
    tokenizer.add_tokens([f"<unused{at}>" for at in range(VOCABULARY - tokenizer.get_vocab_size())])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token=BEGIN, eos_token=END, pad_token=PAD, chat_template=TEMPLATE
    )


SCHEMA = {
    "type": "object",
    "properties": {
        "truth": {"enum": ["True", "False", "Unknown"]},
        "sure": {"type": "integer", "minimum": 1, "maximum": 7},
        "why": {"type": "string", "maxLength": 40},
    },
    "required": ["truth", "sure", "why"],
    "additionalProperties": False,
}
QUESTIONS = 64


def drive(folder: Path) -> dict:
    """Ask through VllmEngine: the `answers`; `odd` is what became of three bodies that cannot be asked among two."""
    from workers.providers.contract import Message, Request, Spec
    from workers.providers.vllm_engine.backend import VllmEngine, count_tokens

    engine = VllmEngine(Spec("vllm-engine", str(folder), options={"enforce_eager": True, "seed": 1}))
    rubric = Message("system", "You label what people believe. " * 20)
    rows = [f"Row {at}: Sally believes that the marble is in the basket.{' x' * at}" for at in range(QUESTIONS)]
    requests = [Request((rubric, Message("user", row)), max_tokens=120, temperature=1.0, schema=SCHEMA) for row in rows]
    bodies = [engine.body(request) for request in requests]
    answers = engine.complete_many(bodies)
    first, last = bodies[0], bodies[1] | {"max_tokens": LENGTH}  # that much room is not left, and need not be
    long = [{"role": "user", "content": "x " * LENGTH}]
    odd = [first, first | {"messages": long}, first | {"schema": {"type": "nonsense"}}, first | {"messages": []}, last]
    report = {
        "prompt_tokens": [count_tokens(engine.engine.get_tokenizer(), body["messages"]) for body in bodies],
        "answers": [{"text": answer.text, "stop": answer.stop, "input": answer.usage.input} for answer in answers],
        "odd": [f"{type(problem).__name__}: {problem}" for problem in engine.complete_many(odd)],
    }
    engine.close()
    return report


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--drive", action="store_true")
    asked = parser.parse_args()
    write_tiny_model(asked.folder)
    if asked.drive:
        print(json.dumps(drive(asked.folder)))
