"""The example data is what the programs write that draw it."""

from pathlib import Path

import pytest

from tests.experiments.programs import DATA, draw_data


@pytest.mark.slow
@pytest.mark.parametrize("task", ["coref", "ner", "snli", "squad", "srl", "sst"])
def test_a_program_writes_the_same_bytes_and_prints_the_statistics_of_the_readme(
    task: str, tmp_path: Path
) -> None:
    printed = draw_data(task, tmp_path)
    written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert written == {path.name: path.read_bytes() for path in (DATA / task).iterdir()}
    assert {Path(name).stem for name in written} == {"train", "dev"}
    assert printed in (DATA / "README.md").read_text(encoding="utf-8")
