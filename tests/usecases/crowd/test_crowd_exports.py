"""What leaves a crowd study as files says of every row what the statistics make of it, and gives their alpha."""

from __future__ import annotations

import csv
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import krippendorff
import numpy as np
import pytest

from coeval.domain import Person, Plan, Terms
from coeval.rules.arms import Design
from coeval.usecases.access import Context
from coeval.usecases.crowd import plans
from coeval.usecases.crowd.exams import set_keys
from coeval.usecases.export import export_folder
from coeval.usecases.reports.statistics import get_report
from coeval.usecases.scrutiny.steps import get_step, submit
from tests.support.studies.planted_study import open_planted_study
from tests.usecases.crowd.test_assignment import answer, join, lapse

PER_ROW = ("scores.csv", "history.csv", "rows.csv", "marks.csv", "first_scores.csv")


def work_at_random(context: Context, person: Person, chance: random.Random, saves: int = 1000) -> None:
    """Save evaluations with scores near 3."""
    for _ in range(saves):
        step = get_step(context, person, "demo")
        if step.instance is None:
            return
        submit(context, person, "demo", answer(step, chance.choice((2, 3, 3, 3, 4))))


@pytest.fixture
def files(context: Context, owner: Person, tmp_path: Path) -> Iterator[Path]:
    """Four people; the first is rejected, the third runs out of time."""
    design, plan = Design(planted_share=1, blind_share=0.3), Plan(per_instance=3, batch=6, quota=30)
    open_planted_study(context, 24, 0, design, plan)
    set_keys(context, owner, "demo", "instance,criterion,accepted\nq1,1,2 3 4\nq2,1,2 3 4\n")
    plans.set_plan(
        context, owner, "demo", replace(plan, terms=Terms(service="prolific", warn_after=99, block_after=99))
    )
    people, chance = [join(context, n) for n in range(4)], random.Random(3)
    work_at_random(context, people[2], chance, 3)
    lapse(context, people[2])
    for person in (people[0], people[1], people[3]):
        work_at_random(context, person, chance)
    plans.reject(context, owner, "demo", people[0].name, comment="did not read")
    export_folder(context, owner, "demo", tmp_path / "out")
    yield tmp_path / "out"


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_reliability_gives_the_alpha_that_is_reported(context: Context, owner: Person, files: Path) -> None:
    with (files / "reliability.csv").open(encoding="utf-8", newline="") as file:
        _, *units = csv.reader(file)
    ratings = np.array([[float(cell) if cell else np.nan for cell in row[2:]] for row in units]).T
    reported = get_report(context, owner, "demo")["agreement"]["humans"]["ordinal"]
    assert krippendorff.alpha(ratings, level_of_measurement="ordinal") == pytest.approx(reported, abs=1e-9)
    # the four ways in which a naive file would differ are all in play
    scores = read(files / "scores.csv")
    for column in ("check", "rejected", "timed_out"):
        assert {row[column] for row in scores} == {"0", "1"}, column
    assert {row["planted_error"] for row in scores} == {"", "score"}


def test_every_column_is_in_the_readme_and_nothing_else_is(files: Path) -> None:
    told = (files / "README.md").read_text(encoding="utf-8")
    sections = {part.split(":")[0]: part for part in told.split("\n## ")[1:]}
    assert set(sections) == {path.name for path in files.glob("*.csv")}
    sections["history.csv"] = sections["scores.csv"]  # as it says
    for name, section in sections.items():
        described = ", ".join(re.findall(r"^\| ([^|]+) \|", section, re.M)[1:]).split(", ")
        header = (files / name).read_text(encoding="utf-8").partition("\n")[0].strip().split(",")
        if name == "reliability.csv":  # after these, the annotators
            described, header = described[:2], header[:2]
        assert set(described) == set(header), name


def test_scores_without_checks_and_rejections_are_those_of_reliability(files: Path) -> None:
    """What the README says of scores.csv holds: filtering it by its own columns gives the counted scores."""
    rows = [
        r for r in read(files / "scores.csv") if (r["latest"], r["check"], r["rejected"]) == ("1", "0", "0")
    ]
    counted = {(r["instance"], r["criterion"], r["annotator"]): float(r["score"]) for r in rows}
    told = {
        (unit["instance"], unit["criterion"], name): float(score)
        for unit in read(files / "reliability.csv")
        for name, score in unit.items()
        if name not in ("instance", "criterion") and score
    }
    assert counted == told and counted


def test_every_row_says_whose_it_is_and_what_became_of_it(files: Path) -> None:
    for name in PER_ROW:
        with (files / name).open(encoding="utf-8", newline="") as file:
            head = next(csv.reader(file))
        assert {"group", "check", "rejected", "timed_out"} <= set(head), name
    assert {row["group"] for row in read(files / "scores.csv")} == {"crowd"}
    checks = {row["instance"] for row in read(files / "scores.csv") if row["check"] == "1"}
    assert (
        checks == {"q1", "q2"} == {r["instance"] for r in read(files / "instances.csv") if r["check"] == "1"}
    )
    rejected = {row["annotator"] for row in read(files / "rows.csv") if row["rejected"] == "1"}
    late = {row["annotator"] for row in read(files / "rows.csv") if row["timed_out"] == "1"}
    assert len(rejected) == 1 and len(late) == 1 and rejected != late
