"""Questions per second, here and in allennlp-models: the same ELMo, the same questions, one process.

    pip install allennlp-models==2.10.1
    python benchmarks/squad.py --threads 2 --json squad.json

Our `squad_bidaf_self_attention` and `bidaf` of allennlp-models, both with ELMo at the input, take turns:
steps of training, then prediction, on the same batches. The median round counts. How each figure is measured
is told in benchmarks/README.md.
"""

import argparse
import tempfile
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from allennlp.common import Params
from allennlp.data import Batch, Instance, Vocabulary
from allennlp.data.token_indexers import ELMoTokenCharactersIndexer, TokenIndexer
from allennlp.models import Model
from figures import report, take_turns
from material import SIZES, model_files, options_of, write_model

import elmo_plugin.plugin  # noqa: F401  (registers what the configurations name)
from elmo_plugin.embedding.indexer import ElmoTokenIndexer
from elmo_plugin.tasks.squad import Question, SquadReader, TokenizedParagraph
from elmo_plugin.tasks.squad.dataset_reader import words_of

REPOSITORY = Path(__file__).resolve().parents[1]
REAL = REPOSITORY.parent / "shared" / "data" / "qa" / "dev.json"
EXAMPLE = REPOSITORY / "experiments" / "data" / "squad" / "dev.json"
REPORTED = ("size", "questions", "batch_size", "hidden_size", "rounds", "threads")


class Subject(NamedTuple):
    """
    model: with its optimizer
    batches: the tensors that it trains on and predicts
    """

    model: Model
    optimizer: torch.optim.Optimizer
    batches: list[dict[str, Any]]


def main() -> None:
    args = read_arguments()
    torch.set_num_threads(args.threads)
    questions = read_questions(args)
    args.questions = len(questions)
    with tempfile.TemporaryDirectory() as folder:
        write_model(args.size, Path(folder))
        bilm = dict(zip(("options", "weights"), map(str, model_files(Path(folder))), strict=True))
        subjects = {
            "peer_": load(their_config(args, bilm), their_instance, questions, args),
            "": load(our_config(args, bilm), our_instance, questions, args),
        }
    figures = {
        **{name: getattr(args, name) for name in REPORTED},
        "paragraphs": len({paragraph.text for paragraph, _ in questions}),
        "device": "cpu",
        "torch": torch.__version__,
    }
    turns = partial(take_turns, subjects, rounds=args.rounds, amount=args.questions, unit="questions")
    report(figures | turns(train, name="training_") | turns(predict), args.json)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add = parser.add_argument
    add("--size", choices=SIZES, default="small", help="of the biLM; all but tiny: random weights")
    add("--data", type=Path, default=REAL if REAL.exists() else EXAMPLE, help="a file of SQuAD 1.1")
    add("--questions", type=int, default=90, help="the first ones of the file")
    add("--batch-size", type=int, default=45)
    add("--hidden-size", type=int, default=90, help="cells of each recurrent layer in each direction")
    add("--rounds", type=int, default=3)
    add("--threads", type=int, default=torch.get_num_threads())
    add("--json", type=Path, help="where to write the figures")
    return parser.parse_args()


def read_questions(args: argparse.Namespace) -> list[tuple[TokenizedParagraph, Question]]:
    """The first questions, those with paragraphs of similar length together, as in training."""
    instances = list(SquadReader({}, max_instances=args.questions).read(args.data))
    found = [instance["metadata"].metadata for instance in instances]  # type: ignore[attr-defined]
    pairs = [(each["paragraph"], each["question"]) for each in found]
    return sorted(pairs, key=lambda pair: (len(pair[0].tokens), pair[0].text))


def load(
    config: dict[str, Any],
    make_instance: Any,
    questions: list[tuple[TokenizedParagraph, Question]],
    args: argparse.Namespace,
) -> Subject:
    """A model of random weights but those of ELMo, and the tensors of the questions."""
    torch.manual_seed(0)
    instances = [make_instance(*each) for each in questions]
    vocab = Vocabulary.from_instances(instances)
    model = Model.from_params(Params(config), vocab=vocab)
    batches = []
    for start in range(0, len(instances), args.batch_size):
        batch = Batch(instances[start : start + args.batch_size])
        batch.index_instances(vocab)
        batches.append(batch.as_tensor_dict())
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    return Subject(model, torch.optim.Adadelta(trained), batches)


def our_instance(paragraph: TokenizedParagraph, question: Question) -> Instance:
    indexers: dict[str, TokenIndexer] = {"elmo": ElmoTokenIndexer()}
    reader = SquadReader(indexers)
    instance = reader.text_to_instance(paragraph, question)
    reader.apply_token_indexers(instance)
    return instance


def their_instance(paragraph: TokenizedParagraph, question: Question) -> Instance:
    from allennlp_models.rc.dataset_readers.utils import make_reading_comprehension_instance
    from allennlp_models.rc.models import bidaf  # noqa: F401  (registers it)

    spans = [words_of(paragraph, answer) for answer in question.answers]
    return make_reading_comprehension_instance(
        SquadReader({}).tokenize(question.text).tokens,
        paragraph.tokens,
        {"elmo": ELMoTokenCharactersIndexer()},
        paragraph.text,
        spans,
        [answer.text for answer in question.answers],
    )


def our_config(args: argparse.Namespace, bilm: dict[str, str]) -> dict[str, Any]:
    gru = {"type": "bidirectional_gru", "hidden_size": args.hidden_size}
    layer = {"num_layers": 1, "hidden_dims": 2 * args.hidden_size, "activations": "relu"}
    elmo = {"type": "elmo", "bilm": bilm, "dropout": 0.5}
    return {
        "type": "squad_bidaf_self_attention",
        "contextual_encoder": {
            "text_field_embedder": {"token_embedders": {"elmo": elmo}},
            "encoder": gru,
            "dropout": 0.2,
        },
        "attention_projection": layer,
        "self_attention_encoder": gru,
        "self_attention_projection": layer,
        "start_encoder": gru,
        "end_encoder": gru,
    }


def their_config(args: argparse.Namespace, bilm: dict[str, str]) -> dict[str, Any]:
    def gru(input_size: int, num_layers: int = 1) -> dict[str, Any]:
        sizes = {"input_size": input_size, "hidden_size": args.hidden_size, "num_layers": num_layers}
        return {"type": "gru", "bidirectional": True, **sizes}

    dim = 2 * args.hidden_size
    elmo = {
        "type": "elmo_token_embedder",
        "options_file": bilm["options"],
        "weight_file": bilm["weights"],
        "dropout": 0.5,
    }
    elmo_dim = 2 * options_of(args.size).lstm.projection_dim
    return {
        "type": "bidaf",
        "text_field_embedder": {"token_embedders": {"elmo": elmo}},
        "num_highway_layers": 2,
        "phrase_layer": gru(elmo_dim),
        "matrix_attention": {
            "type": "linear",
            "combination": "x,y,x*y",
            "tensor_1_dim": dim,
            "tensor_2_dim": dim,
        },
        "modeling_layer": gru(4 * dim, num_layers=2),
        "span_end_encoder": gru(7 * dim),
        "dropout": 0.2,
    }


def train(subject: Subject) -> None:
    """A step for each batch, as the trainer takes it."""
    subject.model.train()
    for batch in subject.batches:
        subject.optimizer.zero_grad()
        subject.model(**batch)["loss"].backward()
        subject.optimizer.step()


@torch.no_grad()
def predict(subject: Subject) -> None:
    """The answers to all questions."""
    subject.model.eval()
    for batch in subject.batches:
        subject.model.make_output_human_readable(subject.model(**batch))


if __name__ == "__main__":
    main()
