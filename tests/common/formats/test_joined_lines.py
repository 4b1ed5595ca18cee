from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.common.formats.joined_lines import join_lines, split_lines

lines = st.lists(
    st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"])), min_size=1
)


@given(lines)
def test_split_lines_returns_the_lines_that_were_joined(texts: list[str]) -> None:
    assert split_lines(join_lines(texts)) == texts
