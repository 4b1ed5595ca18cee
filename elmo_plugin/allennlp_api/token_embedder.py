"""AllenNLP's `elmo_token_embedder` on our biLM."""

from os import PathLike
from typing import Any

import torch
from allennlp.modules import TokenEmbedder
from overrides import overrides

from elmo_plugin.allennlp_api.allennlp_archive import DESCRIPTION, bilm_from_archive
from elmo_plugin.allennlp_api.bilm import AllenNlpBiLm, ElmoBiLm
from elmo_plugin.allennlp_api.elmo import Elmo
from elmo_plugin.bilm.io import MODELS
from elmo_plugin.common.errors import as_configuration_error
from elmo_plugin.embedding.cache import RegisteredCache

OPTIONS_FILE, WEIGHT_FILE = MODELS["original"]


class ElmoTokenEmbedder(TokenEmbedder):
    """
    Embeds tokens with `Elmo`, as AllenNLP's class of this name does, with its arguments and the names of its
    parameters. An archive that it is saved in is loaded by AllenNLP's, too.

    An archive that AllenNLP's was saved in needs no weight file, and no options file if the biLM is one of
    the published models; one that this class was saved in needs neither.

    # Parameters

    options_file, weight_file : `str`, optional
        The biLM in the published layout: paths or URLs. By default the original model.
    do_layer_norm, dropout, requires_grad, vocab_to_cache, scalar_mix_parameters
        See `Elmo`.
    projection_dim : `int`, optional (default = `None`)
        If given, the vectors are projected to this size, with a bias.
    stateful : `bool`, optional (default = `False`)
        Whether the biLM's state is carried from batch to batch, as AllenNLP does.
    precision : `str`, optional (default = `"float32"`)
        The precision of a frozen biLM: "float32", "bfloat16" or "int8".
    cache : `RegisteredCache`, optional (default = `None`)
        Stores the output of a frozen biLM for each sentence. See `docs/cache.md`.
    serialization_dir : `str`, optional (default = `None`)
        Given by AllenNLP, not by a configuration. If the weights of a trained model are there, the biLM is
        made from them.

    Raises `ConfigurationError` if the files are not a usable model, or the other parameters do not fit it.
    """

    def __init__(
        self,
        options_file: str = OPTIONS_FILE,
        weight_file: str = WEIGHT_FILE,
        do_layer_norm: bool = False,
        dropout: float = 0.5,
        requires_grad: bool = False,
        projection_dim: int | None = None,
        vocab_to_cache: list[str] | None = None,
        scalar_mix_parameters: list[float] | None = None,
        *,
        stateful: bool = False,
        precision: str = "float32",
        cache: RegisteredCache = None,
        serialization_dir: str | PathLike[str] | None = None,
    ) -> None:
        super().__init__()
        options_file, weight_file = str(options_file), str(weight_file)  # what is described must be plain
        with as_configuration_error():
            bilm = bilm_from_archive(serialization_dir, options_file, precision)
            if bilm is None:
                bilm = AllenNlpBiLm.from_files(options_file, weight_file, precision)
            self._elmo = Elmo(
                module=ElmoBiLm(
                    bilm.requires_grad_(requires_grad),
                    stateful=stateful,
                    vocab_to_cache=vocab_to_cache,
                    cache=cache,
                ),
                do_layer_norm=do_layer_norm,
                dropout=dropout,
                vocab_to_cache=vocab_to_cache,
                scalar_mix_parameters=scalar_mix_parameters,
            )
        self._description = {"options_file": options_file, "options": bilm.options.to_dict()}
        dim = self._elmo.get_output_dim()
        self._projection = torch.nn.Linear(dim, projection_dim) if projection_dim else None
        self.output_dim = projection_dim or dim
        self._register_state_dict_hook(_add_description)

    @overrides
    def get_output_dim(self) -> int:
        return self.output_dim

    def forward(self, elmo_tokens: torch.Tensor, word_inputs: torch.Tensor = None) -> torch.Tensor:
        """
        # Parameters

        elmo_tokens, word_inputs
            The `inputs` and `word_inputs` of `Elmo`.

        # Returns

        `torch.Tensor`
            Shape (batch, ..., time, output_dim).

        Raises `ConfigurationError` where the biLM cannot read the words, or this machine cannot compute in
        the precision.
        """
        with as_configuration_error():
            (vectors,) = self._elmo(elmo_tokens, word_inputs)["elmo_representations"]
        return vectors if self._projection is None else self._projection(vectors)


def _add_description(
    module: ElmoTokenEmbedder, _state_dict: dict[str, Any], _prefix: str, metadata: dict[str, Any]
) -> None:
    metadata[DESCRIPTION] = module._description
