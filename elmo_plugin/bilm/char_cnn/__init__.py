"""The token layer of a biLM: a character CNN, highway layers and a projection, over each distinct word."""

from elmo_plugin.bilm.char_cnn.cached_token_encoder import CachedTokenEncoder, Highway
from elmo_plugin.bilm.char_cnn.token_encoder import TokenEncoder, convolve_by_length
from elmo_plugin.bilm.char_cnn.unique_rows import encode_unique_rows, unique_rows

__all__ = [
    "CachedTokenEncoder",
    "Highway",
    "TokenEncoder",
    "convolve_by_length",
    "encode_unique_rows",
    "unique_rows",
]
