"""The bidirectional GRU against AllenNLP's, whose weights it loads."""

import torch
from allennlp.modules.seq2seq_encoders import GruSeq2SeqEncoder

from elmo_plugin.encoders.bidirectional import BidirectionalGru
from tests.close import assert_near


def test_a_bidirectional_gru_equals_allennlps_with_the_same_weights() -> None:
    torch.manual_seed(0)
    peer, encoder = GruSeq2SeqEncoder(60, 50, bidirectional=True), BidirectionalGru(60, 50)
    encoder.load_state_dict(peer.state_dict())
    mask = torch.arange(80) < torch.tensor([30, 7, 80, 1])[:, None]
    inputs = torch.randn(*mask.shape, 60)
    assert_near(encoder(inputs, mask), peer(inputs, mask))
