"""``python -m coeval facets`` on a study in a file."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from coeval.cli.commands import main
from coeval.extensions.facets.ruler import FitRuler, Ruler
from coeval.stats.plan import Wanted, tell_plan
from coeval.store.engines.database import scalar
from coeval.ui.setup.plan_tab import plan_view
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.export import export_folder
from coeval.usecases.planning import get_planning
from coeval.usecases.reports.statistics import get_statistic
from coeval.usecases.study_import import import_study
from tests.support.studies.labelled_study import make_labelled_study

Captured = pytest.CaptureFixture[str]


@pytest.mark.sqlite
def test_the_ruler_by_command(context: Context, capsys: Captured) -> None:
    import_study(context, OPERATOR, make_labelled_study())
    where = ["--task", "labels", "--db", context.store.address]
    main(["facets", "ruler", *where])
    said = capsys.readouterr().out
    assert "labels: rating scale model of 600 scores" in said
    main(["facets", "ruler", *where, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["model"] == "rating scale" and len(found["thresholds"]) == 1
    severity = {one["name"]: one["measure"] for one in found["raters"]}
    assert severity["Ben"]["ci_high"] < -0.4 < 0.4 < severity["Cem"]["ci_low"]
    assert severity["first (judge)"]["value"] < severity["second (judge)"]["value"]
    new, old = found["systems"]
    assert new["fair"]["ci_low"] > old["fair"]["ci_high"]


def test_the_page_of_a_plan_leaves_nothing_out(context: Context) -> None:
    import_study(context, OPERATOR, make_labelled_study())
    known = get_planning(context, OPERATOR, "labels", Wanted())
    view = json.dumps(plan_view(known), default=str)
    for line in tell_plan(known.plan):
        assert json.dumps(line)[1:-1] in view
    pilot = replace(known.plan.pilot, differences=known.plan.pilot.differences * 2)
    pairs = replace(known.plan, pilot=pilot, differences=known.plan.differences * 2)
    shorter = json.dumps(plan_view(replace(known, plan=pairs)), default=str)
    told = list(tell_plan(pairs, differences=False))
    assert len(told) > 2 and all(json.dumps(line)[1:-1] in shorter for line in told)


def test_imported_scores_without_times_have_no_time_and_no_drift(context: Context, tmp_path: Path) -> None:
    """The time of the import is no time of a score: two batches gave a drift of .81 with p .015."""
    made = make_labelled_study()
    untimed = [replace(one, opened_at="", submitted_at="") for one in made.submissions]
    half = len(untimed) // 2
    for part in (untimed[:half], untimed[half:]):
        import_study(context, OPERATOR, replace(made, submissions=tuple(part)))
    with context.store.read() as db:
        assert scalar(db, "SELECT count(*) FROM submission WHERE submitted_at IS NOT NULL") == 0
    ruler: Ruler = get_statistic(context, OPERATOR, "labels", FitRuler())
    assert not ruler.drift and "The order of the scores of Ana, Ben and Cem is unknown" in " ".join(
        ruler.notes
    )
    export_folder(context, OPERATOR, "labels", tmp_path)
    with (tmp_path / "scores.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(untimed) and not any(row["submitted_at"] for row in rows)
