"""What leaves by files: no cell is a formula to a spreadsheet, and no file, log or page holds the key."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from coeval.domain import Person, Plan, Terms
from coeval.extensions.judge import commands_study
from coeval.extensions.prolific import requests_log
from coeval.extensions.prolific.queries import Asked, Item, Kind
from coeval.safe_csv import to_csv
from coeval.usecases.access import Context
from coeval.usecases.crowd import entry, plans
from coeval.usecases.crowd.overview import export_participants
from coeval.usecases.export import export_folder
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.models.openai_stub import Reply, start_stub
from tests.support.serving.live_server import start_server
from tests.support.studies.attack_texts import FORMULAS
from tests.support.studies.crowd_links import link
from tests.support.studies.hostile_study import SLUG, fill

ROOT = Path(__file__).resolve().parents[2]
STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What makes a formula of a cell (OWASP, CSV Injection), after spaces, which some programs pass over."""


def formulas_in(text: str) -> list[str]:
    """Cells that a spreadsheet would run; a number with its sign is none."""
    cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
    return [cell for cell in cells if cell.lstrip(" ").startswith(STARTS) and not is_number(cell)]


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def test_the_search_finds_formulas() -> None:
    assert formulas_in('a,=1+1\n" @x",-1.5\n') == ["=1+1", " @x"]


def test_no_exported_cell_is_a_formula(context: Context, owner: Person, tmp_path: Path) -> None:
    fill(context, owner, FORMULAS)
    paths = [path for path in export_folder(context, owner, SLUG, tmp_path) if path.suffix == ".csv"]
    assert len(paths) >= 10
    whole = ""
    for path in paths:
        text = path.read_text(encoding="utf-8")
        assert not formulas_in(text), path.name
        whole += text
    assert "'=1+1" in whole and "'＝1+1" in whole and "'@SUM" in whole


def test_no_cell_about_a_crowds_people_is_a_formula(context: Context, owner: Person) -> None:
    import_study(context, owner, make_study())
    plans.set_plan(context, owner, "demo", Plan(terms=Terms(service="prolific", code_done="D")))
    entry.arrive(context, "demo", link(1, study="-2a", session="-1a"))
    text = export_participants(context, owner, "demo", with_ids=True)
    assert not formulas_in(text) and "'-2a,'-1a" in text


def test_no_cell_of_what_was_asked_of_prolific_is_a_formula(
    context: Context, owner: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = Item("a1", "a1")
    asked = [Asked(Kind.PUBLISH, "s1", (item,), note=text, answer=text) for text in FORMULAS]
    monkeypatch.setattr(requests_log, "list_asked", lambda *_: asked)
    text = requests_log.export_asked(context, owner, "demo")
    assert not formulas_in(text) and "'=1+1" in text


def test_no_cell_that_a_command_of_judges_prints_is_a_formula(capsys: pytest.CaptureFixture[str]) -> None:
    commands_study._print_csv([{"output": text} for text in FORMULAS], ("output",))
    printed = capsys.readouterr().out
    assert not formulas_in(printed) and "'=1+1" in printed


def test_a_charts_data_has_no_formula_in_cells_or_columns() -> None:
    frame = pd.DataFrame({text: [text, 1.5, None] for text in FORMULAS})
    assert not formulas_in(to_csv(frame))


# ---- secrets ------------------------------------------------------------------------------------------------

KEY = "sk-MARKED-0123456789abcdef-do-not-leak"


def echo(body: dict[str, object]) -> Reply:
    """A provider that repeats the key in its complaint, as real ones do in part."""
    return Reply(status=401, message=f"Incorrect API key provided: {KEY}", code="invalid_api_key")


def run(db: Path, url: str, *command: str) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "COEVAL_"))}
    env = kept | {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": url}
    done = subprocess.run(
        [sys.executable, "-m", "coeval", *command, "--db", str(db)],
        cwd=ROOT, env=env, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    return done.stdout + done.stderr


@pytest.fixture
def outputs(tmp_path: Path) -> Iterator[list[str]]:
    """Everything that commands and a server printed, with a key, against a provider that echoes it."""
    db, texts = tmp_path / "coeval.db", []
    answers = tmp_path / "answers.csv"
    answers.write_text("input,output\nWhy?,Because.\n", encoding="utf-8")
    with start_stub(echo) as stub:
        texts.append(run(db, stub.url, "import", str(answers), "--task", "t"))
        texts.append(run(db, stub.url, "draft", "criteria", "--task", "t"))
        texts.append(run(db, stub.url, "stats", "--task", "t", "--json"))
        texts.append(run(db, stub.url, "export", "--task", "t", "--out", str(tmp_path / "out")))
        assert stub.received, f"no command asked the model: {texts}"
        assert any("Incorrect API key" in text for text in texts), "the complaint was not shown"
        server = start_server(db, OPENAI_API_KEY=KEY, OPENAI_BASE_URL=stub.url)
        for path in ("/signin", "/healthz", "/config", "/nothing"):
            texts.append(fetch(server.url + path))
        server.stop()
        texts.append(server.log.read_text())
    yield texts


def fetch(url: str) -> str:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return str(answer.read().decode())
    except urllib.error.HTTPError as error:
        return error.read().decode()


@pytest.mark.slow
def test_the_key_is_in_no_file_log_or_page(outputs: list[str], tmp_path: Path) -> None:
    assert not [text for text in outputs if KEY in text]
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} >= {".db", ".csv", ".log"}
    assert not [path.name for path in files if KEY.encode() in path.read_bytes()]
