"""Measures what fine-tuning a biLM on a task's text does to its perplexity and to the task.

    python experiments/finetune.py --ner data/ner --nli data/nli \\
        --bilm runs/bilm_tiny/model.tar.gz --json docs/results/finetune.json

The distinct sentences of each task become text, without train's in dev.
`training_config/bilm_finetune.jsonnet` fine-tunes the biLM on train; dev is scored before and
after. Then `experiments/ner_elmo.jsonnet` is trained with both biLMs and several seeds. Trainings
that are finished in `--runs` are not repeated.

A biLM that is not a training archive gets a new softmax, so its perplexity before is meaningless.
"""

import argparse
import json
import shlex
import statistics
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from allennlp.common import Params
from allennlp.common.util import import_module_and_submodules

from elmo_plugin.common.files import atomic_write, write_json
from elmo_plugin.common.formats.text_files import read_lines
from elmo_plugin.language_model import measure_perplexity
from elmo_plugin.sweeps.configs import with_seed
from elmo_plugin.sweeps.scores import Metric
from elmo_plugin.sweeps.trainings import train
from elmo_plugin.tasks import PennTreebankTokenizer
from elmo_plugin.tasks.ner import Conll2003Reader

PARTS = ("train", "dev")
BILM = "model.contextual_encoder.elmo.bilm"
Sentences = Iterable[list[str]]
FIGURES = (
    "perplexity",
    "forward_perplexity",
    "backward_perplexity",
    "sentences",
    "tokens",
    "unknown_percent",
    "vocabulary_size",
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--ner", required=True, help="the folder of train.txt and dev.txt, as CoNLL-2003"
    )
    parser.add_argument(
        "--nli", required=True, help="the folder of train.jsonl and dev.jsonl, as SNLI"
    )
    parser.add_argument(
        "--bilm", required=True, help="a training archive, or the name or folder of a biLM"
    )
    parser.add_argument("--json", type=Path, required=True, help="where to write the figures")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument(
        "--runs", type=Path, default=Path("runs/finetune"), help="folder of the texts and trainings"
    )
    args = parser.parse_args()
    import_module_and_submodules("elmo_plugin.plugin")
    results: dict[str, Any] = {"command": f"python {shlex.join(sys.argv)}", "bilm": args.bilm}
    for task, sentences in (("ner", ner_sentences(args.ner)), ("nli", nli_sentences(args.nli))):
        texts = write_texts(sentences, args.runs / task)
        results[task] = {"text": fine_tune(args.bilm, texts, args.runs / task / "bilm")}
        write_json(args.json, results)
    f1 = results["ner"]["f1"] = {}
    for when, bilm in (("before", args.bilm), ("after", str(args.runs / "ner" / "bilm"))):
        scores = scores_of_seeds(args.ner, bilm, args.seeds, args.runs / "ner" / when)
        f1[when] = {"mean": round(statistics.mean(scores), 2), "scores": scores}
        write_json(args.json, results)


def scores_of_seeds(data: str, bilm: str, seeds: list[int], runs: Path) -> list[float]:
    """Returns the tagger's best dev F1 in percent with this biLM, for each seed."""
    paths = {"train_data_path": f"{data}/train.txt", "validation_data_path": f"{data}/dev.txt"}
    params = Params.from_file("experiments/ner_elmo.jsonnet", json.dumps({**paths, BILM: bilm}))
    config = params.as_dict(quiet=True)
    metric = Metric.parse(config["trainer"]["validation_metric"])
    return [
        metric.score(train(with_seed(config, seed), runs / f"ner_elmo_{seed}")) for seed in seeds
    ]


def ner_sentences(folder: str) -> dict[str, Sentences]:
    """Returns the words of train and dev."""
    reader = Conll2003Reader(token_indexers={}, tag_column=3)
    return {
        part: (
            instance["words"].metadata for instance in reader.read(data_file(folder, f"{part}.txt"))
        )
        for part in PARTS
    }


def nli_sentences(folder: str) -> dict[str, Sentences]:
    """Returns premises and hypotheses of train and dev, Penn Treebank tokens with plain quotes."""
    return {part: _sentences_of_pairs(data_file(folder, f"{part}.jsonl")) for part in PARTS}


def _sentences_of_pairs(path: str) -> Iterator[list[str]]:
    tokenizer = PennTreebankTokenizer()
    for line in read_lines(path):
        pair = json.loads(line)
        for sentence in (pair["sentence1"], pair["sentence2"]):
            yield [token.text for token in tokenizer.tokenize(sentence)]


def data_file(folder: str, name: str) -> str:
    """Finds the file, plain or compressed."""
    for path in (Path(folder, name), Path(folder, f"{name}.gz")):
        if path.is_file():
            return str(path)
    raise SystemExit(f"{name} and {name}.gz not found in {folder}")


def write_texts(sentences: dict[str, Sentences], folder: Path) -> dict[str, Path]:
    """Returns one sentence per line, each distinct one once, in the first part that has it."""
    written: set[str] = set()
    texts = {}
    for part in PARTS:
        lines = dict.fromkeys(" ".join(words) for words in sentences[part] if words)
        new = [line for line in lines if line not in written]
        written.update(new)
        texts[part] = folder / f"{part}.txt"
        with atomic_write(texts[part]) as temporary:
            temporary.write_text("".join(f"{line}\n" for line in new), encoding="utf-8")
    return texts


def fine_tune(bilm: str, texts: dict[str, Path], run: Path) -> dict[str, Any]:
    """Returns the figures of the dev text before and after the training in `run`."""
    train_text, dev_text = (str(texts[part]) for part in PARTS)
    # Without the archive's vocabulary, the softmax of after is for other words (see the
    # configuration).
    before = perplexity(bilm, dev_text) if bilm.endswith(".tar.gz") else None
    variables = {
        "BILM_INITIAL": bilm,
        "BILM_TRAIN_DATA_PATH": train_text,
        "BILM_VALIDATION_DATA_PATH": dev_text,
    }
    params = Params.from_file("training_config/bilm_finetune.jsonnet", ext_vars=variables)
    train(params.as_dict(quiet=True), run)
    return {"before": before, "after": perplexity(str(run), dev_text)}


def perplexity(bilm: str, text: str) -> dict[str, float]:
    figures = measure_perplexity(bilm, [text])
    return {name: figures[name] for name in FIGURES}


if __name__ == "__main__":
    main()
