"""The predictor: plain and pre-tokenized sentences, and what is neither."""

from pathlib import Path

import pytest
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.data.token_indexers import SingleIdTokenIndexer

from elmo_plugin.common.typography import normalize_text
from elmo_plugin.predictions.kinds import parts_to_show
from elmo_plugin.predictions.prediction import TASKS
from elmo_plugin.tasks.ner import Conll2003Reader, NerPredictor, score_tagged
from elmo_plugin.tasks.ner.metrics import NerF1
from tests.tasks.ner.test_model import SENTENCES, tagger


@pytest.fixture(scope="module")
def predictor() -> NerPredictor:
    reader = Conll2003Reader({"tokens": SingleIdTokenIndexer()})
    vocab = Vocabulary.from_instances(reader.read(SENTENCES))
    return NerPredictor(tagger(vocab, "BIOUL").eval(), reader)


def test_a_plain_sentence_is_tokenized_by_rules(predictor: NerPredictor) -> None:
    output = predictor.predict_json({"sentence": " Ada didn't  meet\nCharles (in London). "})
    assert output["words"] == [
        "Ada",
        "did",
        "n't",
        "meet",
        "Charles",
        "(",
        "in",
        "London",
        ")",
        ".",
    ]
    assert set(output) == {"words", "tags", "entities"}
    assert output == predictor.predict(" Ada didn't  meet\nCharles (in London). ")


def test_tokenized_input_is_not_split_again(predictor: NerPredictor) -> None:
    words = ["Ada", "didn't", "meet", "New York"]
    output = predictor.predict_json({"words": words, "sentence": "not this"})
    assert output["words"] == words and len(output["tags"]) == 4


def test_endless_text_is_refused_naming_the_option_that_allows_it(
    predictor: NerPredictor, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = {"words": ["a"] * (predictor.default_max_words + 1)}
    message = "a text of 5,001 words is longer than max_words, 5,000"
    with pytest.raises(ConfigurationError, match=message):
        predictor.predict_json(endless)
    with pytest.raises(ConfigurationError, match=message):
        predictor.predict_batch_json([{"words": ["a"]}, endless])
    monkeypatch.setattr(NerPredictor, "default_max_words", 2)
    model, reader = predictor._model, predictor._dataset_reader
    three_words = {"words": ["a", "b", "c"]}
    with pytest.raises(ConfigurationError, match="3 words is longer than max_words, 2"):
        NerPredictor(model, reader).predict_json(three_words)
    assert len(NerPredictor(model, reader, max_words=3).predict_json(three_words)["tags"]) == 3
    with pytest.raises(ConfigurationError, match="max_words: expected at least 1, got 0"):
        NerPredictor(predictor._model, predictor._dataset_reader, max_words=0)
    with pytest.raises(
        ConfigurationError, match="max_words: expected a whole number, at least 1, got '9'"
    ):
        NerPredictor(predictor._model, predictor._dataset_reader, max_words="9")  # type: ignore[arg-type]


def entity_predictor(path: Path, encoding: str = "BIO") -> NerPredictor:
    """Returns a tagger, trained on nothing, that reads the encoding of a file."""
    reader = Conll2003Reader({"tokens": SingleIdTokenIndexer()}, source_encoding=encoding)
    return NerPredictor(
        tagger(Vocabulary.from_instances(reader.read(path)), "BIOUL").eval(), reader
    )


@pytest.mark.parametrize(
    "text",
    [
        "“Ada didn\u2019t”\u200b  meet\u00a0O\u2019Neil-Smith\n(in São\u00adPaulo)…",
        "Ada meet O'N-S",
    ],
)
def test_character_offsets_of_entities_cover_the_typed_text(
    predictor: NerPredictor, text: str
) -> None:
    torch.manual_seed(1)
    torch.nn.init.normal_(predictor._model.tag_projection.weight, std=20)
    typed, joined = predictor.predict(text), {"words": text.split()}
    entities = typed["entities"]
    assert entities and all(text[e["start_char"] : e["end_char"]] == e["text"] for e in entities)
    for entity in entities:
        words = [
            normalize_text(word)
            for word in typed["words"][entity["start_word"] : entity["end_word"]]
        ]
        assert normalize_text(entity["text"]).replace(" ", "").replace("\n", "") == "".join(words)
    text = " ".join(joined["words"])
    entities = predictor.predict_batch_json([joined])[0]["entities"]
    assert entities and all(text[e["start_char"] : e["end_char"]] == e["text"] for e in entities)


@pytest.mark.parametrize(
    ("encoding", "tags"),
    [
        ("BIO", "B-X I-X B-X O B-Y"),
        ("IOB1", "I-X I-X B-X O I-Y"),
        ("BIOUL", "B-X L-X U-X O U-Y"),
        ("BIOES", "B-X E-X S-X O S-Y"),
        ("BMES", "B-X M-X E-X O S-Y"),
    ],
)
def test_tags_are_in_the_encoding_of_the_training_data(
    encoding: str, tags: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = (f"{word} {tag}\n" for word, tag in zip("abcde", tags.split(), strict=True))
    (tmp_path / "train.txt").write_text("".join(lines))
    predictor = entity_predictor(tmp_path / "train.txt", encoding)
    instance = next(iter(predictor._dataset_reader.read(tmp_path / "train.txt")))
    monkeypatch.setattr(
        "elmo_plugin.tasks.ner.model.viterbi", lambda *_: [instance["tags"]._indexed_labels]
    )
    instance.index_fields(predictor._model.vocab)
    output = predictor.predict_instance(instance)
    assert output["tags"] == output["gold_tags"] == tags.split()


@pytest.mark.parametrize("batched", [False, True])
def test_columns_contain_gold_and_predicted_bio_tags_that_the_scorer_reads(
    predictor: NerPredictor, tmp_path: Path, batched: bool
) -> None:
    columns = NerPredictor(predictor._model, predictor._dataset_reader, output_format="columns")
    instances = list(columns._dataset_reader.read(SENTENCES))
    outputs = (
        columns.predict_batch_instance(instances)
        if batched
        else map(columns.predict_instance, instances)
    )
    (tmp_path / "tagged.txt").write_text("".join(map(columns.dump_line, outputs)))
    expected = NerF1()
    expected(
        [each["tags"] for each in predictor.predict_batch_instance(instances)],
        [each["gold_tags"].metadata for each in instances],
    )
    first = (tmp_path / "tagged.txt").read_text().split("\n")[0].split(" ")
    assert first[:2] == ["Ada", "B-PER"] and first[2][:2] in ("O", "B-")
    figures = score_tagged(str(tmp_path / "tagged.txt"))
    assert figures["overall"]["f1"] == round(100 * expected.get_metric()["f1-measure-overall"], 2)


def test_columns_without_gold_tags_contain_predicted_tags_and_no_spaces(
    predictor: NerPredictor,
) -> None:
    columns = NerPredictor(predictor._model, predictor._dataset_reader, output_format="columns")
    lines = columns.dump_line(columns.predict_json({"words": ["New\tYork", "a\u00a0b"]})).split(
        "\n"
    )
    assert [line.split(" ")[0] for line in lines] == ["New_York", "a\u00a0b", "", ""]
    assert all(len(line.split(" ")) == 2 for line in lines[:2])


def test_plain_tags_are_predicted_shown_and_scored_without_entities(tmp_path: Path) -> None:
    (tmp_path / "pos.txt").write_text("the DT\ndog NN\nran VBD\n\nit PRP\nran VBD\n")
    reader = Conll2003Reader({"tokens": SingleIdTokenIndexer()}, source_encoding="plain")
    instances = list(reader.read(tmp_path / "pos.txt"))
    vocab = Vocabulary.from_instances(instances)
    with pytest.raises(
        ConfigurationError, match=r"expected tags of entities, got .*; metric='\+accuracy'"
    ):
        tagger(vocab, "BIOUL")
    model = tagger(vocab, "plain").eval()
    plain = NerPredictor(model, reader, output_format="columns")
    output = plain.predict_batch_instance(instances)[0]
    assert set(output) == {"words", "tags", "gold_tags"}
    assert set(model.get_metrics()) == {"accuracy"}
    (part,) = parts_to_show(TASKS["ner"], output, {})
    assert [span.label for span in part.spans] == output["tags"]
    assert [line.split(" ")[:2] for line in plain.dump_line(output).split("\n")[:2]] == [
        ["the", "DT"],
        ["dog", "NN"],
    ]
