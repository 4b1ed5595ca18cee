"""Random models in the layout of ELMoForManyLangs, and what they compute, written from its
description.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from allennlp.modules.elmo_lstm import ElmoLstm
from torch import Tensor

MARKS = ["<oov>", "<pad>", "<bos>", "<eos>"]
CHARACTERS = [
    *MARKS,
    "<bow>",
    "<eow>",
    *"abdeginorstw.",
    "é",
    "\u3000",
    *"кот",
    *"言語",
    *"سلام",
    "🙂",
]
WORDS = [*MARKS, "the", "dog", "gardens", "кот", "言語", "<bow>", "a" * 8, "\u3000"]
SENTENCES = [
    ["the", "dog", "eats", "gardens", "."],
    ["кот", "言語", "言", "سلام", "🙂", "🙂🙂é"],
    ["the"],
    ["unknown", "Ж", "a\u3000b", "\u3000", "", "<bos>"],
    ["a" * 8, "a" * 9, "gardenstone" * 3, "言語" * 20, "🙂" * 30, "é" * 7 + "🙂" * 3],
]


def network(
    token_embedder: dict[str, Any] | None = None, encoder: dict[str, Any] | None = None
) -> dict[str, Any]:
    """A network's configuration with small sizes, and the given changes."""
    return {
        "encoder": {
            "name": "elmo",
            "projection_dim": 6,
            "cell_clip": 0.7,
            "proj_clip": 0.5,
            "dim": 7,
            "n_layers": 2,
            **(encoder or {}),
        },
        "token_embedder": {
            "name": "cnn",
            "activation": "relu",
            "filters": [[1, 3], [2, 4], [4, 5]],
            "n_highway": 2,
            "word_dim": 4,
            "char_dim": 3,
            "max_characters_per_token": 10,
            **(token_embedder or {}),
        },
        "classifier": {"name": "sampled_softmax", "n_samples": 8192},
        "dropout": 0.1,
    }


ONLY_WORDS = network({"char_dim": 0})
ONLY_CHARACTERS = network({"word_dim": 0})


def token_embedder_state(sizes: dict[str, Any], projection_dim: int) -> dict[str, Tensor]:
    state, features = {}, 0
    if sizes["word_dim"]:
        state["word_emb_layer.embedding.weight"] = torch.randn(len(WORDS), sizes["word_dim"])
        features += sizes["word_dim"]
    if sizes["char_dim"]:
        state["char_emb_layer.embedding.weight"] = torch.randn(len(CHARACTERS), sizes["char_dim"])
        for i, (width, number) in enumerate(sizes["filters"]):
            state[f"convolutions.{i}.weight"] = torch.randn(number, sizes["char_dim"], width)
            state[f"convolutions.{i}.bias"] = torch.randn(number)
        dim = sum(number for _, number in sizes["filters"])
        for k in range(sizes["n_highway"]):
            state[f"highways._layers.{k}.weight"] = torch.randn(2 * dim, dim) / 2
            state[f"highways._layers.{k}.bias"] = torch.randn(2 * dim)
        features += dim
    state["projection.weight"] = torch.randn(projection_dim, features) / 2
    state["projection.bias"] = torch.randn(projection_dim)
    return state


def encoder_state(sizes: dict[str, Any]) -> dict[str, Tensor]:
    state = {}
    for direction in ("forward", "backward"):
        for number in range(sizes["n_layers"]):
            layer = f"{direction}_layer_{number}"
            square = (4 * sizes["dim"], sizes["projection_dim"])
            state[f"{layer}.input_linearity.weight"] = torch.randn(square) / 2
            state[f"{layer}.state_linearity.weight"] = torch.randn(square) / 2
            state[f"{layer}.state_linearity.bias"] = torch.randn(square[0])
            state[f"{layer}.state_projection.weight"] = (
                torch.randn(sizes["projection_dim"], sizes["dim"]) / 2
            )
    return state


def write_lexicon(path: Path, tokens: Sequence[str]) -> None:
    lines = (f"{token}\t{number}\n" for number, token in enumerate(tokens))
    path.write_text("".join(lines), encoding="utf-8")


def write_model(
    folder: Path,
    config: dict[str, Any] | None = None,
    config_path: str = "/users/somebody/configs/net.json",
    legacy_pickle: bool = False,
) -> Path:
    """Writes a model with random weights, the same for the same sizes. Gives its folder."""
    torch.manual_seed(11)
    config = config or network()
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(
        json.dumps({"seed": 1, "config_path": config_path, "lr": 0.001})
    )
    (folder / config_path.rpartition("/")[2]).write_text(json.dumps(config))
    embedder, encoder = config["token_embedder"], config["encoder"]
    if embedder["char_dim"]:
        write_lexicon(folder / "char.dic", CHARACTERS)
    if embedder["word_dim"]:
        write_lexicon(folder / "word.dic", WORDS)
    states = {
        "token_embedder.pkl": token_embedder_state(embedder, encoder["projection_dim"]),
        "encoder.pkl": encoder_state(encoder),
    }
    for name, state in states.items():
        torch.save(state, folder / name, _use_new_zipfile_serialization=not legacy_pickle)
    return folder


class Recomputation:
    """
    A model by its formulas, in float64, one word and one window after the other, and AllenNLP's
    LSTM.
    """

    def __init__(self, folder: Path) -> None:
        config_path = json.loads((folder / "config.json").read_text())["config_path"]
        config = json.loads((folder / config_path.rpartition("/")[2]).read_text())
        self.sizes, self.lstm = config["token_embedder"], config["encoder"]
        self.embedder, self.encoder = (
            {
                name: tensor.double()
                for name, tensor in torch.load(folder / file, weights_only=True).items()
            }
            for file in ("token_embedder.pkl", "encoder.pkl")
        )

    def layers(self, words: Sequence[str]) -> Tensor:
        """Shape (layers, words, 2 * projection_dim)."""
        limit = self.sizes["max_characters_per_token"] - 2
        tokens = ["<bos>", *(word[:limit] for word in words), "<eos>"]
        inputs = torch.stack([self.token_vector(token) for token in tokens])
        sizes = (
            self.lstm["projection_dim"],
            self.lstm["projection_dim"],
            self.lstm["dim"],
            self.lstm["n_layers"],
        )
        clips = [self.lstm[f"{part}_clip"] for part in ("cell", "proj")]
        lstm = ElmoLstm(*sizes, False, 0.0, *clips).double()
        lstm.load_state_dict(self.encoder)
        outputs = lstm(inputs[None], torch.ones(1, len(tokens), dtype=torch.bool))[:, 0]
        return torch.cat([torch.cat([inputs, inputs], dim=1)[None], outputs])[:, 1:-1]

    def token_vector(self, token: str) -> Tensor:
        parts = []
        if self.sizes["word_dim"]:
            row = WORDS.index(token) if token in WORDS else WORDS.index("<oov>")
            parts.append(self.embedder["word_emb_layer.embedding.weight"][row])
        if self.sizes["char_dim"]:
            parts.append(self.character_features(token))
        return (
            self.embedder["projection.weight"] @ torch.cat(parts) + self.embedder["projection.bias"]
        )

    def character_features(self, token: str) -> Tensor:
        inside = [token] if token in ("<bos>", "<eos>") else list(token)
        marked = ["<eow>", *inside, "<bow>"]  # the other way round, as released
        marked += ["<pad>"] * (self.sizes["max_characters_per_token"] - len(marked))
        rows = [
            CHARACTERS.index(c) if c in CHARACTERS else CHARACTERS.index("<oov>") for c in marked
        ]
        vectors = self.embedder["char_emb_layer.embedding.weight"][rows]
        maxima = []
        for i, (width, number) in enumerate(self.sizes["filters"]):
            weight, bias = (
                self.embedder[f"convolutions.{i}.weight"],
                self.embedder[f"convolutions.{i}.bias"],
            )
            for n in range(number):
                windows = [vectors[at : at + width] for at in range(len(vectors) - width + 1)]
                maxima.append(max((window.t() * weight[n]).sum() + bias[n] for window in windows))
        vector = getattr(torch, self.sizes["activation"])(torch.stack(maxima))
        for k in range(self.sizes["n_highway"]):
            both = self.embedder[f"highways._layers.{k}.weight"] @ vector
            both += self.embedder[f"highways._layers.{k}.bias"]
            gate = torch.sigmoid(both[len(vector) :])
            vector = gate * vector + (1 - gate) * torch.relu(both[: len(vector)])
        return vector
