"""The command that says which packages are missing."""

from importlib.metadata import PackageNotFoundError, metadata, requires

import pytest
from packaging.requirements import Requirement

from elmo_plugin.commands import doctor
from elmo_plugin.common.errors import BiLmError

EXTRAS = ["", *(metadata("elmo_plugin").get_all("Provides-Extra") or [])]


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_packages_of_an_extra_are_found_as_pip_finds_them(extra: str) -> None:
    expected = set()
    for requirement in map(Requirement, requires("elmo_plugin") or []):
        marker = requirement.marker
        is_always_needed = marker is None or marker.evaluate({"extra": ""})
        is_in_extra = marker is not None and marker.evaluate({"extra": extra})
        if is_in_extra or (extra == "" and is_always_needed):
            expected.add(requirement.name)
    assert set(doctor.required_packages(extra)) == expected


def test_a_package_for_older_versions_of_python_is_not_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = ["old; python_version < '3.0' and extra == 'x'", 'new; python_version < "9.0"']
    monkeypatch.setattr(doctor, "requires", lambda _: lines)
    assert doctor.missing_packages("x") == [] and doctor.missing_packages("") == ["new"]


def test_a_package_that_is_only_on_the_path_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def not_installed(_: str) -> list[str]:
        raise PackageNotFoundError

    monkeypatch.setattr(doctor, "requires", not_installed)
    with pytest.raises(BiLmError, match="only on Python's path"):
        doctor.missing_packages("demo")
