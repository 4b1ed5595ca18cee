"""Tokens per second of a biLM, here and in AllenNLP: the same weights, the same sentences, one process.

    python benchmarks/embed.py --size tiny --batch-size 32 --json embed.json

Both start from words and end with the vectors of all words; they take turns, and the median round counts.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
from allennlp.modules.elmo import Elmo, batch_to_ids

from elmo_plugin.bilm import BiLm, BiLmOptions
from elmo_plugin.bilm.files import replace_when_written
from elmo_plugin.bilm.weights import write_weights

REPOSITORY = Path(__file__).resolve().parents[1]
FILTERS = [[1, 32], [2, 32], [3, 64], [4, 128], [5, 256], [6, 512], [7, 1024]]
SIZES = {"small": (1024, 128, 1), "original": (4096, 512, 2)}  # cells, projection, highway layers

Sentences = list[list[str]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--size", choices=["tiny", *SIZES], default="tiny", help="all but tiny: random weights"
    )
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--sentences", type=int, default=512, help="how many are embedded in a round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument(
        "--text", type=Path, help="one tokenised sentence a line; by default the NER example's"
    )
    parser.add_argument("--json", type=Path, help="where to write the figures")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    figures = {"size": args.size, "batch_size": args.batch_size, "threads": args.threads}
    figures |= measure(args.size, read_sentences(args.text)[: args.sentences], args.batch_size, args.rounds)
    print(f"elmo_plugin  {figures['tokens_per_second']:>10,.0f} tokens/s")
    print(f"AllenNLP     {figures['peer_tokens_per_second']:>10,.0f} tokens/s")
    print(f"ratio        {figures['ratio']:>10.2f}  (round by round {figures['ratios']})")
    print(f"largest difference between the vectors of a first batch: {figures['max_difference']:.1e}")
    if args.json:
        with replace_when_written(args.json) as temporary:
            temporary.write_text(json.dumps(figures, indent=2) + "\n")


def measure(size: str, sentences: Sentences, batch_size: int, rounds: int) -> dict[str, object]:
    """The figures of the two, by the median of their rounds."""
    with tempfile.TemporaryDirectory() as folder:
        bilm, peer = load_both(size, Path(folder))

    def ours(batch: Sentences) -> torch.Tensor:
        return torch.cat([vectors.mean(dim=0) for vectors in bilm.embed(batch)])

    @torch.no_grad()
    def theirs(batch: Sentences) -> torch.Tensor:
        output = peer(batch_to_ids(batch))
        return output["elmo_representations"][0][output["mask"]]

    batches = [sentences[start : start + batch_size] for start in range(0, len(sentences), batch_size)]
    difference = (ours(batches[0]) - theirs(batches[0])).abs().max().item()
    tokens = sum(map(len, sentences))
    _warm_up, *seconds = [(run(ours, batches), run(theirs, batches)) for _ in range(rounds + 1)]
    ours_seconds, peer_seconds = (statistics.median(column) for column in zip(*seconds, strict=True))
    ratios = [their_time / our_time for our_time, their_time in seconds]
    return {
        "tokens_per_second": tokens / ours_seconds,
        "peer_tokens_per_second": tokens / peer_seconds,
        "ratio": statistics.median(ratios),
        "ratios": [round(ratio, 2) for ratio in ratios],
        "max_difference": difference,
    }


def load_both(size: str, folder: Path) -> tuple[BiLm, Elmo]:
    """Our biLM, and AllenNLP's `Elmo` with the same weights; its untrained mix is the mean of the layers."""
    torch.manual_seed(0)
    bilm = BiLm.pretrained("tiny") if size == "tiny" else BiLm(random_options(*SIZES[size])).eval()
    bilm.options.to_file(folder / "options.json")
    write_weights(folder / "weights.hdf5", bilm.state_dict(), bilm.options)
    peer = Elmo(str(folder / "options.json"), str(folder / "weights.hdf5"), 1, dropout=0.0)
    return bilm, peer.eval()


def random_options(dim: int, projection_dim: int, n_highway: int) -> BiLmOptions:
    lstm = {"dim": dim, "projection_dim": projection_dim, "n_layers": 2, "use_skip_connections": True}
    char_cnn = {"filters": FILTERS, "n_highway": n_highway, "activation": "relu", "embedding": {"dim": 16}}
    return BiLmOptions.from_dict({"lstm": {**lstm, "cell_clip": 3, "proj_clip": 3}, "char_cnn": char_cnn})


def run(embed: Callable[[Sentences], torch.Tensor], batches: list[Sentences]) -> float:
    """Seconds for all batches."""
    start = time.perf_counter()
    for batch in batches:
        embed(batch)
    return time.perf_counter() - start


def read_sentences(path: Path | None) -> Sentences:
    """The words of each line of `path`, or those of the example data for NER."""
    if path is not None:
        return [line.split() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    columns = (REPOSITORY / "experiments" / "data" / "ner" / "train.txt").read_text(encoding="utf-8")
    blocks = [block.splitlines() for block in columns.split("\n\n") if block.strip()]
    sentences = [[line.split()[0] for line in block] for block in blocks]
    return [sentence for sentence in sentences if sentence != ["-DOCSTART-"]]


if __name__ == "__main__":
    main()
