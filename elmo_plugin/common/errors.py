"""The one exception of this package."""


class BiLmError(ValueError):
    """A model file, an option or a text that cannot be used; its message is one sentence that says why."""
