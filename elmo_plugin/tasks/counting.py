"""Precision, recall and F1 from counts, as the official scorers of the tasks compute them."""


def precision_recall_f1(
    correct: int, found: int, gold: int, whole: float = 1.0
) -> tuple[float, float, float]:
    """
    # Parameters

    correct : `int`
        How many of what a system found are right.
    found : `int`
        How many a system found.
    gold : `int`
        How many are right.
    whole : `float`, optional (default = `1.0`)
        What the results are parts of, 100 for percent.

    # Returns

    `tuple[float, float, float]`
        Precision, recall and F1, each 0 where there is nothing to divide by.
    """
    precision = whole * correct / found if found else 0.0
    recall = whole * correct / gold if gold else 0.0
    both = precision + recall
    return precision, recall, 2 * precision * recall / both if both else 0.0
