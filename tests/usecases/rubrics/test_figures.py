"""Agreement, scores, changes and the gate: known answers, and the whole way from a file."""

from __future__ import annotations

import asyncio
import csv
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coeval.cli.commands import build_parser
from coeval.domain import Action, Person
from coeval.errors import InputError
from coeval.extensions.rubrics.drafting import judge_rubrics
from coeval.extensions.rubrics.questions import RubricsRun
from coeval.extensions.rubrics.reports import EXIT_CODES, check_figure, get_rubrics_report, outcome_of
from coeval.extensions.rubrics.reviews import SentLine, get_rubrics_sheet, submit_rubrics_sheet
from coeval.extensions.rubrics.statistics import (
    JudgedInstance,
    Label,
    build_report,
    macro_f1,
)
from coeval.stats.estimates import Estimate
from coeval.usecases.access import Context
from coeval.usecases.export import export_as
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_file
from tests.support.studies.rubrics_study import build_sent, judge_all, make_known_rubrics, serve_rubrics_judge


def label(unit: int, person: str, value: float | None, judge: float | None = None, **more: Any) -> Label:
    given: dict[str, Any] = {"action": Action.APPROVE, "points": 1.0, "axis": "a"} | more
    document = given.pop("document", f"d{unit}")
    return Label(person, unit, document, unit, value=value, judge=judge, **given)


# ---- known answers --------------------------------------------------------------------------------------------------


def test_macro_f1_is_the_mean_of_both_verdicts() -> None:
    # met: 3 of both, 1 of the judge alone, 1 of people alone -> 6 / 8; not met: 2 of both -> 4 / 6
    pairs = [(1, 1)] * 3 + [(0, 1)] + [(1, 0)] + [(0, 0)] * 2
    labels = [label(n, "ann", own, judge) for n, (own, judge) in enumerate(pairs)]
    assert macro_f1(labels) == pytest.approx((6 / 8 + 4 / 6) / 2)


def test_intervals_leave_out_documents_and_not_criteria() -> None:
    """Criteria of one document that all go one way are one piece of evidence: ten copies of it are no ten."""
    draw = random.Random(1)
    apart, nested = [], []
    for document in range(20):
        good = draw.random() < 0.7
        own = [draw.randint(0, 1) for _ in range(10)]
        for n, value in enumerate(own):
            judged = float(value if good else 1 - value)
            apart.append(label(10 * document + n, "ann", value, judged))
            nested.append(replace(apart[-1], document=f"d{document}"))
    wide, narrow = macro_f1(nested), macro_f1(apart)
    assert wide == narrow and wide.clusters == 20
    assert wide.ci[1] - wide.ci[0] > 2 * (narrow.ci[1] - narrow.ci[0])


@pytest.mark.parametrize(
    ("low", "high", "outcome"), [(0.71, 0.9, "held"), (0.5, 0.69, "below"), (0.6, 0.8, "undecided")]
)
def test_a_gate_decides_by_the_interval(low: float, high: float, outcome: str) -> None:
    assert check_figure("f", Estimate(0.7, ci_low=low, ci_high=high), 0.7).outcome == outcome
    assert check_figure("f", Estimate.undefined("nothing"), 0.7).outcome == "undecided"


def test_one_document_gives_no_interval_and_no_verdict() -> None:
    """max(0.0, nan) is 0: the gate printed "1.000 (95% interval 0.000 to 0.000)" and refused."""
    labels = [
        label(1, "ann", 1.0, 1.0, document="d"),
        replace(label(1, "ann", 0.0, 1.0, document="d"), unit=2),
    ]
    judged = [JudgedInstance(1, "d", "s", ((4.0, 1.0), (6.0, 1.0)))]
    report = build_report(labels, judged, "judge")
    for figure in (report.judge_score, report.people_score, report.difference):
        assert figure.defined and np.isnan(figure.ci).all()
        finding = check_figure("score", figure, 0.9)
        assert finding.outcome == "undecided" and "too few documents" in str(finding)
        assert EXIT_CODES[outcome_of([finding])] == 4


# ---- the whole way: a file with known truth, a judge that errs, people, figures, the gate ---------------------------


def run(context: Context, *words: str) -> int:
    options = build_parser().parse_args(["rubrics", *words, "--task", "hb"])
    try:
        options.command(context, options)
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


@pytest.mark.parametrize(("rate", "code"), [(0.0, 0), (0.45, 3)])
def test_from_a_file_to_a_gate(
    context: Context,
    owner: Person,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    rate: float,
    code: int,
) -> None:
    known = make_known_rubrics(documents=20)
    import_file(context, owner, known.write(tmp_path / "hb.jsonl"), "hb")
    with serve_rubrics_judge(context, rate) as (connected, _):
        assert run(connected, "judge", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["written"], told["unscored"]) == (160, 0)
    for name in ("Ann", "Ben"):
        assert judge_all(context, sign_in(context, name)[0], "hb", known, rate=0.05) == 40
    assert run(context, "report", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["n_labels"] == 320
    assert found["overall"]["alpha"]["value"] > 0.75 and set(found["axes"]) == {"accuracy", "completeness"}
    f1 = found["overall"]["macro_f1"]
    right = 1 - known.count_errors(rate) / 160
    expected = 0.95 * right + 0.05 * (
        1 - right
    )  # people err on one of 20; both verdicts are about as frequent
    assert f1["clusters"] == 20 and f1["value"] == pytest.approx(expected, abs=0.04)
    assert abs(found["people_score"]["value"] - sum_known_score(known)) < 0.06
    assert run(context, "gate", "--min-f1", "0.8", "--min-alpha", "0.6", "--json") == code
    outcome = json.loads(capsys.readouterr().out)
    assert outcome["outcome"] == {0: "held", 3: "below"}[code]
    names = {finding["name"] for finding in outcome["findings"]}
    assert names == {"macro-F1", "alpha of people", "criteria unscored"}


def sum_known_score(known: Any) -> float:
    """HealthBench's score of the truth, computed from the file alone."""
    scores = []
    for line in known.lines:
        met = [known.truth[line["completion_id"], one["criterion"]] for one in line["rubrics"]]
        points = [one["points"] for one in line["rubrics"]]
        gained = sum(p for p, m in zip(points, met, strict=True) if m)
        scores.append(gained / sum(p for p in points if p > 0))
    return min(1.0, max(0.0, sum(scores) / len(scores)))


def test_a_gate_without_a_judge_or_without_a_figure_says_so(
    context: Context, owner: Person, tmp_path: Path
) -> None:
    import_file(context, owner, make_known_rubrics(documents=2).write(tmp_path / "hb.jsonl"), "hb")
    with pytest.raises(InputError, match="nothing to test"):
        run(context, "gate")
    with pytest.raises(InputError, match="rubrics judge"):
        run(context, "gate", "--min-f1", "0.7")
    assert run(context, "gate", "--min-alpha", "0.7") == 4
    assert run(context, "status") == 0


def test_exports_hold_what_people_and_the_judge_said(context: Context, owner: Person, tmp_path: Path) -> None:
    known = make_known_rubrics(documents=1, systems=1)
    import_file(context, owner, known.write(tmp_path / "hb.jsonl"), "hb")
    with serve_rubrics_judge(context) as (connected, _):
        asyncio.run(judge_rubrics(connected, owner, "hb", RubricsRun()))
    sheet = get_rubrics_sheet(context, owner, "hb")
    first, second, third, fourth = sheet.criteria
    lines = {
        first.id: SentLine(first.id, Action.APPROVE, value=1.0, evidence="“Here”"),
        second.id: SentLine(second.id, Action.REVISE, "=States more.", 4.0, value=1.0),
        third.id: SentLine(third.id, Action.DELETE, reason="Not asked."),
        fourth.id: SentLine(fourth.id, Action.APPROVE, value=0.0),
    }
    added = (SentLine(None, Action.ADD, "Is kind.", 2.0, "tone", value=1.0),)
    submit_rubrics_sheet(context, owner, "hb", build_sent(sheet, lambda sheet, one: lines[one.id], added))
    export_as(context, owner, "hb", "rubrics", tmp_path / "long")
    with (tmp_path / "long" / "judgments.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["by"] for row in rows] == ["judge"] * 4 + ["person"] * 5
    mine = {row["criterion"]: row for row in rows if row["by"] == "person"}
    assert mine[second.rubric.text]["new_text"] == "'=States more."  # no spreadsheet runs it
    assert mine["Is kind."]["origin"] == "person" and mine["Is kind."]["value"] == "1"
    with (tmp_path / "long" / "scores.csv").open(newline="", encoding="utf-8") as file:
        scores = {row["by"]: float(row["score"]) for row in csv.DictReader(file)}
    assert scores["person"] == pytest.approx((7 + 4 + 2) / (7 + 4 + 3 + 2))
    export_as(context, owner, "hb", "healthbench", tmp_path / "hb")
    (line,) = [
        json.loads(one) for one in (tmp_path / "hb" / "healthbench.jsonl").read_text("utf-8").splitlines()
    ]
    assert [(one["criterion"], one["points"]) for one in line["rubrics"]] == [
        (first.rubric.text, 7), ("=States more.", 4), (fourth.rubric.text, 3), ("Is kind.", 2),
    ]  # fmt: skip
    assert line["people"] == [{"name": "Olu", "score": pytest.approx(13 / 16)}]
    report = get_rubrics_report(context, owner, "hb")
    assert report.overall.macro_f1.n == 2  # neither the revised wording nor the added one is the judge's
