"""What leaves CoEval stays the same while its rooms are moved: statistics, tables, files and screens of three studies.

Where a change is meant to change them, ``COEVAL_GOLDEN=write pytest tests/http/test_golden.py -m ""`` writes them anew,
and the difference is read in the commit.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from coeval.cli.commands import main
from coeval.extensions.judge.fit import fit_judge
from coeval.extensions.judge.judge_export import export_judge
from coeval.extensions.judge.seal import seal_task
from coeval.settings import load_settings
from coeval.store import Store
from coeval.ui.server.identity import COOKIE
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.study_import import ensure_demo
from tests.support.serving.server import Running
from tests.support.studies.golden_study import fill_everything, freeze
from tests.support.studies.judged_study import serve_judged

GOLDEN = Path(__file__).parents[1] / "data" / "golden"
STUDIES = {"demo": "demo", "finished": "finished-example", "everything": "demo"}
"""Each study with the short name of its task."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Context, list[str]]]:
    """Make a study once, with the sessions of its people; each study from the same clock."""
    known: dict[str, tuple[Context, list[str]]] = {}

    def make(name: str) -> tuple[Context, list[str]]:
        if name not in known:
            path = tmp_path_factory.mktemp(name) / "coeval.db"
            context, tokens = Context(Store(path), load_settings({}, db=path)), []
            with pytest.MonkeyPatch.context() as patch:
                frozen = freeze(patch)
                if name == "everything":
                    tokens = [token for _, token in fill_everything(context, frozen)]
                else:
                    ensure_demo(context)
            known[name] = context, tokens
        return known[name]

    return make


@pytest.fixture(autouse=True)
def frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    freeze(monkeypatch)


def alike(text: str, expected: str) -> bool:
    """Whether two outputs are equal but for the last digits of numbers."""
    return list(pieces(text)) == [
        pytest.approx(piece, rel=1e-7, abs=1e-9) if isinstance(piece, float) else piece
        for piece in pieces(expected)
    ]


def compare(folder: str, outputs: dict[str, str]) -> None:
    """Hold every output against its file; numbers may differ in their last digits, by the machine's libraries."""
    place = GOLDEN / folder
    if os.environ.get("COEVAL_GOLDEN") == "write":
        place.mkdir(parents=True, exist_ok=True)
        for name, text in outputs.items():
            file = place / name
            if not file.exists() or not alike(text, file.read_bytes().decode()):
                file.write_text(text, encoding="utf-8", newline="")
    kept = {path.name for path in place.iterdir()}
    assert set(outputs) <= kept, f"not kept: {sorted(set(outputs) - kept)}"
    different = [name for name in outputs if not alike(outputs[name], (place / name).read_bytes().decode())]
    assert not different, f"different from tests/data/golden/{folder}: {different}"


def pieces(text: str) -> Iterator[str | float]:
    """The text, its decimal numbers apart."""
    for piece in re.split(r"(-?\d+\.\d+(?:e-?\d+)?)", text):
        yield float(piece) if re.fullmatch(r"-?\d+\.\d+(?:e-?\d+)?", piece) else piece


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_stats_and_tables(made: Any, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    context, _ = made(name)
    outputs = {}
    for file, command in (("stats.json", ["stats", "--json"]), ("tables.md", ["tables", "--format", "md"])):
        main([*command, "--task", STUDIES[name], "--db", context.store.address])
        outputs[file] = capsys.readouterr().out
    compare(name, outputs)


@pytest.mark.parametrize("name", STUDIES)
def test_every_exported_file(made: Any, name: str, tmp_path: Path) -> None:
    context, _ = made(name)
    main(["export", "--task", STUDIES[name], "--out", str(tmp_path), "--db", context.store.address])
    outputs = {path.name: path.read_bytes().decode() for path in tmp_path.iterdir()}
    assert len(outputs) > 12
    compare(f"{name}/export", outputs)


def test_what_the_study_page_is_told(made: Any) -> None:
    context, tokens = made("everything")
    outputs = {}
    with Running(context) as server:
        for number, token in enumerate(tokens):
            browser = server.browser()
            browser.cookies.set(COOKIE, token)
            for view in ("step", "step?sheet=true", "step?filter=all&at=1", "step?filter=all&at=3"):
                answer = browser.post(f"/api/scrutiny/demo/{view}", headers={"Origin": server.url})
                assert answer.status_code == 200, answer.text
                name = f"worker {number} {re.sub(r'[^a-z0-9]+', ' ', view)}.json"
                outputs[name] = json.dumps(answer.json(), indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    compare("everything/page", outputs)


@pytest.mark.slow
def test_a_judge_file(tmp_path: Path) -> None:
    path = tmp_path / "coeval.db"
    with serve_judged(Context(Store(path), load_settings({}, db=path))) as (served, _):
        seal_task(served, OPERATOR, "judged")
        fit_judge(served, OPERATOR, "judged")
        file = json.loads(export_judge(served, OPERATOR, "judged"))
    # it is of everything else, the port of the endpoint too; its own tests hold it
    assert len(file.pop("hash")) == 64
    text = json.dumps(file, indent=1, ensure_ascii=False)
    compare("judged", {"judge.json": re.sub(r"http://127\.0\.0\.1:\d+", "http://127.0.0.1", text) + "\n"})
