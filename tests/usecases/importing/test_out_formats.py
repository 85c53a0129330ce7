"""Formats for other tools: what the command writes, and what an empty study is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from coeval.cli.commands import main
from coeval.domain import (
    Action,
    Criterion,
    ImportedSubmission,
    Instance,
    Person,
    RowKind,
    Scale,
    ScrutinyRow,
    Study,
    Task,
)
from coeval.errors import InputError
from coeval.usecases.access import Context
from coeval.usecases.export import export_as, list_out_formats
from coeval.usecases.study_import import import_study

TRUE, BRIEF = Criterion("Be true.", name="Truth"), Criterion("Be brief.", scale=Scale(1, 3))
GIVEN: Mapping[tuple[str, str], Mapping[str, float]] = {
    ("a1", TRUE.text): {"Ann": 5, "Bob": 4},
    ("a2", TRUE.text): {"Ann": 2},
    ("a1", BRIEF.text): {"Ann": 2},
    ("a2", BRIEF.text): {"Ann": 2, "Bob": 2},
    ("b1", TRUE.text): {"Ann": 3},
    ("b2", TRUE.text): {"Ann": 4},
}
"""Scores by output and criterion: nobody judged b1 and b2 by the second."""


def build_study(text: str = "Why {}?") -> Study:
    instances = tuple(
        Instance(doc + n, text.format(doc), f"Answer {n}", document=doc, system=f"org/model {n}")
        for doc in "ab"
        for n in "12"
    )
    work = [
        ImportedSubmission(
            person, instance, criterion, score,
            rows=(ScrutinyRow(RowKind.CONCLUSION, Action.ADD, text=f"{person} on {instance}"),
                  ScrutinyRow(RowKind.SCORE, Action.ADD, text=f"{score:g}")),
        )
        for (instance, criterion), scores in GIVEN.items()
        for person, score in scores.items()
    ]  # fmt: skip
    return Study(Task("t", "Why questions"), instances, (TRUE, BRIEF), submissions=tuple(work))


# a study goes to Label Studio to be judged there
@pytest.mark.parametrize("name", sorted({each.name for each in list_out_formats()} - {"label-studio"}))
def test_a_study_without_scores_says_what_is_missing(
    name: str, context: Context, owner: Person, tmp_path: Path
) -> None:
    import_study(context, owner, replace(build_study(), submissions=()))
    with pytest.raises(InputError, match=f"nothing to export as {name} yet"):
        export_as(context, owner, "t", name, tmp_path)
    with pytest.raises(InputError, match="is not an export format"):
        export_as(context, owner, "t", "csv", tmp_path)


def test_the_command(
    context: Context, owner: Person, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import_study(context, owner, build_study())
    db = str(context.store.address)
    main(["export", "--db", db, "--task", "t", "--out", str(tmp_path / "out"), "--as", "inspect"])
    paths = {Path(line).parent for line in capsys.readouterr().out.split()}
    assert paths == {tmp_path / "out" / "inspect_scores"}
    with pytest.raises(SystemExit):
        main(["export", "--help"])
    assert "inspect" in capsys.readouterr().out
