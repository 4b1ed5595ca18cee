"""scikit-learn's transformer, by the name that people type: `elmo_plugin.sklearn`."""

from elmo_plugin.integrations.sklearn_transformer import ElmoVectorizer

__all__ = ["ElmoVectorizer"]
