"""The command that serves: ports, hosts, and how it ends."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPException
from typing import Any

import pytest
from starlette.testclient import TestClient

from elmo_plugin.bilm import BiLmError
from elmo_plugin.commands.main import main
from elmo_plugin.demo import server
from elmo_plugin.demo.bilm_view import BiLmTab
from elmo_plugin.demo.server import address_of, is_local, open_socket
from elmo_plugin.demo.tabs import TaskTab
from tests.conftest import REPOSITORY
from tests.predictions.stubs import first_word_is, stub

SLOW_ARCHIVE = """
import sys, time
from elmo_plugin.demo.app import make_app
from elmo_plugin.demo.tabs import TaskTab
from elmo_plugin.demo.server import address_of, make_server, open_socket
from tests.predictions.stubs import SNLI, stub

def predict(inputs):
    if inputs["premise"] == "slow":
        print("computing", flush=True)
        time.sleep(3600)
    return SNLI

opened = open_socket("127.0.0.1", 0)
print(address_of(opened, "127.0.0.1"), flush=True)
make_server(make_app([TaskTab([stub("snli", predict)], 10_000)])).run(sockets=[opened])
"""


def test_a_port_in_use_is_reported_before_any_model_is_loaded() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(
            SystemExit, match=rf"^elmo demo: cannot serve at .*, port {port}: .* in use"
        ):
            main(["demo", "--bilm", "nothing", "--port", str(port)])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--bilm", "tiny", "--port", "65536"], "cannot serve at 127.0.0.1, port 65536"),
        (
            ["--bilm", "tiny", "--host", "no.such.host.invalid"],
            "cannot serve at no.such.host.invalid",
        ),
        (["--bilm", "tiny", "--host", "elmo..invalid"], "cannot serve at elmo..invalid"),
        (["--bilm", "tiny", "--host", "e" * 64], f"cannot serve at {'e' * 64}"),
    ],
)
def test_a_mistake_is_reported_in_one_sentence(arguments: list[str], message: str) -> None:
    with pytest.raises(SystemExit, match=f"^elmo demo: .*{re.escape(message)}"):
        main(["demo", *arguments])


def test_a_missing_package_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("elmo_plugin.demo.server", "elmo_plugin.demo.app"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    for name in [each for each in sys.modules if each.partition(".")[0] == "starlette"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(
        SystemExit, match=r"this needs starlette.*: pip install 'elmo_plugin\[demo\]'"
    ):
        main(["demo", "--bilm", "tiny"])


def test_hosts_reachable_from_other_machines_are_recognized() -> None:
    assert all(map(is_local, ["127.0.0.1", "::1", "localhost", "127.8.8.8"]))
    assert not any(map(is_local, ["0.0.0.0", "::", "192.168.0.7", "example.org"]))
    with open_socket("0.0.0.0", 0) as opened:
        assert address_of(opened, "0.0.0.0") == f"http://127.0.0.1:{opened.getsockname()[1]}/"


def test_another_port_is_proposed_only_if_the_port_is_at_fault() -> None:
    with open_socket("127.0.0.1", 0) as opened:
        port = opened.getsockname()[1]
        with pytest.raises(BiLmError, match=f"port {port}: .*; try --port 0$"):
            open_socket("127.0.0.1", port)
    with pytest.raises(BiLmError, match=r"port 70000: .*; try --port 0$"):
        open_socket("127.0.0.1", 70000)
    # An address for documentation: no machine has it.
    with pytest.raises(BiLmError, match=r"^cannot serve at 192\.0\.2\.1, port 0: ") as raised:
        open_socket("192.0.2.1", 0)
    assert "--port" not in str(raised.value)


@contextmanager
def served(program: list[str]) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Yields a process that serves and its address."""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    with subprocess.Popen(
        program,
        cwd=REPOSITORY,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().split()[0]
        finally:
            process.kill()


def read(address: str) -> Any:
    with urllib.request.urlopen(address, timeout=600) as answer:
        return answer.read().decode(), answer.headers


def read_in_vain(address: str) -> None:
    with suppress(OSError, HTTPException):
        read(address)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_server_stops_at_once_in_the_middle_of_a_computation(number: signal.Signals) -> None:
    with served([sys.executable, "-c", SLOW_ARCHIVE]) as (process, address):
        page, headers = read(f"{address}snli?premise=a&hypothesis=b")
        assert "neutral" in page and "server" not in headers
        slow = f"{address}snli?premise=slow&hypothesis=b"
        threading.Thread(target=read_in_vain, args=(slow,), daemon=True).start()
        assert process.stdout is not None and process.stdout.readline() == "computing\n"
        process.send_signal(number)
        assert process.wait(600) == 128 + number  # and not after an hour
        assert process.stderr is not None and "Traceback" not in process.stderr.read()


@pytest.mark.slow
def test_the_command_serves_a_bilm() -> None:
    command = [sys.executable, "-m", "elmo_plugin", "demo", "--bilm", "tiny", "--port", "0"]
    with served(command) as (_, address):
        page, _ = read(address)
        assert "<h1>Words in context</h1>" in page
        with pytest.raises(urllib.error.HTTPError) as refused:
            read(f"{address}bilm?text=" + "ab" * 9_000)
        assert refused.value.code == 400
        assert (
            "has 18,000 characters; at most 10,000 are read here" in refused.value.read().decode()
        )


@pytest.mark.parametrize("has_allennlp", [True, False])
def test_without_arguments_the_demo_shows_all_bundled_models(
    has_allennlp: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    apps: list[Any] = []

    class NoServer:
        def __init__(self, app: Any) -> None:
            apps.append(app)

        def run(self, sockets: list[socket.socket]) -> None:
            sockets[0].close()

    monkeypatch.setattr(server, "find_spec", lambda name: name if has_allennlp else None)
    monkeypatch.setattr(
        server, "bundled_tabs", lambda limit: [TaskTab([stub("ner", first_word_is("PER"))], 10_000)]
    )
    monkeypatch.setattr(server, "BiLmTab", lambda source, limit: BiLmTab("tiny", 10_000))
    monkeypatch.setattr(server, "make_server", NoServer)
    main(["demo", "--port", "0"])
    page = TestClient(apps[0], base_url="http://localhost").get("/bilm").text
    out = capsys.readouterr().out
    assert ("Named entities" in out) == has_allennlp and "Words in context" in out
    assert ("pip install" in page) == ("pip install" in out) == (not has_allennlp)
