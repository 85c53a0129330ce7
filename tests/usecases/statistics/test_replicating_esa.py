"""Campaigns with and without a draft: a small generated case whose figures are known, and the public files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from coeval.errors import InputError
from coeval.extensions.replication.cells import Cell, Replication, render_cells, write_replication
from coeval.extensions.replication.esa import replicate_esa

DOCUMENTS, LINES, SYSTEMS = 12, 4, ("one", "two", "three")
SECONDS = {"ESA": 40.0, "GEMBA": 30.0}
CLEAN, WRONG = "the old dog ran home", "the big dog ran home"


def _share(person: int) -> list[tuple[str, int]]:
    """What one person judges: whole documents of every system."""
    lines = [line for line in range(DOCUMENTS * LINES) if line // LINES % 4 == person]
    return [(system, line) for system in SYSTEMS for line in lines]


def _campaign(
    kind: str, number: int, drafts: dict[tuple[str, int], float], rng: np.random.Generator
) -> list[str]:
    """The lines of one campaign: four people, who move halfway to the draft where they see it."""
    lines = []
    for person in range(4):
        now, login = 1_000.0, f"{kind}{number}p{person}"
        for item, (system, line) in enumerate(_share(person)):
            document = f"d{line // LINES}#{system}"
            draft = drafts[system, line]
            own = 70 + 0.3 * draft + rng.normal(0, 9)
            score = round(float(np.clip((own + 70 + draft) / 2 if kind == "GEMBA" else own, 0, 100)))
            spans: list[dict[str, Any]] = (
                [{"start_i": 0, "end_i": 3, "severity": "minor"}] if kind == "GEMBA" else []
            )
            spans += [{"start_i": 4, "end_i": 7, "severity": "minor", "error_type": None}] * (item % 2)
            now += SECONDS[kind]
            lines.append(_line(login, system, item, "TGT", document, score, spans, now))
            if item % 6 == 0:  # a planted error, which every third reader of a draft does not mark down
                fooled = kind == "GEMBA" and (item // 6) % 3 == 0
                found = (
                    [] if fooled else [{"start_i": 4, "end_i": 6, "severity": "major", "error_type": None}]
                )
                now += SECONDS[kind]
                worse = score if fooled else max(score - 20, -1)
                lines.append(_line(login, system, item, "BAD", f"{document}#bad1", worse, found, now))
        lines.append(_line(login, "one", 900, "TGT", "tutorial#one", 50, [], now + 5))
    return lines


def _line(
    login: str, system: str, item: int, kind: str, document: str, score: float, spans: Any, now: float
) -> str:
    cells = [
        login,
        f"wmt23.{system}",
        item,
        kind,
        "eng",
        "deu",
        score,
        document,
        False,
        json.dumps(spans),
        now,
        now,
    ]
    return ",".join('"' + str(cell).replace('"', '""') + '"' for cell in cells)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    drafts = {(s, line): float(rng.normal(0, 12)) for s in SYSTEMS for line in range(DOCUMENTS * LINES)}
    logins, items = [], []
    for kind in SECONDS:
        for number in (1, 2):
            text = "\n".join(_campaign(kind, number, drafts, rng)) + "\n"
            (tmp_path / f"24{number}{kind}.csv").write_text(text, encoding="utf-8")
            logins += [f"{kind}{number}p{person}" for person in range(4)]
    for person in range(4):
        for item, (system, line) in enumerate(_share(person)):
            document = f"d{line // LINES}#{system}"
            items += [(item, document, line, CLEAN), (item, f"{document}#bad1", line, WRONG)]
    pd.DataFrame({"AnnotatorID": logins, "protocol": "x", "login": logins}).to_csv(
        tmp_path / "annotators.csv", index=False
    )
    columns = ["itemID", "documentID", "line", "targetText"]
    pd.DataFrame(items, columns=columns).to_csv(tmp_path / "items.csv.gz", index=False)
    names = [f"news\td{line // LINES}" for line in range(DOCUMENTS * LINES)]
    (tmp_path / "en-de.docs").write_text("\n".join(names) + "\n", encoding="utf-8")
    for name, level in (("en-de.LLM", 1.0), ("wmt.en-de.mqm", 0.5)):
        rows = [f"{s}\t{level * value + rng.normal(0, 1)}" for (s, _), value in drafts.items()]
        (tmp_path / f"{name}.seg.score").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return tmp_path


def cell(found: Replication, table: str, row: str, column: str) -> Cell:
    return next(one for one in found.cells if one.place[1:] == (table, row, column))


def test_a_generated_case_gives_what_was_put_in(folder: Path) -> None:
    found = replicate_esa(folder)
    per = "seconds for each segment, mean over segments"
    # every save takes the same time; a planted error's own time is not a segment's
    assert cell(found, "time", per, "blind").ours == pytest.approx(40)
    assert cell(found, "time", per, "difference").ours == pytest.approx(-10)
    assert cell(found, "time", "of them kept from the draft", "draft").ours == pytest.approx(1)
    assert cell(found, "time", "spans for each segment", "blind").ours == pytest.approx(0.5)
    near = "r of the mean score with the draft's score"
    assert (cell(found, "nearness", near, "difference").ours or 0) > 0.1
    assert (cell(found, "agreement", "Pearson's r of two campaigns", "difference").ours or 0) > 0.2
    lower = "scored below the clean twin"
    assert cell(found, "planted errors", lower, "blind").ours == 1
    assert cell(found, "planted errors", lower, "difference").ours == pytest.approx(-1 / 3)
    assert cell(found, "planted errors", "a span on the changed words", "blind").ours == 1
    assert cell(found, "planted errors", "a span on the changed words", "difference").ours == pytest.approx(
        -1 / 3
    )
    assert not found.findings


def test_each_cell_names_its_population_and_its_verdict(folder: Path, tmp_path: Path) -> None:
    found = replicate_esa(folder)
    verdicts = {one.verdict.split(" by")[0] for one in found.cells}
    assert verdicts <= {"equal", "differs", "not published"} and "not published" in verdicts
    assert all(one.reason for one in found.cells)
    page = write_replication(found, tmp_path / "out")[0].read_text(encoding="utf-8")
    assert "were not randomized" in page and "No person worked in both arms" in page
    assert any("not published" in line for line in render_cells(found))


def test_the_later_of_two_saves_counts(folder: Path) -> None:
    path = folder / "241ESA.csv"
    lines = path.read_text(encoding="utf-8").splitlines()
    again = next(line for line in lines if '"BAD"' in line).split(",")
    again[6], again[-2] = '"100"', '"9e9"'  # saved again, much later, as flawless
    path.write_text("\n".join([*lines, ",".join(again)]) + "\n", encoding="utf-8")
    found = replicate_esa(folder)
    assert 0.9 < (cell(found, "planted errors", "scored below the clean twin", "blind").ours or 0) < 1
    assert any("the later one counts" in note for note in found.notes)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("241ESA.csv", "a,b\n", "has 2 columns"),
        ("annotators.csv", "AnnotatorID,login\n1,nobody\n", "no annotator for the login"),
        ("annotators.csv", "who,login\n1,nobody\n", "no column 'AnnotatorID'"),
        ("en-de.docs", "news\td0\n", "has 1 lines"),
        ("wmt.en-de.mqm.seg.score", "one\tgood\n", "a system and a score on each line"),
    ],
)
def test_what_cannot_be_read_is_named(folder: Path, name: str, text: str, said: str) -> None:
    (folder / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        replicate_esa(folder)
