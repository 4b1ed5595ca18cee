"""What a training can start from, and that its archive does not need it any more."""

import json
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.models import load_archive
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.bilm import BiLm
from elmo_plugin.bilm.io import Checkpoint, write_files
from elmo_plugin.language_model import measure_perplexity
from elmo_plugin.language_model.loader import BiLmStreamLoader
from elmo_plugin.language_model.model import BiLmLanguageModel
from elmo_plugin.language_model.vocabulary import BilmTfVocabulary, adapt_softmax
from tests.conftest import at_most
from tests.language_model.small_models import evaluate
from tests.trained_bilm import COUNTS, random_bilm, random_softmax, words_of, write_training

WORDS = ["the", "cat", "sat", "Wörterbuch", "辞書", "<S>", "</S>"]


def _vocabulary(words: Mapping[str, int] | set[str]) -> Vocabulary:
    return Vocabulary(
        {"words": dict.fromkeys(sorted(words), 1) if isinstance(words, set) else dict(words)}
    )


def _log_probabilities(
    weight: torch.Tensor, bias: torch.Tensor, hidden: torch.Tensor
) -> torch.Tensor:
    return (hidden @ weight.double().t() + bias.double()).log_softmax(dim=1)


@at_most(30)
@given(before=st.sets(st.sampled_from(WORDS)), new=st.sets(st.text("xyz", min_size=1, max_size=3)))
def test_new_words_share_the_probability_of_the_unknown_word_only(
    before: set[str], new: set[str]
) -> None:
    known = random_softmax(words_of(_vocabulary(before)))
    vocab = _vocabulary(before | new)
    weight, bias, number_new = adapt_softmax(known, vocab)
    assert number_new == len(new)
    hidden = torch.randn(5, 6, dtype=torch.float64)
    was = dict(
        zip(
            known.words, _log_probabilities(known.weight, known.bias, hidden).exp().t(), strict=True
        )
    )
    now = dict(
        zip(words_of(vocab), _log_probabilities(weight, bias, hidden).exp().t(), strict=True)
    )
    share = was.pop("@@UNKNOWN@@") / (len(new) + 1)
    for word, probability in now.items():
        torch.testing.assert_close(probability, was.get(word, share), rtol=1e-5, atol=0)


@at_most(30)
@given(
    before=st.permutations(["<UNK>", "<S>", "</S>", "the", "cat", "辞書"]),
    new=st.sets(st.sampled_from(["xx", "xy", "zz", "<UNK>"])),
)
def test_a_softmax_of_bilm_tf_has_another_name_for_the_unknown_word_and_no_padding(
    before: list[str], new: set[str]
) -> None:
    """Its unknown word may also be a word of the text: that is new, too."""
    known = random_softmax(before)
    vocab = _vocabulary(set(before) - {"<UNK>"} | new)
    weight, bias, number_new = adapt_softmax(known, vocab)
    assert number_new == len(new)
    hidden = torch.randn(5, 6, dtype=torch.float64)
    probabilities = _log_probabilities(known.weight, known.bias, hidden).exp().t()
    was = dict(zip(known.words, probabilities, strict=True))
    share = was.pop("<UNK>") / (len(new) + 1)
    padding, *probabilities = _log_probabilities(weight, bias, hidden).exp().t()
    assert (padding < 1e-8).all()
    for word, probability in zip(words_of(vocab)[1:], probabilities, strict=True):
        torch.testing.assert_close(probability, was.get(word, share), rtol=1e-5, atol=0)


def test_new_words_require_an_unknown_word_in_the_softmax() -> None:
    known = random_softmax(["the", "cat"])
    with pytest.raises(ConfigurationError, match=r"no row for unknown .* \(@@UNKNOWN@@ or <UNK>\)"):
        adapt_softmax(known, _vocabulary(COUNTS))


def test_a_training_starts_from_a_softmax_that_elmo_perplexity_takes(tmp_path: Path) -> None:
    """The biLM is bilm-tf's, whose vocabulary has <UNK> and no padding."""
    bilm, text = random_bilm(), tmp_path / "text.txt"
    text.write_text("the cat sat\nsat the Wörterbuch dog\n", encoding="utf-8")
    words = ["</S>", "<S>", "<UNK>", "the", "cat", "sat", "Wörterbuch"]
    checkpoint = Checkpoint(bilm.options, bilm.state_dict().items(), random_softmax(words))
    write_files(tmp_path / "bilm", checkpoint)
    (tmp_path / "vocabulary.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    vocab = BilmTfVocabulary.from_file(str(tmp_path / "vocabulary.txt"))
    model = BiLmLanguageModel(vocab, initial=str(tmp_path / "bilm"))
    loader = BiLmStreamLoader(str(text), batch_size=1, unroll_steps=3, shuffle=False)
    found = evaluate(model, vocab, loader)
    expected = measure_perplexity(str(tmp_path / "bilm"), [str(text)])
    assert found == pytest.approx({name: expected[name] for name in found}, rel=1e-5)


def _fine_tuned(folder: Path) -> Path:
    """The archive of a training that started from something that is gone."""
    archive = write_training(folder, random_bilm())
    config = {
        "dataset_reader": {"type": "bilm_text"},
        "model": {"type": "bilm", "initial": "gone.tar.gz"},
    }
    (folder / "config.json").write_text(json.dumps(config))
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(folder / "config.json", arcname="config.json")
        tar.add(folder / "best.th", arcname="weights.th")
        tar.add(folder / "vocabulary", arcname="vocabulary")
    return archive


def test_a_fine_tuned_archive_loads_without_the_bilm_it_started_from(
    tmp_path: Path,
) -> None:
    archive = _fine_tuned(tmp_path / "run")
    for source in (archive, tmp_path / "run"):
        state = BiLm.from_pretrained(source).state_dict()
        assert all(
            torch.equal(state[name], tensor) for name, tensor in random_bilm().state_dict().items()
        )
    assert load_archive(archive).model.bilm.options == random_bilm().options
