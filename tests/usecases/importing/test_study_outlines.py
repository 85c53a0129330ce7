"""A study in one YAML file: begun from it, refused with what to do, and written back."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from dataclasses import fields
from pathlib import Path

import pytest

from coeval.datasets.study_outline import EXAMPLE, read_outline, write_outline
from coeval.domain import ColumnRole, Person, Role
from coeval.errors import InputError
from coeval.rules.arms import Design, Display, Layout
from coeval.store.queries import tasks
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.criteria_rounds import get_criteria_set
from coeval.usecases.scrutiny.design import get_design, list_columns, set_design
from coeval.usecases.scrutiny.policies import get_team
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_outlines import export_outline, open_outline

OUTLINE = """
task:
  short name: capitals
  name: Capitals
  description: |
    Name the capital.
    In one word.
  output: Answer
  scale: 1-3
data: answers.csv
columns:
  question: input
  answer: output
  who: system
  article: shown to judge and people
criteria:
- The answer is right.
- text: The answer is short.
  scale: 0-1
  scores:
    0: long
    1: short
design:
  blind: 12.5%
  hide systems: no
people:
  per instance: 1
  members:
    Ana: owner
    No: annotator
"""
TABLE = "question,answer,who,article,note\nOf Chad?,N'Djamena,a,Chad is large.,x\nOf Fiji?,=Suva,b,Fiji is small.,y\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "answers.csv").write_text(TABLE, encoding="utf-8")
    file = tmp_path / "study.yaml"
    file.write_text(OUTLINE, encoding="utf-8")
    return file


def test_what_init_writes_is_read_as_it_was_meant(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(write_outline(EXAMPLE), encoding="utf-8")
    assert read_outline(path) == EXAMPLE


def test_a_study_begins_whole_and_stays_as_it_is_the_second_time(context: Context, path: Path) -> None:
    assert "added 2 instances" in open_outline(context, OPERATOR, path)
    current = get_criteria_set(context, OPERATOR, "capitals")
    assert current and [(one.text, str(one.scale)) for one in current.criteria] == [
        ("The answer is right.", "1-3"),
        ("The answer is short.", "0-1"),
    ]
    assert current.criteria[1].guide.anchors == ((0, "long"), (1, "short"))
    design = get_design(context, OPERATOR, "capitals").design
    assert (design.blind_share, design.hide_systems) == (0.125, False)
    roles = {one.name: one.role for one in list_columns(context, OPERATOR, "capitals")}
    assert roles == {"article": ColumnRole.SHOWN, "note": ColumnRole.HIDDEN}
    team = get_team(context, OPERATOR, "capitals")
    assert (team.members, team.per_instance) == (("Ana", "No"), 1)
    assert sign_in(context, "Ana")[0].role is Role.OWNER
    path.write_text(OUTLINE.replace("12.5%", "50%"), encoding="utf-8")
    assert "already exists" in open_outline(context, OPERATOR, path)
    assert get_design(context, OPERATOR, "capitals").design.blind_share == 0.125


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("task:", "taks:", "has a part “taks”: choose one of task, data"),
        ("scale: 1-3", "scale: low", "task, scale is “low”: write a scale such as 1-5"),
        ("12.5%", "some", "design, blind is “some”: write a share"),
        ("12.5%", "150%", "blind share is 150%"),
        ("hide systems: no", "hide systems: maybe", "write yes or no"),
        ("who: system", "who: output", "are both output: choose one"),
        ("who: system", "who: writer", "“who” is “writer”: choose one of"),
        ("- The answer is right.", "- The answer is short.", "twice"),
        ("per instance: 1", "per instance: 3", "3 people judge each instance, but 2 are listed"),
        ("Ana: owner", "Ana: boss", "“boss”: choose one of owner"),
        ("Ana: owner", "Ana: annotator", "people has no owner"),
        ("answers.csv", "gone.csv", "gone.csv"),
        ("question: input", "query: input", "query"),
        ("  0: long", "  7: long", "describes no score from 0 to 1"),
        ("data: answers.csv", "data: [", "is not YAML at line"),
        ("data: answers.csv", "data: answers.csv\x07", "is not YAML: unacceptable character"),
        ("data: answers.csv", "data: " + "[" * 3_000 + "]" * 3_000, "nested too deeply"),
    ],
)
def test_what_cannot_be_used_is_named_and_writes_nothing(
    context: Context, path: Path, old: str, new: str, why: str
) -> None:
    assert old in OUTLINE
    path.write_text(OUTLINE.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError, match=why):
        open_outline(context, OPERATOR, path)
    with context.store.read() as db:
        assert tasks.get_task(db, "capitals") is None


def test_what_is_written_back_begins_the_same_study(
    context: Context, owner: Person, path: Path, tmp_path: Path
) -> None:
    open_outline(context, OPERATOR, path)
    before = Design(0.1, 0.1, 0.2, 90, Display.MARKDOWN, False, Layout.ALL, 0.1, 0.1, True)
    assert all(getattr(before, field.name) != field.default for field in fields(Design))
    set_design(context, owner, "capitals", before)
    target = io.BytesIO()
    export_outline(context, owner, "capitals", target)
    again = tmp_path / "again"
    with zipfile.ZipFile(target) as archive:
        archive.extractall(again)
    written = (again / "study.yaml").read_text(encoding="utf-8")
    (again / "study.yaml").write_text(written.replace("short name: capitals", "short name: copy"))
    assert "added 2 instances" in open_outline(context, OPERATOR, again / "study.yaml")
    with context.store.read() as db:
        one, two = (tasks.get_task(db, slug) for slug in ("capitals", "copy"))
        texts = [
            [(each.external_id, each.input, each.output, each.system, dict(each.context)) for each in found]
            for found in (tasks.list_instances(db, one.id), tasks.list_instances(db, two.id))
        ]
    assert texts[0] == texts[1] and texts[0][1][2] == "=Suva"
    assert get_design(context, OPERATOR, "copy").design == before
    assert get_team(context, OPERATOR, "copy").members == ("Ana", "No")
    sets = [get_criteria_set(context, OPERATOR, slug) for slug in ("capitals", "copy")]
    assert sets[0] and sets[1]
    assert [one.guide for one in sets[0].criteria] == [one.guide for one in sets[1].criteria]


@pytest.mark.slow
def test_init_writes_a_file_once(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    command = [sys.executable, "-m", "coeval", "study", "init", str(path)]
    first = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert first.returncode == 0 and "serve" in first.stdout, first.stderr
    assert read_outline(path) == EXAMPLE
    second = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert second.returncode != 0 and "already exists" in second.stderr
