"""What holds for every command: reports as JSON, no file made by mistake, completion, and the columns of an import."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from coeval.domain import ColumnRole
from coeval.store import Store
from coeval.store.queries import tasks
from tests.http.test_cli import ROOT, run

FILE = "input,output,system,topic,ground_truth\nWhy?,So.,a,bees,5\nWhy?,Thus.,b,bees,1\nHow?,Well.,a,ants,3\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "answers.csv"
    path.write_text(FILE, encoding="utf-8")
    return path


@pytest.fixture
def db(tmp_path: Path, table: Path) -> Path:
    path = tmp_path / "study.db"
    run("import", table, "--task", "answers", "--description", "Answer the question.", db=path)
    criteria = tmp_path / "criteria.txt"
    criteria.write_text("Be right.\nBe brief.\n", encoding="utf-8")
    run("criteria", "establish", "--task", "answers", "--file", criteria, db=path)
    return path


def roles(db: Path) -> dict[str, ColumnRole]:
    with Store(db).read() as read:
        task = tasks.get_task(read, "answers")
        assert task is not None
        return dict(task.columns)


def test_an_import_reads_scores_of_people_and_says_so(tmp_path: Path) -> None:
    path, db = tmp_path / "people.csv", tmp_path / "coeval.db"
    path.write_text("article,summary,rater,fluency\nQ,A,p1,4\nQ,A,p2,3\n", encoding="utf-8")
    said = run("import", path, "--task", "t", db=db).stdout
    assert "Read as the scores of 2 people: fluency. Choose others with --map" in said
    assert "1 instance, 2 scores by 2 people" in said
    columns = ("--format", "csv", "--map", "input=article", "output=summary")
    assert "2 instances" in run("import", path, "--task", "rows", *columns, db=db).stdout


def test_an_import_lists_every_column_and_shows_what_it_is_told_to(tmp_path: Path, table: Path) -> None:
    db = tmp_path / "new.db"
    said = run("import", table, "--task", "answers", db=db).stdout
    for line in (
        "column input: read as the input",
        "column system: read as the system",
        "column topic: hidden",
        "column ground_truth: hidden",
        "import again with --show topic --show ground_truth",
    ):
        assert line in said
    said = run("import", table, "--task", "answers", "--show", "topic", db=db).stdout
    assert "column topic: shown to judge and people" in said and "--show ground_truth" in said
    assert roles(db) == {"topic": ColumnRole.SHOWN, "ground_truth": ColumnRole.HIDDEN}
    run("import", table, "--task", "answers", "--show", "topik", db=db, code=1)


def test_at_a_terminal_the_command_asks_once(tmp_path: Path, table: Path) -> None:
    db = tmp_path / "new.db"
    asked: list[str] = []

    def answer(question: str) -> str:
        asked.append(question)
        return "y" if "topic" in question else ""

    with mock.patch("sys.stdin.isatty", lambda: True), mock.patch("builtins.input", answer):
        run("import", table, "--task", "answers", db=db)
        assert len(asked) == 2
        said = run("import", table, "--task", "answers", db=db).stdout
    assert len(asked) == 2 and "No role was chosen" not in said
    assert roles(db) == {"topic": ColumnRole.SHOWN, "ground_truth": ColumnRole.HIDDEN}


def test_ids_that_repeat_for_each_system_are_refused_with_the_choice(tmp_path: Path) -> None:
    path = tmp_path / "again.csv"
    path.write_text("instance,input,output,system\nq1,a,b,x\nq1,a,c,y\nq2,a,d,x\n", encoding="utf-8")
    db = tmp_path / "new.db"
    said = run("import", path, "--task", "t", db=db, code=1).stderr
    assert "lines 2 and 3 have the same instance id 'q1' in the column 'instance'" in said
    assert "(--map document=instance)" in said
    assert "3 instances" in run("import", path, "--task", "t", "--map", "document=instance", db=db).stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "key"),
    [
        (["import", "TABLE", "--task", "answers"], "imported"),
        (["draft", "evaluations", "--task", "answers", "--estimate"], "calls"),
        (["stats", "--task", "answers"], "agreement"),
        (["tables", "--task", "answers"], ""),
        (["plan", "--task", "answers"], "plan"),
        (["export", "--task", "answers", "--out", "OUT"], "paths"),
        (["study", "export", "ZIP", "--task", "answers", "--people", "names"], "rows"),
        (["check"], "totals"),
        (["backup", "COPY"], "path"),
        (["invite"], "link"),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, list) else "",
)
def test_a_report_is_one_json_document(
    db: Path, table: Path, tmp_path: Path, words: list[str], key: str
) -> None:
    places = {"TABLE": table, "OUT": tmp_path / "out", "ZIP": tmp_path / "s.zip", "COPY": tmp_path / "c.db"}
    given = [places.get(word, word) for word in words]
    found: dict[str, Any] = json.loads(run(*given, "--json", db=db).stdout)
    assert found and key in found or not key


@pytest.mark.slow
def test_the_shell_completes_options(tmp_path: Path) -> None:
    line, found = "coeval import a.csv --sh", "--show"
    out = tmp_path / "completions"
    env = os.environ | {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(out),
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "COMP_TYPE": "9",
    }
    script = "import sys; sys.argv = ['coeval']; from coeval.cli.commands import main; main()"
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, env=env, timeout=120, check=False)
    assert found in out.read_text(encoding="utf-8").replace("\v", "\n").split()
