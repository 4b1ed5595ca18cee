"""Runs `elmo demo` and `elmo predict`."""

import webbrowser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import atomic_write
from elmo_plugin.common.formats.text_files import read_lines, standard_input_lines
from elmo_plugin.demo.archives import LoadedArchive, load_archives
from elmo_plugin.demo.bilm_view import LoadedBiLm
from elmo_plugin.demo.tabs import TaskTab, make_tabs
from elmo_plugin.demo.tasks import Limits, parse_input, read_inputs


def show_page(
    archives: Sequence[str],
    bilm: str | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    opens_browser: bool = False,
    limits: Limits | None = None,
) -> None:
    """
    Serves the page until Ctrl-C, and prints its address.

    # Parameters

    archives : `Sequence[str]`
        See `load_archives`.
    bilm : `str | None`, optional (default = `None`)
        A biLM that has a tab, too, see `LoadedBiLm`.
    host : `str`, optional (default = `"127.0.0.1"`)
        The address to serve at.
    port : `int`, optional (default = `8000`)
        0 for any that is free.
    opens_browser : `bool`, optional (default = `False`)
        Whether to open it in a browser.
    limits : `Limits | None`, optional (default = `Limits()`)
        Of each text.

    Raises `BiLmError` where a model cannot be loaded, the port cannot be had, or the extra is missing.
    """
    if not archives and not bilm:
        raise BiLmError("there is nothing to show: name an archive, or a biLM by --bilm")
    with _extra():
        from elmo_plugin.demo.page import address_of, make_app, open_socket, serve, warning_of
    opened = open_socket(host, port)
    if warning_of(host):
        print(warning_of(host), flush=True)
    loaded_bilm = LoadedBiLm(bilm) if bilm else None
    tabs = make_tabs(load_archives(archives) if archives else [], loaded_bilm, limits)
    address = address_of(opened, host)
    print(f"{address} shows {', '.join(tab.title for tab in tabs)}; Ctrl-C ends it", flush=True)
    if opens_browser:
        webbrowser.open(address)
    serve(make_app(tabs, host), opened, tabs)


def write_report(archives: Sequence[str], source: str, output: str, limits: Limits | None = None) -> None:
    """
    Writes predictions to one HTML file that needs nothing else.

    # Parameters

    archives : `Sequence[str]`
        See `load_archives`.
    source : `str`
        A file of inputs, see `read_inputs`.
    output : `str`
        The file to be written.
    limits : `Limits | None`, optional (default = `Limits()`)
        Of each text.

    Raises `BiLmError` where a model cannot be loaded, an input cannot be used, or the extra is missing.
    """
    if not archives:
        raise BiLmError("--export writes predictions: name an archive")
    with _extra():
        from elmo_plugin.demo.page import make_report
    tabs = [tab for tab in make_tabs(load_archives(archives), limits=limits) if isinstance(tab, TaskTab)]
    report = make_report(tabs, read_inputs(read_lines(source), source))
    with atomic_write(output) as temporary:
        temporary.write_text(report, encoding="utf-8")
    print(f"wrote {output}")


def show_predictions(
    path: str, texts: Sequence[str], *, predicates: str | None = None, as_json: bool = False
) -> None:
    """
    Prints a model's predictions.

    # Parameters

    path : `str`
        An archive, see `load_archives`.
    texts : `Sequence[str]`
        What the task reads, in its order, or one JSON object; or "-" for the standard input, see
        `read_inputs`.
    predicates : `str | None`, optional (default = `None`)
        The archive of the tagger that finds the predicates of sentences, for semantic roles.
    as_json : `bool`, optional (default = `False`)
        Whether to print the JSON that `allennlp predict` writes, instead of a view for people.

    Raises `BiLmError` where the model cannot be loaded, an input cannot be used, or the extra is missing.
    """
    if not as_json:
        with _extra():
            from elmo_plugin.demo.terminal import print_view
    loaded = load_archives([path, *([predicates] if predicates else [])])
    archive = loaded[0]
    if predicates and (len(loaded) > 1 or archive.tagger != predicates):
        raise BiLmError(f"--predicates {predicates}: is not a tagger of predicates, or {path} needs none")
    is_first = True
    for location, inputs in _inputs(texts, archive):
        if archive.needs_predicates and "predicates" not in inputs:
            raise BiLmError(
                f"{location}: say which words are predicates, by --predicates ARCHIVE, the tagger, or in "
                'JSON: {"sentence": "She wants to leave.", "predicates": [1]}'
            )
        try:
            output = archive.predict(inputs)
        except BiLmError as error:
            raise BiLmError(f"{location}: {error}") from None
        parts = archive.view(output, inputs)
        if as_json or not parts:
            print(archive.predictor.dump_line(output), end="", flush=True)
            continue
        if not is_first:
            print()
        print_view(parts)
        is_first = False


def _inputs(texts: Sequence[str], archive: LoadedArchive) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the inputs of a command line, or of the standard input, with where they stand."""
    if list(texts) == ["-"]:
        for location, given in read_inputs(standard_input_lines(), "standard input"):
            yield location, archive.task.from_texts([given]) if isinstance(given, str) else given
        return
    only = parse_input(texts[0], "TEXT") if len(texts) == 1 else ""
    yield "TEXT", only if isinstance(only, dict) else archive.task.from_texts(list(texts))


@contextmanager
def _extra() -> Iterator[None]:
    """Says what to install where a package of the extra is missing."""
    of_extra = ("jinja2", "markupsafe", "rich", "starlette", "uvicorn")
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in of_extra:
            raise
        raise BiLmError(f"this needs {package}: pip install 'elmo_plugin[demo]'") from None
