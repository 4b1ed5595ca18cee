import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.data import Vocabulary

from elmo_plugin.bilm import BiLmError
from elmo_plugin.bilm.io.hdf5_weights import write_weights
from elmo_plugin.bilm.io.softmax_weights import SoftmaxWeights
from elmo_plugin.commands.export import export
from elmo_plugin.language_model import measure_perplexity
from elmo_plugin.language_model.loader import BiLmStreamLoader
from elmo_plugin.language_model.model import BiLmLanguageModel
from tests.commands.run import run
from tests.conftest import REPOSITORY
from tests.language_model.small_models import evaluate
from tests.trained_bilm import COUNTS, random_bilm, random_softmax, words_of, write_training

SENTENCES = [
    "the cat sat",
    "the Wörterbuch",
    "a cat",
    "辞書 sat sat the dog",
    "cat",
    "the the the @@PADDING@@",
]
BILM_TF = REPOSITORY / "tests" / "fixtures" / "bilm_tf"
PERPLEXITIES = ("forward_perplexity", "backward_perplexity", "perplexity")
TOKENS, UNKNOWN = 17, 3  # of them: a, dog, @@PADDING@@


@pytest.fixture
def archive(tmp_path: Path) -> str:
    return str(write_training(tmp_path / "run", random_bilm()))


@pytest.fixture
def text(tmp_path: Path) -> str:
    path = tmp_path / "text.txt"
    path.write_text("\n".join(SENTENCES) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELMO_PLUGIN_CACHE", str(tmp_path / "cache"))


def _numbers(figures: dict[str, Any]) -> dict[str, float]:
    return {name: figure for name, figure in figures.items() if not isinstance(figure, str)}


def test_the_command_prints_and_writes_what_it_measures(
    archive: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    out = tmp_path / "out" / "figures.json"
    run("perplexity", archive, text, "--json", out, "--block-words", "5", "--batch-size", "2")
    figures = json.loads(out.read_text())
    assert figures == measure_perplexity(archive, [text], "carry", block_words=5, batch_size=2)
    printed = capsys.readouterr().out.splitlines()
    assert f"perplexity: {figures['perplexity']:.3f}" in printed
    assert f"unknown tokens: {UNKNOWN}" in printed and "state: carry" in printed
    forward, backward = figures["forward_perplexity"], figures["backward_perplexity"]
    assert figures["perplexity"] == pytest.approx(math.sqrt(forward * backward))
    counted = {name: figures[name] for name in ("sentences", "tokens", "targets", "unknown_tokens")}
    assert counted == {
        "sentences": 6,
        "tokens": TOKENS,
        "targets": TOKENS + 6,
        "unknown_tokens": UNKNOWN,
    }
    assert figures["unknown_percent"] == pytest.approx(100 * UNKNOWN / TOKENS)
    assert (figures["vocabulary_size"], figures["block_words"]) == (len(COUNTS) + 1, 5)


@pytest.mark.slow
def test_the_order_of_softmax_rows_does_not_change_the_perplexity(
    text: str, tmp_path: Path
) -> None:
    """Also if it has no row for padding: files of other programs may have any word in row 0."""
    softmax = random_softmax(["the", "<S>", "</S>", "<UNK>", "cat", "sat"])
    figures = []
    for number, order in enumerate(([0, 1, 2, 3, 4, 5], [5, 3, 1, 2, 4, 0], [3, 1, 2, 0, 4, 5])):
        words = [softmax.words[row] for row in order]
        reordered = SoftmaxWeights(softmax.weight[order], softmax.bias[order], words)
        figures.append(_measure_with(reordered, tmp_path / str(number), text))
    assert figures[0]["vocabulary_size"] == 6
    assert figures[1] == pytest.approx(figures[0], rel=1e-5)
    assert figures[2] == pytest.approx(figures[0], rel=1e-5)


def _measure_with(softmax: SoftmaxWeights, folder: Path, text: str) -> dict[str, float]:
    """The figures of a biLM with this softmax in its weight file."""
    bilm = random_bilm()
    folder.mkdir()
    bilm.options.to_file(folder / "options.json")
    write_weights(folder / "weights.hdf5", bilm.state_dict(), bilm.options, softmax=softmax)
    return _numbers(measure_perplexity(str(folder), [text]))


@pytest.mark.parametrize("padding_bias", [-30.0, 0.0, 30.0])
def test_padding_gets_no_probability(text: str, tmp_path: Path, padding_bias: float) -> None:
    """A word that cannot occur changes nothing, however probable its row makes it."""
    words = ["<UNK>", "<S>", "</S>", "the", "cat", "sat"]
    plain, padded = random_softmax(words), random_softmax(["@@PADDING@@", *words])
    padded.weight[1:] = plain.weight
    padded.bias[1:] = plain.bias
    padded.bias[0] = padding_bias
    expected = _measure_with(plain, tmp_path / "plain", text)
    assert expected["unknown_tokens"] == UNKNOWN + 2  # Wörterbuch and 辞書 are not among the words
    assert _measure_with(padded, tmp_path / "padded", text) == pytest.approx(expected, rel=1e-5)


def test_padding_renamed_by_the_configuration_gets_no_probability(
    text: str, tmp_path: Path
) -> None:
    vocab = Vocabulary({"words": dict(COUNTS)})
    softmax = random_softmax(words_of(vocab))
    softmax.bias[0] = 30.0
    expected = write_training(tmp_path / "a", random_bilm(), vocab, softmax)
    renamed = Vocabulary({"words": dict(COUNTS)}, padding_token="<pad>")
    folder = write_training(tmp_path / "b", random_bilm(), renamed, softmax).parent
    config = json.loads((folder / "config.json").read_text())
    config["vocabulary"] = {"padding_token": "<pad>"}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "model.tar.gz").unlink()
    assert _numbers(measure_perplexity(str(folder), [text])) == pytest.approx(
        _numbers(measure_perplexity(str(expected), [text]))
    )


@pytest.mark.parametrize("state", ["carry", "reset"])
def test_scores_of_sentences_and_words_add_up_to_the_total(
    archive: str, text: str, tmp_path: Path, state: str
) -> None:
    out, figures_file = tmp_path / "out" / "scores.jsonl", tmp_path / "figures.json"
    run(
        "perplexity", archive, text, "--state", state, "--per-sentence", out, "--json", figures_file
    )
    figures = json.loads(figures_file.read_text())
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [line["sentence"] for line in lines] == list(range(6))
    assert [" ".join(line["words"]) for line in lines] == SENTENCES
    assert [line["tokens"] for line in lines] == [3, 2, 2, 5, 1, 4]
    assert [line["unknown"] for line in lines] == [[], [], [0], [4], [], [3]]
    for line in lines:
        for direction in ("forward", "backward"):
            assert len(line[f"{direction}_nats"]) == line["tokens"] + 1
            assert sum(line[f"{direction}_nats"]) == pytest.approx(line[direction], abs=1e-5)
        mean = (line["forward"] + line["backward"]) / (2 * (line["tokens"] + 1))
        assert line["perplexity"] == pytest.approx(math.exp(mean))
    for direction in ("forward", "backward"):
        mean = sum(line[direction] for line in lines) / figures["targets"]
        assert figures[f"{direction}_perplexity"] == pytest.approx(math.exp(mean))
    assert ("block_words" in figures) == (state == "carry")
    assert [path.name for path in out.parent.iterdir()] == ["scores.jsonl"]


@pytest.mark.cuda
def test_a_gpu_gives_the_same_perplexity(archive: str, text: str) -> None:
    expected = _numbers(measure_perplexity(archive, [text]))
    found = _numbers(measure_perplexity(archive, [text], device="cuda"))
    assert found == pytest.approx(expected, rel=1e-5)


def test_a_bilm_trained_by_bilm_tf_gets_the_losses_that_bilm_tf_computes(tmp_path: Path) -> None:
    expected = json.loads((BILM_TF / "losses.json").read_text(encoding="utf-8"))
    text, out = tmp_path / "text.txt", tmp_path / "scores.jsonl"
    sentences = [" ".join(sentence["words"]) for sentence in expected]
    text.write_text("\n".join(sentences) + "\n", encoding="utf-8")
    run("perplexity", BILM_TF, text, "--state", "reset", "--per-sentence", out)
    found = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    for scores, losses in zip(found, expected, strict=True):
        assert scores["forward"] == pytest.approx(losses["forward"], rel=1e-6)
        assert scores["backward"] == pytest.approx(losses["backward"], rel=1e-6)


def test_a_bilm_without_its_softmax_is_refused(archive: str, text: str, tmp_path: Path) -> None:
    export(archive, tmp_path / "exported", with_softmax=False)
    with pytest.raises(BiLmError, match="exported: perplexity needs a softmax"):
        measure_perplexity(str(tmp_path / "exported"), [text])


def test_a_vocabulary_without_the_special_words_is_refused(text: str, tmp_path: Path) -> None:
    vocab = Vocabulary({"words": {"cat": 3, "<S>": 2}})
    archive = write_training(tmp_path / "run", random_bilm(), vocab)
    with pytest.raises(BiLmError, match=r"lacks <S>, </S> or a word for unknown ones"):
        measure_perplexity(str(archive), [text])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"state": "none"}, "state: expected one of carry, reset, got 'none'"),
        ({"device": "cuda:99"}, "(?i)gpu"),
    ],
)
def test_what_cannot_be_is_named_and_leaves_nothing_behind(
    archive: str, text: str, tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    out = tmp_path / "out" / "scores.jsonl"
    with pytest.raises(BiLmError, match=message):
        measure_perplexity(
            **{"archive": archive, "texts": [text], "per_sentence": str(out), **change}
        )
    assert not out.parent.exists()


@pytest.mark.parametrize(("state", "block_words"), [("reset", 1), ("carry", 5), ("carry", 1000)])
def test_perplexity_equals_that_of_validation(
    archive: str, text: str, state: str, block_words: int
) -> None:
    vocab = Vocabulary({"words": dict(COUNTS)})
    model = BiLmLanguageModel(vocab, random_bilm().options.to_dict())
    model.load_state_dict(torch.load(Path(archive).with_name("best.th"), weights_only=True))
    loader = BiLmStreamLoader(
        text, batch_size=2, unroll_steps=3, shuffle=False, block_words=block_words
    )
    found = measure_perplexity(archive, [text], state, block_words)
    assert evaluate(model, vocab, loader) == pytest.approx(
        {name: found[name] for name in PERPLEXITIES}
    )
