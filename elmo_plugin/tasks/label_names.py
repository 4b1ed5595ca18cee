"""Predictions of a classifier in words."""

from typing import Any

from allennlp.data import Vocabulary


def add_label_names(output: dict[str, Any], vocab: Vocabulary) -> dict[str, Any]:
    """
    Adds `label`, the most probable one, and `probabilities`, by the names of the labels, to an output with
    the `probs` of labels, shape (batch, labels).
    """
    labels = vocab.get_index_to_token_vocabulary("labels")
    rows = output["probs"].tolist()
    output["probabilities"] = [{labels[i]: prob for i, prob in enumerate(row)} for row in rows]
    output["label"] = [max(row, key=row.__getitem__) for row in output["probabilities"]]
    return output
