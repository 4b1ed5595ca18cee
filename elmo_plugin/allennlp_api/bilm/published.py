"""AllenNLP's modules of a biLM by their names and with their arguments."""

from collections.abc import Sequence
from os import PathLike

from elmo_plugin.allennlp_api.bilm.character_encoder import CharacterEncoder
from elmo_plugin.allennlp_api.bilm.elmo_bilm import ElmoBiLm
from elmo_plugin.allennlp_api.bilm.network import AllenNlpBiLm


class _ElmoBiLm(ElmoBiLm):
    """
    Takes the arguments of AllenNLP's class of this name. It carries the LSTMs' state from batch to batch, as
    that class does.

    # Parameters

    options_file, weight_file : `str | PathLike`
        The biLM in the published layout: paths or URLs.
    requires_grad : `bool`
        Whether it is trained.
    vocab_to_cache : `Sequence[str] | None`
        See `ElmoBiLm.create_cached_cnn_embeddings`.

    Raises `BiLmError` where the biLM cannot be loaded, and where it is trained and has cached words.
    """

    def __init__(
        self,
        options_file: str | PathLike[str],
        weight_file: str | PathLike[str],
        requires_grad: bool = False,
        vocab_to_cache: Sequence[str] | None = None,
    ) -> None:
        files = {"options": str(options_file), "weights": str(weight_file)}
        bilm = AllenNlpBiLm.load(files).requires_grad_(requires_grad)
        super().__init__(bilm, stateful=True, vocab_to_cache=vocab_to_cache)


class _ElmoCharacterEncoder(CharacterEncoder):
    """
    Takes the arguments of AllenNLP's class of this name.

    # Parameters

    options_file, weight_file : `str | PathLike`
        The biLM in the published layout: paths or URLs.
    requires_grad : `bool`
        Whether it is trained.

    Raises `BiLmError` where the biLM cannot be loaded.
    """

    def __init__(
        self,
        options_file: str | PathLike[str],
        weight_file: str | PathLike[str],
        requires_grad: bool = False,
    ) -> None:
        files = {"options": str(options_file), "weights": str(weight_file)}
        loaded = AllenNlpBiLm.load(files).token_encoder
        super().__init__(loaded.options, loaded.output_dim)
        self.load_state_dict(loaded.state_dict())
        self.requires_grad_(requires_grad)
