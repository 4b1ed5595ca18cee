"""Counts of clusters against known figures, and a re-statement of the definitions."""

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_plugin.tasks.coref.metrics import METRICS, CorefCounts, CorefScores

MENTIONS = st.integers(0, 11)
Pairs = list[tuple[int, int]]  # a mention and the number of its cluster


@st.composite
def gold_and_system(draw: st.DrawFn) -> tuple[Pairs, Pairs]:
    """What is right, and the same with some mentions left out, moved, added, or there once more."""
    numbers = st.integers(0, 4)
    gold = list(draw(st.dictionaries(MENTIONS, numbers)).items())
    system: Pairs = []
    for mention, number in gold:
        change = draw(st.sampled_from(["none"] * 3 + ["left out", "moved", "added", "repeated"]))
        if change != "left out":
            system.append((mention, draw(numbers) if change == "moved" else number))
        if change == "added":
            system.append((mention + draw(st.integers(12, 14)), draw(numbers)))  # and maybe again
        if change == "repeated":
            system.append((mention, draw(numbers)))
    return gold, sorted(system, key=lambda pair: pair[1])


def clusters_of(pairs: Pairs) -> list[list[int]]:
    return [[mention for mention, number in pairs if number == each] for each in range(5)]


def by_definition(gold: Pairs, system: Pairs) -> dict[str, tuple]:
    """The three definitions, mention by mention and cluster by cluster, with all pairings for CEAF."""
    right = dict(gold)
    kept: Pairs = []
    for mention, number in system:
        if mention not in right or mention not in dict(kept):
            kept.append((mention, number))
    keys = [cluster for cluster in clusters_of(gold) if cluster]
    responses = [cluster for cluster in clusters_of(kept) if cluster]

    # Vilain et al. (1995): what is missing from a cut cluster is the number of its pieces, but one.
    def links(these: list[list[int]], those: list[list[int]]) -> int:
        total = 0
        for cluster in these:
            pieces = {index for each in cluster for index, other in enumerate(those) if each in other}
            alone = [each for each in cluster if not any(each in other for other in those)]
            total += len(cluster) - len(pieces) - len(alone)
        return total

    muc = (links(keys, responses), len(gold) - len(keys), links(responses, keys), len(kept) - len(responses))

    # Bagga and Baldwin (1998)
    recall = precision = 0.0
    for mention, number in kept:
        if mention in right:
            key = {each for each, other in gold if other == right[mention]}
            response = [each for each, other in kept if other == number]
            shared = [each for each in response if each in key]
            recall += len(shared) / len(key)
            precision += len(shared) / len(response)

    # Luo (2005)
    def similarity(key: list[int], response: list[int]) -> float:
        return 2 * len(set(key) & set(response)) / (len(key) + len(response))

    few, many = sorted([keys, responses], key=len)
    best = max(
        sum(similarity(one, other) for one, other in zip(few, chosen, strict=True))
        for chosen in permutations(many, len(few))
    )
    found = {mention for mention, _ in kept}
    common = len(found & right.keys())
    return {
        "muc": muc,
        "bcub": (recall, len(gold), precision, len(kept)),
        "ceafe": (best, len(keys), best, len(responses)),
        "mention": (common, len(gold), common, len(found)),
    }


@pytest.mark.slow
@settings(max_examples=200)
@given(st.lists(gold_and_system(), max_size=3))
def test_random_damage_counts_as_the_definitions_say(documents: list) -> None:
    scores = CorefScores()
    expected = {name: [0.0] * 4 for name in (*METRICS, "mention")}
    for gold, system in documents:
        scores.add(clusters_of(gold), clusters_of(system))
        for name, numbers in by_definition(gold, system).items():
            expected[name] = [total + number for total, number in zip(expected[name], numbers, strict=True)]
    assert scores.documents == len(documents)
    for name, counts in scores.counts().items():
        assert counts == pytest.approx(expected[name], abs=1e-12)


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
    scores = CorefScores()
    scores.add(key.split(), response.split())
    for name, figures in zip(METRICS, expected, strict=True):
        if figures is not None:
            precision, recall, _ = scores.counts()[name].figures()
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
    scores = CorefScores()
    scores.add(gold.split(), predicted.split())
    found = scores.counts()
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
    assert CorefScores().average() == (0, 0, 0)
