"""AllenNLP's plugins, for commands that were not started by AllenNLP itself."""

from importlib import import_module

from elmo_plugin.common.errors import NEEDS_ALLENNLP, BiLmError


def import_all_plugins(subject: str) -> None:
    """
    Registers the models, readers and predictors of this package, then those of the user's plugins. It takes
    seconds.

    Raises `BiLmError`, which says that `subject` needs AllenNLP, if AllenNLP is not installed.
    """
    try:
        import_module("allennlp.models")  # what needs the most of AllenNLP's own dependencies
        from allennlp.common.plugins import import_plugins
    except ModuleNotFoundError:
        raise BiLmError(f"{subject} {NEEDS_ALLENNLP}") from None
    import_module("elmo_plugin.plugin")
    import_plugins()
