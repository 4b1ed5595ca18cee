"""Documents per second of coreference, here and in allennlp-models: equal sizes, the same documents.

    pip install allennlp-models==2.10.1
    python benchmarks/coref.py --threads 2 --json coref.json

Our `coref_span_ranking` and `coref` of allennlp-models take turns: steps of training on the first sentences
of each document, then prediction of whole documents. The median round counts. How each figure is measured is
told in benchmarks/README.md.
"""

import argparse
import json
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from allennlp.common import Params
from allennlp.data import Batch, Instance, Vocabulary
from allennlp.data.token_indexers import SingleIdTokenIndexer
from allennlp.models import Model
from figures import report, take_turns
from machine import MEGABYTE, in_fresh_process, peak_memory

import elmo_plugin.plugin  # noqa: F401  (registers what the configurations name)
from elmo_plugin.tasks.coref import CorefDocument, CorefReader, read_documents

REPOSITORY = Path(__file__).resolve().parents[1]
ONTOGUM = REPOSITORY.parent / "shared" / "data" / "coref" / "dev.gold_conll"
EXAMPLE = REPOSITORY / "experiments" / "data" / "coref" / "dev.gold_conll"
NAMES = {"peer": "peer_", "ours": ""}
REPORTED = (
    *("documents", "words", "training_sentences", "embedding_dim", "hidden_size", "feedforward"),
    *("max_span_width", "spans_per_word", "max_antecedents", "rounds", "threads"),
)


class Subject(NamedTuple):
    """
    model: with its optimizer
    training, whole: the tensors of the windows that it trains on, and of the documents that it predicts
    """

    model: Model
    optimizer: torch.optim.Optimizer
    training: list[dict[str, Any]]
    whole: list[dict[str, Any]]


def main() -> None:
    args = read_arguments()
    torch.set_num_threads(args.threads)
    documents = list(read_documents(args.data))[: args.documents]
    args.documents, args.words = len(documents), sum(each.length for each in documents)
    if args.alone:
        subject = load(args.alone, args, documents)
        (train if args.work == "training" else predict)(subject)
        print(json.dumps(peak_memory()))
        return
    figures = {
        **{name: getattr(args, name) for name in REPORTED},
        "device": "cpu",
        "torch": torch.__version__,
    }
    if args.memory:
        figures |= memory(args)
    subjects = {prefix: load(name, args, documents) for name, prefix in NAMES.items()}
    turns = partial(take_turns, subjects, rounds=args.rounds, amount=args.documents, unit="documents")
    figures |= turns(train, name="training_") | turns(predict)
    report(figures, args.json)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add = parser.add_argument
    add("--data", type=Path, default=ONTOGUM if ONTOGUM.exists() else EXAMPLE, help="a CoNLL-2012 file")
    add("--documents", type=int, default=10, help="the first ones of the file")
    add("--training-sentences", type=int, default=50, help="the first ones of each document")
    add("--embedding-dim", type=int, default=500, help="of words; default: 350 and 150 of characters")
    add("--hidden-size", type=int, default=200, help="cells of the LSTM in each direction")
    add("--feedforward", type=int, default=150, help="of both layers")
    add("--max-span-width", type=int, default=10)
    add("--spans-per-word", type=float, default=0.4)
    add("--max-antecedents", type=int, default=250)
    add("--rounds", type=int, default=3)
    add("--threads", type=int, default=torch.get_num_threads())
    add("--no-memory", dest="memory", action="store_false", help="leave out the runs for peak memory")
    add("--json", type=Path, help="where to write the figures")
    add("--alone", choices=NAMES, help=argparse.SUPPRESS)
    add("--work", choices=["training", "prediction"], help=argparse.SUPPRESS)
    return parser.parse_args()


def load(name: str, args: argparse.Namespace, documents: list[CorefDocument]) -> Subject:
    """A model of random weights, and the tensors of the documents, as the reader of each makes them."""
    torch.manual_seed(0)
    make_instance = our_instance if name == "ours" else partial(their_instance, args)
    windows = [first_sentences(document, args.training_sentences) for document in documents]
    training, whole = (
        [make_instance(each, has_answers) for each in some]
        for some, has_answers in ((windows, True), (documents, False))
    )
    vocab = Vocabulary.from_instances([*training, *whole])
    model = Model.from_params(Params((our_config if name == "ours" else their_config)(args)), vocab=vocab)
    return Subject(
        model,
        torch.optim.Adam(model.parameters()),
        *([tensors(instance, vocab) for instance in some] for some in (training, whole)),
    )


def first_sentences(document: CorefDocument, count: int) -> CorefDocument:
    words = sum(map(len, document.sentences[:count]))
    clusters = [[mention for mention in cluster if mention.end <= words] for cluster in document.clusters]
    return document._replace(
        sentences=document.sentences[:count],
        speakers=document.speakers[:count],
        clusters=[cluster for cluster in clusters if len(cluster) > 1],
    )


def our_instance(document: CorefDocument, has_answers: bool) -> Instance:
    reader = CorefReader({"tokens": SingleIdTokenIndexer()})
    instance = reader.text_to_instance(document, has_answers)
    reader.apply_token_indexers(instance)
    return instance


def their_instance(args: argparse.Namespace, document: CorefDocument, has_answers: bool) -> Instance:
    from allennlp_models.coref.util import make_coref_instance  # here: our memory is measured without it

    clusters = [[(start, end - 1) for start, end in cluster] for cluster in document.clusters]
    return make_coref_instance(
        document.sentences,
        {"tokens": SingleIdTokenIndexer()},
        args.max_span_width,
        clusters if has_answers else None,
    )


def tensors(instance: Instance, vocab: Vocabulary) -> dict[str, Any]:
    batch = Batch([instance])
    batch.index_instances(vocab)
    return batch.as_tensor_dict()


def our_config(args: argparse.Namespace) -> dict[str, Any]:
    return {
        "type": "coref_span_ranking",
        "contextual_encoder": {
            "text_field_embedder": embedder(args),
            "encoder": {"type": "variational_bilstm", "hidden_sizes": [args.hidden_size]},
            "dropout": 0.5,
        },
        "max_span_width": args.max_span_width,
        "spans_per_word": args.spans_per_word,
        "max_antecedents": args.max_antecedents,
        "hidden_dim": args.feedforward,
        "feature_dim": 20,
        "dropout": 0.2,
        "max_training_sentences": args.training_sentences,
    }


def their_config(args: argparse.Namespace) -> dict[str, Any]:
    span_dim = 4 * args.hidden_size + args.embedding_dim + 20

    def feedforward(input_dim: int) -> dict[str, Any]:
        sizes = {"input_dim": input_dim, "num_layers": 2, "hidden_dims": args.feedforward}
        return sizes | {"activations": "relu", "dropout": 0.2}

    return {
        "type": "coref",
        "text_field_embedder": embedder(args),
        "context_layer": {
            "type": "lstm",
            "bidirectional": True,
            "input_size": args.embedding_dim,
            "hidden_size": args.hidden_size,
        },
        "mention_feedforward": feedforward(span_dim),
        "antecedent_feedforward": feedforward(3 * span_dim + 20),
        "feature_size": 20,
        "max_span_width": args.max_span_width,
        "spans_per_word": args.spans_per_word,
        "max_antecedents": args.max_antecedents,
        "lexical_dropout": 0.5,
    }


def embedder(args: argparse.Namespace) -> dict[str, Any]:
    return {"token_embedders": {"tokens": {"type": "embedding", "embedding_dim": args.embedding_dim}}}


def train(subject: Subject) -> None:
    """A step for each document, as the trainer takes it."""
    subject.model.train()
    for batch in subject.training:
        subject.optimizer.zero_grad()
        subject.model(**batch)["loss"].backward()
        subject.optimizer.step()


@torch.no_grad()
def predict(subject: Subject) -> None:
    """The clusters of each document."""
    subject.model.eval()
    for batch in subject.whole:
        subject.model.make_output_human_readable(subject.model(**batch))


def memory(args: argparse.Namespace) -> dict[str, float]:
    """The peak of a process that trains, or predicts, each document once."""
    options = [
        f"--{name.replace('_', '-')}={getattr(args, name)}"
        for name in REPORTED
        if name not in ("words", "rounds")
    ]
    return {
        f"{prefix}{work}_peak_memory_mb": in_fresh_process(
            __file__, *options, "--data", args.data, "--alone", name, "--work", work
        )
        / MEGABYTE
        for work in ("training", "prediction")
        for name, prefix in NAMES.items()
    }


if __name__ == "__main__":
    main()
