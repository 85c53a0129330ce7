"""With any extension's folder deleted the core works and old databases open; a package from elsewhere joins in."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from coeval.extending import list_extensions
from coeval.settings import load_settings
from coeval.store import Store
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.study_import import import_study
from tests.conftest import make_study

ROOT = Path(__file__).resolve().parents[2]
OTHER = ROOT / "tests" / "support" / "third_party"
EVERY = sorted(each.name for each in list_extensions() if each.package.startswith("coeval."))

SMOKE = """
import os
import sys
from pathlib import Path

import gradio, openai, pandas, scipy.stats, sqlite_utils  # once for all: what takes longest to load is not ours
from starlette.testclient import TestClient

def smoke(gone, old, out):
    from coeval.cli.commands import build_parser
    from coeval.extending import list_extensions
    from coeval.settings import load_settings
    from coeval.store import Store
    from coeval.ui.run import build_app
    from coeval.usecases.access import OPERATOR, Context
    from coeval.usecases.export import export_folder
    from coeval.usecases.reports import statistics
    from coeval.usecases.study_import import import_file

    assert gone not in {each.name for each in list_extensions()}
    context = Context(Store(old), load_settings({}, db=old))
    import_file(context, OPERATOR, Path("new.csv"), "new")
    assert export_folder(context, OPERATOR, "new", out)
    assert statistics.get_frames(context, OPERATOR, "demo") is not None
    build_parser().parse_args(["stats", "--task", "demo"])
    with TestClient(build_app(context), base_url="http://127.0.0.1") as client:
        assert client.get("/healthz").status_code == 200
        assert client.get("/signin").status_code == 200
    print("whole without", gone, flush=True)
    os._exit(0)

assert not [name for name in sys.modules if name.split(".")[0] == "coeval"]
for folder in map(Path, sys.argv[1:]):
    aside = folder.rename(Path("aside"))
    if not (child := os.fork()):
        smoke(folder.name, Path(f"{folder.name}.db"), Path(f"{folder.name}-out"))
    os.waitpid(child, 0)
    aside.rename(folder)
"""


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """A database with a study, made while every extension was there."""
    path = tmp_path / "old.db"
    context = Context(Store(path), load_settings({}, db=path))
    import_study(context, OPERATOR, make_study())
    context.store.close()
    return path


TAB = """
from coeval.settings import load_settings
from coeval.store import Store
from coeval.ui.gradio_pages import build_main
from coeval.ui.server.plain_pages import render_help
from coeval.usecases.access import Context

context = Context(Store("two.db"), load_settings({}, db="two.db"))
print("shout-word" in str(build_main(context).get_config_file()))
print("Say it in capitals." in render_help("shouting").body.decode())
"""


KEEP = """
from coeval.store import Store
from shouting.tables import keep_word

with Store("two.db").write() as db:
    keep_word(db, "HELLO")
"""


def run(folder: Path, *arguments: str, path: str, code: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env={"PATH": "/usr/bin:/bin", "PYTHONPATH": path},
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr if code else done.stdout


@pytest.mark.slow
def test_without_the_folder_of_an_extension_the_core_works(tmp_path: Path, demo: Path) -> None:
    """Each folder in turn, in a process of its own that has loaded nothing of ours before."""
    ignored = shutil.ignore_patterns("__pycache__", "*.pyi")
    shutil.copytree(ROOT / "coeval", tmp_path / "coeval", ignore=ignored)
    shutil.copytree(ROOT / "data", tmp_path / "data", ignore=shutil.ignore_patterns("*.db*"))
    (tmp_path / "new.csv").write_text("input,output\nWhy?,Because.\n", encoding="utf-8")
    for name in EVERY:
        shutil.copy(demo, tmp_path / f"{name}.db")
    folders = (f"coeval/extensions/{name}" for name in EVERY)
    told = run(tmp_path, "-c", SMOKE, *folders, path=str(tmp_path))
    assert told.splitlines() == [f"whole without {name}" for name in EVERY]


@pytest.mark.slow
def test_a_package_from_elsewhere_adds_a_command_a_tab_a_format_and_a_table(tmp_path: Path) -> None:
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in OTHER.rglob("*.py"))
    assert lines <= 60, "the example is to stay short"
    path = f"{ROOT}:{OTHER}"
    assert run(tmp_path, "-m", "coeval", "shout", "hello", path=path) == "HELLO\n"
    (tmp_path / "two.shout").write_text("why=>because\nhow=>so\n", encoding="utf-8")
    command = ("-m", "coeval", "import", "two.shout", "--task", "two", "--db", "two.db")
    assert "2 instances" in run(tmp_path, *command, path=path)
    with sqlite3.connect(tmp_path / "two.db") as db:
        assert not db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'shouting_word'").fetchall()
    run(tmp_path, "-c", KEEP, path=path)
    assert "2" in run(tmp_path, "-m", "coeval", "check", "--db", "two.db", path=str(ROOT))
    move = ("-m", "coeval", "move", "--from", "two.db", "--to", "three.db")
    assert "not installed here (shouting)" in run(tmp_path, *move, path=str(ROOT), code=1)
    assert "are the same in both" in run(tmp_path, *move, path=path)
    with sqlite3.connect(tmp_path / "three.db") as db:
        assert db.execute("SELECT word FROM shouting_word").fetchall() == [("HELLO",)]
    assert run(tmp_path, "-c", TAB, path=path) == "True\nTrue\n"
