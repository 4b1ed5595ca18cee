"""Explains wrong arguments of `BiLm`'s methods, by the names that other libraries have."""

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import signature
from typing import Any, TypeVar, cast

from elmo_plugin.common.errors import meant_name

ARGUMENTS_BY_MEANING = {
    'layers="top" or layers=2': "layer layer-index layer-number which-layer hidden-state",
    'layers="all"': "all-layers output-hidden-states return-all-layers hidden-states",
    "layers=[0.2, 0.3, 0.5]": "weights mix mixing-weights layer-weights scalar-mix-parameters",
    'pooling="mean"': "pool pooling-strategy pooling-mode pooling-type aggregate reduce average mean"
    " sentence-embedding sentence-embeddings output-value",
    'output="numpy"': "convert-to-numpy to-numpy as-numpy return-numpy numpy as-array output-format",
    'output="torch"': "convert-to-tensor to-tensor as-tensor return-tensors return-tensor tensor",
    "batch_size=64": "batch bs mini-batch-size chunk-size max-batch-size num-workers",
    "show_progress_bar=True": "progress progress-bar show-progress verbose tqdm use-tqdm",
    'tokenizer="whitespace"': "is-split-into-words pretokenized tokenized tokenize split use-tokenizer",
    'language="de"': "lang language-code locale",
    "texts, the first argument": "text sentences sentence inputs input documents docs tokens words data",
    "sentences, the first argument": "texts text sentence inputs input documents docs tokens words data",
    "source, the first argument": "model name model-name model-name-or-path model-path path bilm archive url"
    " pretrained-model-name-or-path repo-id model-id checkpoint",
    'device="cuda"': "gpu cuda cuda-device use-cuda use-gpu device-map devices",
    'precision="bfloat16"': "dtype torch-dtype half fp16 bf16 quantize load-in-8bit",
    'BiLm.from_pretrained("base", device="cuda") or bilm.to("cuda")': "device gpu cuda cuda-device use-cuda"
    " use-gpu devices",
    'BiLm.from_pretrained("base", precision="bfloat16")': "precision dtype torch-dtype half fp16 bf16",
    "torch.nn.functional.normalize(vectors, dim=-1)": "normalize-embeddings normalize norm l2-normalize",
    'bilm.encode(sentences, layers="top", output="numpy")': "layers layer pooling output convert-to-numpy"
    " convert-to-tensor tokenizer language show-progress-bar batch-size",
    "BiLm.from_files(options_file, weights_file)": "options-file weight-file options weights weights-file",
    "bilm.requires_grad_()": "requires-grad trainable finetune fine-tune",
    "ElmoRepresentations(bilm, dropout=0.5)": "dropout num-output-representations do-layer-norm",
    "the variable ALLENNLP_CACHE_ROOT names the folder": "cache-dir cache-folder cache-directory",
    "texts of any length are read whole": "max-length truncation truncate padding max-len max-seq-length",
    "loading runs no code of the model": "trust-remote-code",
}
"""Our names for an argument of other libraries, such as sentence-transformers: the first that fits."""
_ADVICE = tuple(ARGUMENTS_BY_MEANING)[-3:]  # no code
_EXAMPLES = {
    "source": '"base", another name, a path or a URL',
    "texts": '"The play ended."',
    "sentences": '[["The", "play"]]',
}
Function = TypeVar("Function", bound=Callable[..., Any])


def explained(method: Function) -> Function:
    """Decorates a method: a `TypeError` for its arguments says which ones are meant."""

    @wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return method(*args, **kwargs)
        except TypeError:
            if not (mistake := _mistake(method, args, kwargs)):
                raise
        raise TypeError(f"{method.__name__}: {mistake}")

    return cast(Function, call)


def _mistake(method: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """Returns the mistake in the arguments of a call, or an empty string."""
    try:
        signature(method).bind(*args, **kwargs)
        return ""
    except TypeError as error:
        reason = str(error)
    parameters = {
        name: each for name, each in signature(method).parameters.items() if name not in ("self", "cls")
    }
    arguments = f"the arguments are {', '.join(parameters)}"
    if unknown := next((name for name in kwargs if name not in parameters), ""):
        meant = meant_name(
            unknown, parameters, ARGUMENTS_BY_MEANING, lambda target: _fits(target, parameters)
        )
        if meant and meant not in _ADVICE:
            meant = f"did you mean {meant}?"
        return f"unknown argument {unknown!r}; {meant or arguments}"
    if reason.startswith("missing"):
        name = reason.split("'")[1]
        return f"expected {name}" + (f", such as {_EXAMPLES[name]}" if name in _EXAMPLES else "")
    return f"{reason}; {arguments}"


def _fits(target: str, parameters: Mapping[str, Any]) -> bool:
    """Returns whether a method has the argument of a target, if that is one."""
    name = target.replace(",", "=").partition("=")[0]
    return name in parameters or not name.isidentifier()
