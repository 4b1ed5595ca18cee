"""What `allennlp train` leaves behind for a `bilm` model, written without training."""

import json
import tarfile
from pathlib import Path

import torch
from allennlp.data import Vocabulary

from elmo_plugin.bilm import BiLm, BiLmOptions
from elmo_plugin.bilm.io.softmax_weights import SoftmaxWeights
from elmo_plugin.common.formats.torch_files import json_to_tensor
from tests.small_bilm import small_options

COUNTS = {"the": 9, "<S>": 8, "</S>": 8, "cat": 5, "Wörterbuch": 4, "辞書": 3, "sat": 2}


def random_bilm() -> BiLm:
    torch.manual_seed(7)
    return BiLm(BiLmOptions.from_dict(small_options())).eval().requires_grad_(False)


def random_softmax(words: list[str], dim: int = 6) -> SoftmaxWeights:
    torch.manual_seed(8)
    return SoftmaxWeights(torch.randn(len(words), dim), torch.randn(len(words)), words)


def words_of(vocab: Vocabulary) -> list[str]:
    """The words in the numbering of the vocabulary, as AllenNLP tells it."""
    return [
        vocab.get_token_from_index(number, "words")
        for number in range(vocab.get_vocab_size("words"))
    ]


def write_training(
    folder: Path, bilm: BiLm, vocab: Vocabulary | None = None, softmax: SoftmaxWeights | None = None
) -> Path:
    """Writes a serialization directory, and the archive that it returns."""
    vocab = vocab or Vocabulary({"words": dict(COUNTS)})
    softmax = softmax or random_softmax(words_of(vocab))
    folder.mkdir(parents=True)
    vocab.save_to_files(str(folder / "vocabulary"))
    config = {"model": {"type": "bilm", "options": bilm.options.to_dict()}}
    (folder / "config.json").write_text(json.dumps(config))
    state = {f"bilm.{name}": tensor for name, tensor in bilm.state_dict().items()}
    state["_extra_state"] = json_to_tensor({"options": bilm.options.to_dict()})
    state.update({"softmax.weight": softmax.weight, "softmax.bias": softmax.bias})
    torch.save(state, folder / "best.th")
    archive = folder / "model.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        for name, arcname in {"config.json": "config.json", "best.th": "weights.th"}.items():
            tar.add(folder / name, arcname=arcname)
        tar.add(folder / "vocabulary", arcname="vocabulary")
    return archive
