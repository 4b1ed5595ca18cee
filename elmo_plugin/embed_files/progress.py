"""How far an embedding has come, how fast it is, and when it will be over."""

import time
from types import TracebackType

from allennlp.common import Tqdm


class Progress:
    """
    A bar over the bytes of the text, with the words per second.

    # Parameters

    num_bytes : `int`, optional
        Of the whole text; without it there is no end to be told.
    is_shown : `bool`
        Whether there is a bar at all.
    """

    def __init__(self, num_bytes: int | None, is_shown: bool) -> None:
        options = {"unit": "B", "unit_scale": True, "smoothing": 0, "desc": "embedding"}
        self._bar = Tqdm.tqdm(total=num_bytes, disable=not is_shown, **options)
        self._words = 0
        self._start = time.monotonic()

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._bar.close()

    def skip(self, num_bytes: int) -> None:
        """So much was embedded by an earlier process, and does not count for the speed."""
        if not self._bar.disable:
            self._bar.initial += num_bytes
        self._bar.update(num_bytes)

    def advance(self, num_bytes: int, words: int) -> None:
        self._words += words
        rate = self._words / (time.monotonic() - self._start)
        self._bar.set_postfix_str(f"{rate:,.0f} tokens/s", refresh=False)
        self._bar.update(num_bytes)
