"""The character CNN of AllenNLP 0.x."""

import torch
from allennlp.modules import Seq2VecEncoder
from allennlp.modules.seq2vec_encoders import CnnEncoder
from overrides import overrides


@Seq2VecEncoder.register("old_cnn")
class OldCnnEncoder(CnnEncoder):
    """
    A `CnnEncoder` that takes each maximum over all windows, as AllenNLP did before version 1.3.
    AllenNLP 2 leaves out the windows that touch padding.

    Registered as a `Seq2VecEncoder` with name "old_cnn". It has the same
    parameters as `CnnEncoder`.
    """

    @overrides
    def forward(self, tokens: torch.Tensor, mask: torch.BoolTensor) -> torch.Tensor:
        """
        # Parameters

        tokens : `torch.Tensor`
            Shape (batch, time, embedding_dim).
        mask : `torch.BoolTensor`
            Shape (batch, time): true, or not zero, at the tokens that are not padding.

        # Returns

        `torch.Tensor`
            Shape (batch, output_dim).
        """
        if mask is not None:
            tokens = tokens * mask.unsqueeze(-1)
        columns = tokens.transpose(1, 2)  # Shape: (batch, embedding_dim, time)
        maxima = []
        for number in range(len(self._convolution_layers)):
            # `DataParallel` copies `conv_layer_0` and so on to each GPU. The modules in the list
            # `_convolution_layers` stay on the first GPU, so they are not used here.
            convolution = getattr(self, f"conv_layer_{number}")
            windows = self._activation(convolution(columns))  # Shape: (batch, filters, windows)
            maxima.append(windows.max(dim=2).values)
        vectors = torch.cat(maxima, dim=1)
        if self.projection_layer is None:
            return vectors
        return self.projection_layer(vectors)
