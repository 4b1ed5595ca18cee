"""
The architecture `elmo_plugin.Tok2VecElmo.v1`: spaCy's models on a learned mix of the biLM's layers.
"""

from collections.abc import Callable
from typing import Any

from spacy.tokens import Doc
from spacy.util import registry
from thinc.api import Dropout, Maxout, Model, chain, concatenate, with_array
from thinc.shims import Shim
from thinc.types import Floats2d, Floats3d

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.integrations.spacy_component import bilm_from_bytes, bilm_to_bytes, embed_sentences
from elmo_plugin.integrations.word_vectors import WordVectors

Layers = list[Floats3d]  # for each document, shape (num_layers, words, dim)


@registry.architectures("elmo_plugin.Tok2VecElmo.v1")
def build_tok2vec_elmo(
    bilm: str | dict[str, str],
    width: int,
    dropout: float = 0.5,
    precision: str = "float32",
    embed: Model[list[Doc], list[Floats2d]] | None = None,
) -> Model[list[Doc], list[Floats2d]]:
    """
    Builds a model that gives each word a vector of this `width`: a learned mix of the layers of a
    frozen biLM, then dropout, then a maxout layer. The biLM is stored with the model. If `embed` is
    given, such as `spacy.MultiHashEmbed.v2`, its vectors are concatenated with the mix before the
    maxout layer.

    In a configuration of spaCy, it may be the whole `tok2vec`, or the `embed` of a
    `spacy.Tok2Vec.v2`.
    """
    mixed: Model = chain(
        bilm_layers(WordVectors(bilm, layers="all", precision=precision)),
        scalar_mix(),
        Dropout(dropout),
    )
    embedding = mixed
    if embed is not None:
        embedding = concatenate(mixed, embed)
    # With three pieces and layer normalization, as in spaCy's own layers that embed words.
    maxout: Model = Maxout(nO=width, nP=3, dropout=0.0, normalize=True)
    model: Model = chain(embedding, with_array(maxout))
    model.set_dim("nO", width)
    return model


def bilm_layers(word_vectors: WordVectors) -> Model[list[Doc], Layers]:
    """
    Returns the layer that runs the biLM; it is frozen, so no gradient passes. A document is read as
    one sentence, because a `tok2vec` usually runs before a component that finds sentences.
    """

    def forward(
        model: Model, docs: list[Doc], is_train: bool
    ) -> tuple[Layers, Callable[[Layers], list]]:
        """Returns the layers of each document, and the function that takes their gradients."""
        ops: Any = model.ops
        documents = []
        for doc in docs:
            words = [token.text for token in doc]
            documents.append([words])  # one sentence
        embedded = embed_sentences(word_vectors, documents)
        return [ops.asarray(layers) for layers in embedded], _no_gradient

    return Model("elmo_bilm", forward, shims=[BiLmShim(word_vectors)])


def _no_gradient(d_layers: Layers) -> list:
    """Returns no gradient for the documents, because the biLM is frozen."""
    return []


class BiLmShim(Shim):
    """Lets thinc store the biLM, and move it to a GPU."""

    def to_bytes(self) -> bytes:
        """Returns the biLM, to be stored with the model."""
        return bilm_to_bytes(self._model)

    def from_bytes(self, data: bytes) -> "BiLmShim":
        """Restores the biLM that `to_bytes` returned."""
        bilm_from_bytes(self._model, data)
        return self

    def to_device(self, device_type: str, device_id: int) -> None:
        """Moves the biLM to the CPU, or to the GPU with this number."""
        device = "cpu"
        if device_type == "gpu":
            device = f"cuda:{device_id}"
        self._model.bilm.to(device)

    def finish_update(self, optimizer: Any) -> None:
        """Does nothing: the biLM is frozen."""


def scalar_mix() -> Model[Layers, list[Floats2d]]:
    """
    Returns eq. (1) of Peters et al. (2018), `gamma * sum_j s_j h_j` with `s = softmax(weights)`, as
    a layer of thinc. At first all layers weigh the same and `gamma` is 1.
    """
    params: dict[str, Any] = {"weights": None, "gamma": None}
    return Model("elmo_scalar_mix", _mix_forward, init=_mix_init, params=params, dims={"nO": None})


def _mix_init(model: Model, X: Layers | None = None, Y: list[Floats2d] | None = None) -> None:
    """
    Makes the parameters, given the layers of example documents. Does nothing without an example,
    because thinc may call this before it has one.
    """
    if X is None:
        return
    num_layers, _, dim = X[0].shape
    model.set_dim("nO", dim)
    model.set_param("weights", model.ops.alloc1f(num_layers))  # zeros: the softmax makes them equal
    model.set_param("gamma", model.ops.alloc1f(1) + 1)


def _mix_forward(
    model: Model, X: Layers, is_train: bool
) -> tuple[list[Floats2d], Callable[[list[Floats2d]], Layers]]:
    """Returns the mix of each document, and the function that takes the gradients of the mixes."""
    ops: Any = model.ops
    xp = ops.xp  # numpy, or cupy on a GPU
    gamma = model.get_param("gamma")
    # `ops.softmax` expects a matrix. Shape: (1, num_layers)
    one_row = ops.asarray([model.get_param("weights")])
    weights = ops.softmax(one_row)[0]
    if not xp.isfinite(weights * gamma).all():
        raise BiLmError("the learned mix of ELMo's layers contains NaN or an infinite number")
    sums = [xp.tensordot(weights, layers, axes=1) for layers in X]  # Shape of each: (words, dim)

    def backprop(dY: list[Floats2d]) -> Layers:
        """
        Adds the gradients of the parameters, given the gradients of the mixes. Returns an empty
        list in place of the layers' gradients, because the biLM is frozen.
        """
        d_gamma = 0.0
        d_factors: Any = 0  # of the layers' factors, `gamma * weights`. Shape: (num_layers,)
        for layers, weighted_sum, d_mix in zip(X, sums, dY, strict=True):
            d_gamma += float((weighted_sum * d_mix).sum())
            d_factors += xp.tensordot(layers, d_mix, axes=2)
        d_weights = gamma * d_factors
        # The gradient passes through the softmax.
        d_parameters = weights * (d_weights - (weights * d_weights).sum())
        model.inc_grad("gamma", ops.asarray1f([d_gamma]))
        model.inc_grad("weights", d_parameters)
        return []

    return [gamma * weighted_sum for weighted_sum in sums], backprop
