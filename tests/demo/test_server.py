"""The command that serves: ports, hosts, and how it ends."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPException
from typing import Any

import pytest

from elmo_plugin.commands.main import main
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.demo.page import address_of, open_socket, warning_of
from tests.conftest import REPOSITORY

SLOW_ARCHIVE = """
import sys, time
from elmo_plugin.demo import make_tabs
from elmo_plugin.demo.page import address_of, make_app, open_socket, serve
from tests.demo.stubs import SNLI, stub

def predict(inputs):
    if inputs["premise"] == "slow":
        time.sleep(600)
    return SNLI

opened = open_socket("127.0.0.1", 0)
tabs = make_tabs([stub("snli", predict)])
print(address_of(opened, "127.0.0.1"), flush=True)
serve(make_app(tabs), opened, tabs)
"""


def test_a_port_that_is_taken_is_one_sentence_and_no_model_is_loaded_before() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(SystemExit, match=rf"^elmo demo: cannot serve at .*, port {port}: it is taken"):
            main(["demo", "--bilm", "nothing", "--port", str(port)])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "there is nothing to show: name an archive, or a biLM by --bilm"),
        (["--bilm", "tiny", "--port", "65536"], "--port is from 0 to 65535, not 65536"),
        (["--bilm", "tiny", "--host", "no.such.host.invalid"], "cannot serve at no.such.host.invalid"),
        (["archive", "--export", "report.html"], "--export FILE and --input FILE go together"),
        (["--bilm", "tiny", "--export", "a.html", "--input", "b"], "--export writes predictions"),
        (["archive", "--export", ".", "--input", "b"], "is a directory; name a file"),
    ],
)
def test_a_mistake_is_one_sentence(arguments: list[str], message: str) -> None:
    with pytest.raises(SystemExit, match=f"^elmo demo: .*{re.escape(message)}"):
        main(["demo", *arguments])


@pytest.mark.parametrize("package", ["starlette", "uvicorn", "jinja2"])
def test_a_missing_package_is_named_with_what_to_install(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [each for each in sys.modules if each.startswith("elmo_plugin.demo.page")]:
        monkeypatch.delitem(sys.modules, name)
    for name in [each for each in sys.modules if each.partition(".")[0] == package]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(SystemExit, match=rf"this needs {package}.*: pip install 'elmo_plugin\[demo\]'"):
        main(["demo", "--bilm", "tiny"])


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.8.8.8"])
def test_on_this_machine_alone_nothing_is_said(host: str) -> None:
    assert warning_of(host) == ""


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.7", "example.org"])
def test_any_other_host_says_what_it_means(host: str) -> None:
    assert f"--host {host}: everyone who can reach this machine" in warning_of(host)


def test_the_address_is_one_that_a_browser_here_can_open() -> None:
    with open_socket("0.0.0.0", 0) as opened:
        assert address_of(opened, "0.0.0.0") == f"http://127.0.0.1:{opened.getsockname()[1]}/"
    with pytest.raises(BiLmError, match="--port"):
        open_socket("127.0.0.1", -1)


@contextmanager
def served(program: list[str]) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Yields a process that serves and its address."""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    with subprocess.Popen(
        program, cwd=REPOSITORY, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().split()[0]
        finally:
            process.kill()


def read(address: str) -> Any:
    with urllib.request.urlopen(address, timeout=60) as answer:
        return answer.read().decode(), answer.headers


def read_in_vain(address: str) -> None:
    with suppress(OSError, HTTPException):
        read(address)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_at_once_in_the_middle_of_a_computation(number: signal.Signals) -> None:
    with served([sys.executable, "-c", SLOW_ARCHIVE]) as (process, address):
        page, headers = read(f"{address}snli?premise=a&hypothesis=b")
        assert "neutral" in page and "server" not in headers
        slow = f"{address}snli?premise=slow&hypothesis=b"
        threading.Thread(target=read_in_vain, args=(slow,), daemon=True).start()
        time.sleep(1)
        started = time.monotonic()
        process.send_signal(number)
        process.wait(30)
        assert time.monotonic() - started < 5
        assert process.stderr is not None and "Traceback" not in process.stderr.read()


@pytest.mark.slow
def test_the_command_serves_a_bilm() -> None:
    command = [sys.executable, "-m", "elmo_plugin", "demo", "--bilm", "tiny", "--port", "0"]
    with served(command) as (_, address):
        page, _ = read(address)
        assert "<h1>The biLM</h1>" in page
        page, _ = read(f"{address}bilm?text=" + "ab" * 9_000)
        assert "has 18,000 characters, and at most 10,000 are read here" in page
