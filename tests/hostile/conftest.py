"""What the hostile cases share: material that is made once, and their counts."""

import os
from collections.abc import Iterator

import pytest
from allennlp.common.plugins import import_plugins

from tests.hostile.material import Material, make_material
from tests.hostile.outcomes import CLEAR, HOSTILE, NAMED, Outcomes

LEAST_NAMED = 0.97


@pytest.fixture(scope="session")
def material(tmp_path_factory: pytest.TempPathFactory) -> Material:
    import_plugins()  # which each command asks for, and which takes a second the first time
    return make_material(tmp_path_factory.mktemp("material"))


@pytest.fixture
def outcomes(request: pytest.FixtureRequest) -> Iterator[Outcomes]:
    """Counts the cases of a test, which fails where one of them does."""
    before = set(os.listdir("/tmp"))
    found = Outcomes()
    yield found
    request.node.user_properties.append((HOSTILE, dict(found.counts)))
    left = {name for name in set(os.listdir("/tmp")) - before if name.startswith("elmo_hostile")}
    assert not left, f"written outside: {left}"
    failures = "\n".join(f"{case}: {message[-300:]}" for case, message in found.failures.items())
    assert not found.failures, f"{len(found.failures)} of {found.cases} cases:\n{failures}"
    unnamed = "\n".join(f"{case}: {message[-300:]}" for case, message in found.unnamed.items())
    clear = found.counts[CLEAR]
    assert found.counts[NAMED] >= LEAST_NAMED * clear, f"without a name, of {clear}:\n{unnamed}"
