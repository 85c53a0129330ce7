"""The image's steps, taken without Docker: what is copied, as whom it starts, its health, and its end."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from coeval.store import Store
from coeval.store.queries import tasks
from tests.conftest import make_place

ROOT = Path(__file__).resolve().parents[2]
UID = 1000


def read_steps() -> list[tuple[str, str]]:
    """The Dockerfile as (instruction, arguments), comments gone and continued lines joined."""
    text = re.sub(r"^\s*#.*\n", "", (ROOT / "Dockerfile").read_text(encoding="utf-8"), flags=re.M)
    lines = re.sub(r"\\\n", " ", text).splitlines()
    return [(word, rest.strip()) for word, _, rest in (line.strip().partition(" ") for line in lines) if word]


def arguments(name: str) -> list[str]:
    return [rest for word, rest in read_steps() if word == name]


def environment() -> dict[str, str]:
    return dict(pair.split("=", 1) for rest in arguments("ENV") for pair in shlex.split(rest))


def health_command() -> list[str]:
    (rest,) = arguments("HEALTHCHECK")
    found: list[str] = json.loads(rest[rest.index("CMD") + 3 :])
    return found


def with_this_python(command: list[str]) -> list[str]:
    """The command with the Python that has the requirements, which in the image is the only one."""
    assert command[0] == "python"
    return [sys.executable, *command[1:]]


def ignored(path: str) -> bool:
    patterns = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    parts = path.split("/")
    return any(
        Path(path).match(p.removeprefix("**/"))
        or p.removeprefix("**/") in parts
        or path.startswith(p.rstrip("*"))
        for p in patterns
    )


def copy_tree(target: Path) -> None:
    """What COPY . does: all that .dockerignore lets through."""
    for folder, names, files in os.walk(ROOT):
        here = Path(folder).relative_to(ROOT).as_posix()
        names[:] = [name for name in names if not ignored(name if here == "." else f"{here}/{name}")]
        for name in files:
            path = name if here == "." else f"{here}/{name}"
            if not ignored(path):
                (target / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / path, target / path)


def test_the_image_is_what_a_space_needs() -> None:
    words = [word for word, _ in read_steps()]
    assert arguments("FROM")[0].startswith("python:3.11")
    assert "ca-certificates" in arguments("RUN")[0]
    assert f"useradd -m -u {UID} user" in arguments("RUN") and arguments("USER") == ["user"]
    assert words.index("USER") < words.index("WORKDIR") < words.index("COPY") < words.index("CMD")
    assert all(rest.startswith("--chown=user ") for rest in arguments("COPY"))
    assert arguments("EXPOSE") == ["7860"] == [environment()["COEVAL_PORT"]]
    assert environment()["COEVAL_HOST"] == "0.0.0.0"
    # a shell in between would keep the signal to itself
    assert json.loads(arguments("CMD")[0]) == ["python", "app.py"]


def test_what_is_installed_is_in_the_context() -> None:
    sources = [rest.split()[1] for rest in arguments("COPY")]
    assert sources == ["coeval/requirements.lock", "."]
    for path in (
        "coeval/requirements.lock",
        "app.py",
        "coeval/ui/server/pages/signin.html",
        "data/demo/study.json",
    ):
        assert not ignored(path), path
    for path in (".git/config", "data/coeval.db", "data/coeval.db-wal", "coeval/__pycache__/errors.pyc", ".env",
                 ".env.local", "coeval/.env", "data/other.db", "tests/conftest.py", "study.sqlite3"):  # fmt: skip
        assert ignored(path), path


def test_without_a_sign_in_it_says_how_to_set_one_up() -> None:
    command = [sys.executable, "app.py"]
    env = {"PATH": os.environ["PATH"], **environment()}
    found = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60)
    assert found.returncode == 1 and "COEVAL_SIGN_IN=accounts" in found.stderr


@pytest.fixture
def clean() -> Iterator[Path]:
    """A folder that every user can enter; pytest's own are root's alone."""
    with TemporaryDirectory(prefix="coeval-image-") as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


@pytest.mark.slow
def test_it_starts_without_root_is_healthy_and_leaves_a_snapshot(clean: Path) -> None:
    if os.getuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("taking the steps as user 1000 needs root and setpriv")
    as_user = ["setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups"]
    probe_ = subprocess.run([*as_user, sys.executable, "-c", "import sqlite_utils"], capture_output=True)
    if probe_.returncode != 0:
        pytest.skip(f"user {UID} cannot run {sys.executable}: open its folders with chmod a+rx")
    home = clean / "home"
    app, place = home / "app", make_place(home / "place")
    copy_tree(app)
    for folder, _, files in os.walk(home):
        for path in (folder, *(os.path.join(folder, name) for name in files)):
            os.chown(path, UID, UID)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    env = environment() | {
        "HOME": str(home), "PATH": "/usr/bin:/bin", "COEVAL_PORT": port,
        "COEVAL_HOST": "127.0.0.1", "COEVAL_SIGN_IN": "accounts", "COEVAL_SNAPSHOT_DIR": str(place),
    }  # fmt: skip
    compiling = shlex.split(arguments("RUN")[-1])
    subprocess.run([*as_user, *with_this_python(compiling)], cwd=app, env=env, check=True)
    assert list(app.rglob("coeval/ui/__pycache__/run.*.pyc"))
    command = [*as_user, *with_this_python(json.loads(arguments("CMD")[0]))]
    server = subprocess.Popen(command, cwd=app, env=env, stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 90
        while (
            subprocess.run(with_this_python(health_command()), env=env, capture_output=True).returncode != 0
        ):
            assert server.poll() is None, server.stderr and server.stderr.read()
            assert time.monotonic() < deadline, "it was never healthy"
            time.sleep(0.3)
        status = Path(f"/proc/{server.pid}/status").read_text()
        assert re.search(rf"^Uid:\s+{UID}\s+{UID}", status, re.M)
        server.send_signal(signal.SIGTERM)
        assert server.wait(30) == 0
    finally:
        server.kill()
    (snapshot,) = place.glob("*.db")
    store = Store(snapshot)
    with store.read() as db:
        assert [task.origin for task in tasks.list_tasks(db)] == ["demo", "simulated"]
    store.close()
