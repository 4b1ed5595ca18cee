"""A command that cannot go on ends with one sentence; other programs keep their traceback."""

import logging
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

import pytest
from allennlp.commands import main
from allennlp.commands.subcommand import Subcommand
from allennlp.common import Params
from allennlp.common import logging as allennlp_logging
from allennlp.common.checks import ConfigurationError
from allennlp.common.util import SigTermReceived
from allennlp.training import util

from elmo_plugin import plugin  # noqa: F401 (registers the commands)
from elmo_plugin.bilm import BiLmError
from elmo_plugin.hardening import console
from elmo_plugin.hardening.console import SentenceHook

Raised = tuple[type[BaseException], BaseException, TracebackType | None]


def raised(work: Callable[[], object]) -> Raised:
    try:
        work()
    except BaseException:
        kind, error, traceback = sys.exc_info()
        assert kind is not None and error is not None
        return kind, error, traceback
    raise AssertionError("nothing was raised")


@pytest.fixture
def before() -> list[Raised]:
    """What the hook before was given."""
    return []


@pytest.fixture
def hook(before: list[Raised]) -> SentenceHook:
    return SentenceHook(lambda *error: before.append(error))


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Raised]:
    """Runs a command of `allennlp` whose work raises an error."""

    def run(arguments: list[str], error: BaseException) -> Raised:
        def fail(args: object) -> None:
            raise error

        add = Subcommand.by_name(arguments[0]).add_subparser

        def add_failing(self: Subcommand, parser: object) -> object:
            subparser = add(self, parser)  # type: ignore[arg-type]
            subparser.set_defaults(func=fail)
            return subparser

        monkeypatch.setattr(Subcommand.by_name(arguments[0]), "add_subparser", add_failing)
        monkeypatch.setattr(sys, "argv", ["allennlp", *arguments])
        return raised(main)

    return run


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ConfigurationError("the file x:\n  is no file"), "the file x: is no file"),
        (BiLmError("no biLM"), "no biLM"),
        (FileNotFoundError(2, "No such file or directory", "a.txt"), "a.txt: No such file or directory"),
        (OSError(28, "could not write b.txt: the disk is full"), "could not write b.txt: the disk is full"),
        (FileNotFoundError("file c not found"), "file c not found"),
    ],
)
def test_a_mistake_of_the_user_is_one_line(
    error: Exception,
    sentence: str,
    hook: SentenceHook,
    before: list[Raised],
    command: Callable[..., Raised],
    capfd: pytest.CaptureFixture[str],
) -> None:
    of_command = command(["elmo-export", "tiny", "out"], error)
    capfd.readouterr()
    hook(*of_command)
    assert capfd.readouterr().err == f"{sentence}\n" and not before


def test_a_mistake_in_a_configuration_is_one_line(
    hook: SentenceHook, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.jsonnet").write_text("{\n  a: error 'lambda is a number',\n}")
    monkeypatch.setattr(
        sys, "argv", ["allennlp", "train", str(tmp_path / "a.jsonnet"), "-s", str(tmp_path / "run")]
    )
    of_command = raised(main)
    capfd.readouterr()
    hook(*of_command)
    (line,) = capfd.readouterr().err.splitlines()
    assert "lambda is a number" in line and f"{tmp_path}/a.jsonnet:2" in line


@pytest.mark.parametrize("value", ["1", "yes"])
def test_the_variable_shows_the_traceback(
    value: str,
    hook: SentenceHook,
    before: list[Raised],
    command: Callable[..., Raised],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ELMO_PLUGIN_TRACEBACK", value)
    of_command = command(["elmo-export", "tiny", "out"], ConfigurationError("no"))
    hook(*of_command)
    assert before == [of_command]


def test_what_is_no_mistake_of_the_user_keeps_its_traceback(
    hook: SentenceHook, before: list[Raised], command: Callable[..., Raised]
) -> None:
    hook(*command(["elmo-export", "tiny", "out"], KeyError("bug")))
    hook(*command(["elmo-export", "tiny", "out"], RuntimeError("bug")))
    assert len(before) == 2


def test_errors_of_other_programs_are_shown_as_ever(hook: SentenceHook, before: list[Raised]) -> None:
    hook(*raised(lambda: Params({}).pop("a")))
    assert len(before) == 1


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SigTermReceived()])
def test_who_stops_a_command_learns_what_was_kept_and_how_to_go_on(
    error: BaseException,
    hook: SentenceHook,
    command: Callable[..., Raised],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    def shown(*arguments: str) -> str:
        of_command = command(list(arguments), error)
        capfd.readouterr()
        hook(*of_command)
        first, line = capfd.readouterr().err.splitlines()
        assert first == "", "it must not follow a progress bar or ^C on their line"
        return line

    output, run = tmp_path / "out.hdf5", tmp_path / "run"
    embed = ["elmo-embed", "--top", "--bilm", "tiny", "a.txt", str(output)]
    assert shown(*embed) == f"stopped; nothing was written; allennlp {' '.join(embed)} starts again"
    output.with_name("out.hdf5.unfinished").mkdir()
    expected = f"stopped; {output}.unfinished keeps what was done; the same command resumes it: allennlp"
    assert shown(*embed) == f"{expected} {' '.join(embed)}"
    train = ["train", "a.jsonnet", "-s", str(run), "--force"]
    assert shown(*train[:-1], "-f").endswith(f"; allennlp {' '.join(train)} starts again")
    run.mkdir()
    (run / "model_state_e1_b0.th").touch()
    expected = f"{run}/model_state_e1_b0.th; allennlp train a.jsonnet -s {run} --recover resumes it"
    for again in ("--force", "-f", "--recover", "-r"):
        assert shown(*train[:-1], again).endswith(expected)
    sweep = ["elmo-sweep", "a.jsonnet", "-s", str(run)]
    assert shown(*sweep).startswith(f"stopped; {run} keeps what was done; the same command resumes it")


def test_the_log_of_a_training_keeps_the_traceback(
    command: Callable[..., Raised],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
    root = logging.getLogger()
    handlers = list(root.handlers)
    console.install()
    allennlp_logging.prepare_global_logging(str(tmp_path))
    try:
        assert isinstance(sys.excepthook, SentenceHook)
        of_command = command(["elmo-export", "tiny", "out"], ConfigurationError("no"))
        capfd.readouterr()
        sys.excepthook(*of_command)
        assert capfd.readouterr().err == "no\n"
    finally:
        root.handlers[:] = handlers
    log = (tmp_path / "out.log").read_text()
    assert "Traceback (most recent call last)" in log and "ConfigurationError" in log


def test_only_the_note_on_hidden_metrics_is_kept_out_of_the_log(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(util.HasBeenWarned, "tqdm_ignores_underscores", False)
    util.description_from_metrics({"_f1": 0.5, "f1": 0.5})
    logging.getLogger("allennlp.training.util").warning("another")
    assert util.HasBeenWarned.tqdm_ignores_underscores
    assert [record.getMessage() for record in caplog.records] == ["another"]
