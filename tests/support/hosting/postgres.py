"""A PostgreSQL server of Debian's, for tests: in a temporary folder, on a socket there, by an unprivileged user."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

import psycopg

USER = "nobody"
"""Who runs the server where the tests run as root: it refuses to be root's."""


def find_binaries() -> Path | None:
    """The folder of Debian's newest server; None where there is none."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    return next((path for path in reversed(folders) if (path / "initdb").exists()), None)


class Server:
    """A running server: what makes databases on it, ends it as a power cut would, and starts it again."""

    def __init__(self, binaries: Path, folder: Path, *, fsync: bool = False) -> None:
        self.binaries, self.folder, self.fsync = binaries, folder, fsync
        self.migrated = "template0"
        """The database that new ones are copies of."""
        self._numbers = count(1)
        self._run(
            "initdb",
            "-D",
            folder / "data",
            "-U",
            "coeval",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C.UTF-8",
            "-N",
        )
        self.start()

    def start(self) -> None:
        fsync = "on" if self.fsync else "off"
        options = f"-k {self.folder} -c listen_addresses= -c fsync={fsync} -c max_connections=200"
        self._run(
            "pg_ctl", "-D", self.folder / "data", "-w", "-l", self.folder / "log", "-o", options, "start"
        )

    def stop(self) -> None:
        self._run("pg_ctl", "-D", self.folder / "data", "-w", "-m", "immediate", "stop")

    def kill9(self) -> None:
        """End it as a crash would: all of its processes at once."""
        number = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{number}/task/{number}/children").read_text().split()
        for process in (number, *map(int, children)):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        while any(_is_alive(process) for process in (number, *map(int, children))):
            time.sleep(0.01)
        # where nobody has collected what is dead, its number still looks taken
        for taken in (self.folder / "data" / "postmaster.pid", self.folder / ".s.PGSQL.5432.lock"):
            taken.unlink(missing_ok=True)

    def get_address(self, database: str) -> str:
        return f"postgresql://coeval@/{database}?host={self.folder}"

    @contextmanager
    def lend_database(self) -> Iterator[str]:
        """The address of a new database with the newest schema, which goes with the block."""
        name = self.add_database(self.migrated)
        try:
            yield self.get_address(name)
        finally:
            self.execute(f"DROP DATABASE {name} WITH (FORCE)")

    def add_database(self, template: str = "template0") -> str:
        """The name of a new database, a copy of another."""
        name = f"study_{next(self._numbers)}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        return name

    def execute(self, statement: str) -> None:
        with psycopg.connect(self.get_address("postgres"), autocommit=True) as connection:
            connection.execute(statement)

    def _run(self, program: str, *arguments: object) -> None:
        command = [str(self.binaries / program), *map(str, arguments)]
        if os.geteuid() == 0:
            command = ["setpriv", f"--reuid={USER}", "--regid=nogroup", "--clear-groups", *command]
        done = subprocess.run(
            command, cwd=self.folder, capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
        if done.returncode:
            log = self.folder / "log"
            raise RuntimeError(
                f"{program}: {done.stderr or done.stdout} {log.read_text() if log.exists() else ''}"
            )


def _is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@contextmanager
def serve_postgres(binaries: Path, *, fsync: bool = False) -> Iterator[Server]:
    """A server until the block ends; ``fsync`` has it wait for the disk as in earnest, which benchmarks do."""
    # a socket's path may have a hundred characters, which pytest's folders can take up
    folder = Path(tempfile.mkdtemp(prefix="coeval-pg-"))
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, USER)
        server = Server(binaries, folder, fsync=fsync)
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
