"""Tokens per second of encoders, here and in AllenNLP: the same weights, one batch, one process.

    python benchmarks/encoders.py highway_lstm --threads 2 --json highway_lstm.json
    python benchmarks/encoders.py bidirectional_gru --threads 2 --json bidirectional_gru.json

Our `highway_lstm` and AllenNLP's `alternating_lstm`, our `bidirectional_gru` and AllenNLP's `gru`, or our
`variational_bilstm` and AllenNLP's `lstm`, take turns: forward and backward in training, then forward alone
in evaluation. The median round counts. How each figure is measured is described in benchmarks/README.md.
"""

import argparse
from functools import partial
from pathlib import Path

import torch
from allennlp.modules import Seq2SeqEncoder
from allennlp.modules.seq2seq_encoders import (
    GruSeq2SeqEncoder,
    LstmSeq2SeqEncoder,
    StackedAlternatingLstmSeq2SeqEncoder,
)
from figures import report, take_turns
from material import read_sentences
from torch import Tensor

from elmo_plugin.encoders import BidirectionalGru, HighwayLstm, VariationalBiLstm

REPORTED = (
    *("encoder", "input_size", "hidden_size"),
    *("sentences", "join", "words", "longest", "rounds", "threads"),
)


def main() -> None:
    args = read_arguments()
    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    words = [len(sentence) for sentence in read_sentences(args.text)[: args.sentences]]
    lengths = torch.tensor(
        [sum(words[start : start + args.join]) for start in range(0, len(words), args.join)]
    )
    args.sentences, args.words, args.longest = len(words), sum(words), int(lengths.max())
    mask = torch.arange(args.longest) < lengths[:, None]
    inputs = torch.randn(*mask.shape, args.input_size, requires_grad=True)
    encoders = ENCODERS[args.encoder](args)
    d_outputs = torch.randn(*mask.shape, encoders[""].get_output_dim())
    turns = partial(take_turns, encoders, rounds=args.rounds, amount=args.words, unit="tokens")
    figures = {
        **{name: getattr(args, name) for name in REPORTED},
        "device": "cpu",
        "torch": torch.__version__,
        "max_difference": largest_difference(encoders, inputs, mask),
        **turns(partial(train, inputs=inputs, mask=mask, d_outputs=d_outputs)),
        **turns(partial(evaluate, inputs=inputs, mask=mask), name="forward_"),
    }
    report(figures, args.json)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("encoder", choices=ENCODERS)
    parser.add_argument("--layers", type=int, default=8, help="of highway_lstm (default: 8)")
    parser.add_argument("--input-size", type=int, default=612, help="default: 612, ELMo's 512 and 100 more")
    parser.add_argument("--hidden-size", type=int, default=300, help="cells of a layer")
    parser.add_argument(
        "--dropout", type=float, default=0.1, help="of highway_lstm's hidden states, in training"
    )
    parser.add_argument("--sentences", type=int, default=80, help="in the batch: the first ones of the text")
    parser.add_argument("--join", type=int, default=1, metavar="N", help="make one text of N sentences")
    parser.add_argument(
        "--text",
        type=Path,
        help="one tokenized sentence per line; by default held-out prose or the NER example",
    )
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--json", type=Path, help="where to write the figures")
    return parser.parse_args()


def load_highway_lstms(args: argparse.Namespace) -> dict[str, Seq2SeqEncoder]:
    """The two with the same random weights, by the prefix of their figures."""
    sizes = args.input_size, args.hidden_size, args.layers
    ours = HighwayLstm(*sizes, recurrent_dropout=args.dropout)
    peer = StackedAlternatingLstmSeq2SeqEncoder(
        *sizes, recurrent_dropout_probability=args.dropout, use_input_projection_bias=False
    )
    ours.load_state_dict(peer.state_dict())
    return {"peer_": peer, "": ours}


def load_grus(args: argparse.Namespace) -> dict[str, Seq2SeqEncoder]:
    """The same of bidirectional GRUs of one layer."""
    ours = BidirectionalGru(args.input_size, args.hidden_size)
    peer = GruSeq2SeqEncoder(args.input_size, args.hidden_size, bidirectional=True)
    ours.load_state_dict(peer.state_dict())
    return {"peer_": peer, "": ours}


def load_bilstms(args: argparse.Namespace) -> dict[str, Seq2SeqEncoder]:
    """The same of bidirectional LSTMs of one layer."""
    ours = VariationalBiLstm(args.input_size, [args.hidden_size])
    peer = LstmSeq2SeqEncoder(args.input_size, args.hidden_size, bidirectional=True)
    weights = peer.state_dict()
    ours.load_state_dict({name.replace("_module", "layers.0"): weights[name] for name in weights})
    return {"peer_": peer, "": ours}


ENCODERS = {
    "highway_lstm": load_highway_lstms,
    "bidirectional_gru": load_grus,
    "variational_bilstm": load_bilstms,
}


def train(encoder: Seq2SeqEncoder, inputs: Tensor, mask: Tensor, d_outputs: Tensor) -> None:
    """Forward and backward, to the gradients of the inputs and of all parameters."""
    encoder.train()(inputs, mask).backward(d_outputs)
    encoder.zero_grad()
    inputs.grad = None


@torch.no_grad()
def evaluate(encoder: Seq2SeqEncoder, inputs: Tensor, mask: Tensor) -> Tensor:
    return encoder.eval()(inputs, mask)


def largest_difference(encoders: dict[str, Seq2SeqEncoder], inputs: Tensor, mask: Tensor) -> float:
    ours, peer = (evaluate(encoder, inputs, mask) for encoder in encoders.values())
    return (ours - peer).abs().max().item()


if __name__ == "__main__":
    main()
