"""Labels beside names that a program has chosen."""

from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.common.label_names import beside_names

NAMES = st.sampled_from(["line", "label_line", "label_label_line", "text", "x"])


@given(st.sets(NAMES), st.sets(NAMES))
def test_no_label_has_the_name_of_another_or_of_a_column(names: set[str], labels: set[str]) -> None:
    values = {label: label for label in sorted(labels)}
    renamed = beside_names(names, values)
    assert list(renamed.values()) == list(values)  # none is lost, and the order is kept
    assert not names & renamed.keys()
    for name, label in renamed.items():
        assert name == label or (label in names and name.endswith(f"label_{label}"))
