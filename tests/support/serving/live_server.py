"""The real server in a process of its own, for tests and benchmarks that go through HTTP or a browser."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
START_SECONDS = 180


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class LiveServer:
    """``python app.py`` on a free port with a database of its own; ``env`` adds to the environment.

    Another ``command`` starts another copy of the app. A database on a server needs the path of a ``log``.
    """

    def __init__(
        self, db: Path | str, *, command: tuple[str, ...] = ("app.py",), log: Path | None = None, **env: str
    ) -> None:
        self.db, self.port = db, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "COEVAL_"))
        }
        self._env, self._command = kept | env, command
        self.log = log or Path(db).with_suffix(".log")
        self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, *self._command, *self.list_options()]
        with self.log.open("ab") as log:
            process = subprocess.Popen(command, cwd=ROOT, env=self._env, stdout=log, stderr=log)
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if process.poll() is not None:
                raise RuntimeError(f"the server ended at its start:\n{self.log.read_text()}")
            try:
                urllib.request.urlopen(f"{self.url}/healthz", timeout=1).close()
                return process
            except OSError:
                time.sleep(0.1)
        process.kill()
        raise RuntimeError(f"the server did not answer within {START_SECONDS} s:\n{self.log.read_text()}")

    def list_options(self) -> list[str]:
        return ["--db", str(self.db), "--port", str(self.port)]

    def kill9(self) -> None:
        """End it as a crash would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def restart(self) -> None:
        """Start it again on the same port and file."""
        self.process = self._start()

    def stop(self) -> None:
        """End it as Ctrl+C would."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.kill9()


def start_server(db: Path, **env: str) -> LiveServer:
    """A running server; end it with ``stop``."""
    return LiveServer(db, **env)
