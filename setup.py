"""
Adds `elmo_plugin.pth` to what is installed; the rest stands in pyproject.toml.

Python reads this file at its start. It lets the command `allennlp`, and programs that import
AllenNLP first, start without the packages that AllenNLP imports and nobody here uses.
"""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

STARTUP_FILE = "elmo_plugin.pth"


class BuildWithStartupFile(build_py):
    """Builds the package, with the startup file beside it."""

    def run(self) -> None:
        super().run()
        folder = self.build_lib
        if self.editable_mode:
            folder = self.get_finalized_command("install").install_lib
        self.copy_file(STARTUP_FILE, str(Path(folder) / STARTUP_FILE))


setup(cmdclass={"build_py": BuildWithStartupFile})
