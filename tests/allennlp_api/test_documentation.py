import doctest

from tests.conftest import REPOSITORY


def test_the_examples_for_python_run_as_they_stand() -> None:
    results = doctest.testfile(str(REPOSITORY / "docs" / "python.md"), module_relative=False)
    assert results.attempted > 15
    assert results.failed == 0
