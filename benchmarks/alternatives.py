"""Words per second of biLMs next to encoders that one would take today, in one process.

    python benchmarks/alternatives.py --json alternatives.json

`tiny`, `small` and `original` and encoders of the sizes of BERT-base, DistilBERT and a MiniLM of six layers
take turns. Speed does not depend on the weights, so all but `tiny`'s are random. How each figure
is measured is described in benchmarks/README.md.
"""

import argparse
import statistics
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from figures import report
from machine import seconds
from material import SIZES, Sentences, options_of, read_sentences
from transformers import BertConfig, BertModel, DistilBertConfig, DistilBertModel, PreTrainedModel

from elmo_plugin.bilm import BiLm
from elmo_plugin.common.provenance import processor

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}
PIECES_PER_WORD = 1.25
BOUNDARIES = 2  # pieces before and after each text
Embed = Callable[[Sentences], object]
ENCODERS: dict[str, Callable[[], PreTrainedModel]] = {
    "bert_base": lambda: BertModel(BertConfig(), add_pooling_layer=False),
    "distilbert": lambda: DistilBertModel(DistilBertConfig()),
    "minilm_6": lambda: BertModel(
        BertConfig(hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536),
        add_pooling_layer=False,
    ),
}


def main() -> None:
    args = read_arguments()
    torch.set_num_threads(args.threads)
    sentences = read_sentences(args.text)[: args.sentences]
    words = sum(map(len, sentences))
    figures: dict[str, Any] = {
        "processor": processor(),
        "torch": torch.__version__,
        "threads": args.threads,
        "sentences": len(sentences),
        "words": words,
        "batch_size": args.batch_size,
        "pieces_per_word": PIECES_PER_WORD,
        "rounds": args.rounds,
    }
    for precision in args.precisions:
        models = {name: load(name, precision, args.batch_size) for name in args.models}
        times: dict[str, list[float]] = {name: [] for name in models}
        for _ in range(args.rounds + 1):  # the first is not counted
            for name, embed in models.items():
                times[name].append(seconds(partial(embed, sentences)))
        figures |= {
            f"{name}_{precision}_words_per_second": words / statistics.median(rounds[1:])
            for name, rounds in times.items()
        }
    report(figures, args.json)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add = parser.add_argument
    names = [*SIZES, *ENCODERS]
    add("--models", nargs="+", choices=names, default=names)
    add("--precisions", nargs="+", choices=PRECISIONS, default=list(PRECISIONS))
    add("--batch-size", type=int, default=32, help="sentences")
    add("--sentences", type=int, default=256, help="of a round")
    add("--rounds", type=int, default=3)
    add("--threads", type=int, default=torch.get_num_threads())
    add("--text", type=Path, help="one tokenized sentence per line; default: as for embed.py")
    add("--json", type=Path, help="where to write the figures")
    return parser.parse_args()


def load(name: str, precision: str, batch_size: int) -> Embed:
    """Returns a function that embeds all sentences, the shortest first, in batches."""
    torch.manual_seed(0)
    if name in ENCODERS:
        model = ENCODERS[name]().eval().to(PRECISIONS[precision])
        return partial(in_batches, partial(encode, model), batch_size)
    bilm = BiLm.from_pretrained("tiny") if name == "tiny" else BiLm(options_of(name))
    bilm = bilm.requires_grad_(False)
    bilm.precision = precision

    def embed(sentences: Sentences) -> None:
        bilm.clear_word_cache()  # no word is known from the round before
        in_batches(bilm.embed, batch_size, sentences)

    return embed


def in_batches(embed: Embed, batch_size: int, sentences: Sentences) -> None:
    in_order = sorted(sentences, key=len)
    for start in range(0, len(in_order), batch_size):
        embed(in_order[start : start + batch_size])


@torch.inference_mode()
def encode(model: PreTrainedModel, sentences: Sentences) -> None:
    """As many word pieces as such an encoder's tokenizer would make of the words, of random numbers."""
    most = model.config.max_position_embeddings
    lengths = [min(round(PIECES_PER_WORD * len(words)) + BOUNDARIES, most) for words in sentences]
    mask = (torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]).long()
    model(input_ids=torch.randint(1, model.config.vocab_size, mask.shape) * mask, attention_mask=mask)


if __name__ == "__main__":
    main()
