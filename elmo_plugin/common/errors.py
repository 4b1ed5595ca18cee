"""The one exception of this package, and what errors say of a missing extra."""

HOW_TO_GET_MATPLOTLIB = "install elmo_plugin[figures], or matplotlib itself"


class BiLmError(ValueError):
    """A model file, an option or a text that cannot be used; its message is one sentence that says why."""
