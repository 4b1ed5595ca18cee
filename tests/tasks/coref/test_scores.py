"""Counts of clusters against the test cases of the reference scorer."""

import pytest

from elmo_plugin.tasks.coref.metrics import METRICS, CorefConll, CorefCounts

# The test cases of the reference scorer: a letter is a mention, and what is expected is recall and precision.
# Where it gives no figure, there is none here.
KEY = "a bc def"
CASES = {
    "A-1": (KEY, "a bc def", (1, 1), (1, 1), (1, 1)),
    "A-2": (KEY, "a de", (1 / 3, 1), (7 / 18, 1), (0.6, 0.9)),
    "A-3": (KEY, "a bcx defy z", (1, 3 / 5), (1, (4 + 7 / 12) / 9), (0.88571, 0.66429)),
    "A-4": (KEY, "a bcx dy z", (1 / 3, 1 / 3), (5 / 9, 17 / 42), (0.73333, 0.55)),
    "A-5": (KEY, "a bcxB dy z", (1 / 3, 1 / 4), (5 / 9, 5 / 16), (0.68889, 0.51667)),
    "A-6": (KEY, "a bcx dy Bz", (1 / 3, 1 / 4), (5 / 9, 17 / 48), (0.73333, 0.55)),
    "A-7": (KEY, "a bcxb dy z", (1 / 3, 1 / 3), (5 / 9, 17 / 42), (0.73333, 0.55)),
    "A-8": (KEY, "a bcx dy bz", (1 / 3, 1 / 3), (5 / 9, 17 / 42), (0.73333, 0.55)),
    "A-9": (KEY, "a bcx dy bbbbbbbbbbz", (1 / 3, 1 / 3), (5 / 9, 17 / 42), (0.73333, 0.55)),
    "A-10": (KEY, "a b c d e f", (0, 0), (1 / 2, 1), None),
    "A-11": (KEY, "abcdef", (1, 3 / 5), (1, 14 / 36), None),
    "A-12": (KEY, "a b d e x y z", (0, 0), (13 / 36, 4 / 7), None),
    "A-13": (KEY, "abdexyz", (1 / 3, 1 / 6), (17 / 36, 6 / 49), None),
    "D-1": ("abcde fg hijkl", "abcde fghijkl", (1, 9 / 10), (1, 16 / 21), None),
    "E-1": ("abcde fg hijkl", "abcdehijkl fg", (1, 9 / 10), (1, 7 / 12), None),
    "F-1": ("abcd", "ab cd", (2 / 3, 1), None, None),
    "G-1": ("ab cd", "abcd", (1, 2 / 3), None, None),
    "H-1": ("abcd", "abcd", (1, 1), None, None),
    "J-1": ("abc", "ab", (1 / 2, 1), None, None),
    "K-1": ("bcdeghj", "abc def ghi", (3 / 6, 3 / 6), None, None),
    "L-1": ("abc defg", "ab cd fgh", (2 / 5, 2 / 4), None, None),
}


@pytest.mark.parametrize("case", CASES)
def test_figures_of_the_test_cases_of_the_reference_scorer(case: str) -> None:
    key, response, *expected = CASES[case]
    metric = CorefConll()
    metric(response.split(), key.split())
    for name, figures in zip(METRICS, expected, strict=True):
        if figures is not None:
            precision, recall, _ = metric.numbers()[name].figures()
            assert (recall, precision) == pytest.approx(figures, abs=5e-6)


@pytest.mark.parametrize(
    ("gold", "predicted", "muc", "bcub", "ceafe", "mention"),
    [
        # Repeated where they are wrong, mentions count twice; but not as mentions.
        ("ab", "abxx", (1, 1, 1, 3), (2, 2, 1, 4), (4 / 6, 1, 4 / 6, 1), (2, 2, 2, 3)),
        # Repeated where they are right, only the first is kept, and with it its cluster.
        ("abc", "bb b", (0, 2, 0, 0), (1 / 3, 3, 1, 1), (2 / 4, 1, 2 / 4, 1), (1, 3, 1, 1)),
        # Repeated in the key, in a cluster: the similarity is more than one.
        ("aa", "a", (0, 1, 0, 0), (1 / 2, 2, 1, 1), (4 / 3, 1, 4 / 3, 1), (1, 1, 1, 1)),
        # And in two: it belongs to the last one.
        ("ab bc", "abc", (1, 2, 1, 2), (3, 4, 2, 3), (4 / 5, 2, 4 / 5, 1), (3, 3, 3, 3)),
        # One mention alone has no links, but is a cluster.
        ("a", "a", (0, 0, 0, 0), (1, 1, 1, 1), (1, 1, 1, 1), (1, 1, 1, 1)),
        ("a", "", (0, 0, 0, 0), (0, 1, 0, 0), (0, 1, 0, 0), (0, 1, 0, 0)),
        ("", "a", (0, 0, 0, 0), (0, 0, 0, 1), (0, 0, 0, 1), (0, 0, 0, 1)),
        ("", "", (0, 0, 0, 0), (0, 0, 0, 0), (0, 0, 0, 0), (0, 0, 0, 0)),
    ],
)
def test_mentions_that_are_repeated_alone_or_absent(
    gold: str, predicted: str, muc: tuple, bcub: tuple, ceafe: tuple, mention: tuple
) -> None:
    metric = CorefConll()
    metric(predicted.split(), gold.split())
    found = metric.numbers()
    assert (found["muc"], found["mention"]) == (muc, mention)
    assert found["bcub"] == pytest.approx(bcub) and found["ceafe"] == pytest.approx(ceafe)


def test_where_there_is_nothing_figures_are_zero() -> None:
    assert (
        CorefCounts().figures()
        == CorefCounts(0, 1, 0, 0).figures()
        == CorefCounts(0, 0, 0, 1).figures()
        == (0, 0, 0)
    )
    assert CorefCounts(1, 4, 1, 2).figures() == pytest.approx((1 / 2, 1 / 4, 1 / 3))
    assert CorefConll().average() == (0, 0, 0)
