"""`allennlp` for shell scripts: each call is a copy of this process, which has imported everything."""

import json
import logging
import os
import signal
import socket
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from allennlp.commands import main
from allennlp.common.plugins import import_plugins
from allennlp.common.util import install_sigterm_handler

# Asks the server to do a call in the process group of the caller, and ends with its status.
PROGRAM = """#!{python} -IS
import json, os, socket, sys
server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
server.connect({address!r})
call = dict(arguments=sys.argv[1:], folder=os.getcwd(), environment=dict(os.environ), group=os.getpgrp())
socket.send_fds(server, [json.dumps(call).encode()], [1, 2])
sys.exit(int(server.recv(9)))
"""
MOST_BYTES = 1 << 17  # of a call


@contextmanager
def forked_allennlp(folder: Path) -> Iterator[Path]:
    """
    Writes a program `allennlp` into `folder`, which works inside of the context. Callers must be of this
    session. Signals to their process group reach the calls, too.
    """
    import_plugins()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind("")  # to any name that is free
    listener.listen()
    program = folder / "allennlp"
    program.write_text(PROGRAM.format(python=sys.executable, address=listener.getsockname()))
    program.chmod(0o700)
    server = os.fork()
    if server == 0:
        try:
            serve(listener)
        finally:
            os._exit(1)
    try:
        yield program
    finally:
        os.kill(server, signal.SIGKILL)
        os.waitpid(server, 0)
        listener.close()


def serve(listener: socket.socket) -> None:
    while True:
        caller, _ = listener.accept()
        call, outputs, *_ = socket.recv_fds(caller, MOST_BYTES, 2)
        child = os.fork()
        if child == 0:
            try:
                os._exit(run(json.loads(call), outputs))
            finally:
                os._exit(1)
        for output in outputs:
            os.close(output)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        with suppress(OSError):  # of a caller that was killed with its call
            caller.send(str(status).encode())
        caller.close()


def run(call: dict[str, Any], outputs: list[int]) -> int:
    """Does what `allennlp` does in its own process. Returns the status."""
    os.setpgid(0, call["group"])
    for number, output in enumerate(outputs, start=1):
        os.dup2(output, number)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", buffering=1, closefd=False) for number in (1, 2))
    logging.getLogger().handlers.clear()
    os.chdir(call["folder"])
    os.environ.clear()
    os.environ.update(call["environment"])
    sys.argv = ["allennlp", *call["arguments"]]
    try:
        install_sigterm_handler()
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0
