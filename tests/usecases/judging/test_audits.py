"""The audit of a run: a command, its cost from the ledger, its biases, and the draw of outputs for people."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest

from coeval.cli.commands import main
from coeval.domain import Comparison, Run
from coeval.errors import InputError
from coeval.extensions.judge import audits, queries_seal
from coeval.extensions.judge.audits import audit_run, draw_by_audit
from coeval.extensions.judge.seal import seal_task
from coeval.extensions.judge.seal_types import Part
from coeval.extensions.labelling.design import get_labelling
from coeval.extensions.labelling.queries import get_last_design, list_chances
from coeval.llm.running.ledger import Prices
from coeval.store import Database
from coeval.store.queries import criteria, drafts, tasks
from coeval.usecases.access import OPERATOR, Context, require_task
from coeval.usecases.drafting.execution import run_drafting
from coeval.usecases.drafting.run_settings import RunSettings
from coeval.usecases.reports.statistics import READINGS
from coeval.usecases.study_import import import_study
from tests.support.studies.bridged_study import CRITERION, seal_bridged_study
from tests.support.studies.judged_study import serve_judged
from tests.support.studies.unsure_study import SURE, make_unsure_study

Captured = pytest.CaptureFixture[str]


def test_the_audit_of_a_run_is_a_command(context: Context, capsys: Captured) -> None:
    seal_bridged_study(context)
    study = ["--task", "demo", "--db", context.store.address, "--run", "new"]
    main(["judge", "audit", *study])
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith(f"On “{CRITERION}”, of ")
    assert "outputs that people failed (below 3), it passed" in said[0] and "as other judges on" in said[1]
    assert any(line.startswith("Its cost is not recorded, because the run was imported") for line in said)
    assert sum("not measured here, because" in line for line in said) >= 3
    main(["judge", "audit", *study, "--threshold", "2", "--json"])
    audit = json.loads(capsys.readouterr().out)
    assert audit["criteria"][0]["cut"] == 2 and audit["cost"]["requests"] is audit["cost"]["minutes"] is None
    assert [bias["name"] for bias in audit["biases"]] == [
        "length",
        "position",
        "own family",
        "format",
        "language",
    ]
    with pytest.raises(SystemExit):
        main(["judge", "audit", *study[:-1], "none"])
    with pytest.raises(SystemExit):
        main(["judge", "audit", *study, "--draw", "10"])
    assert "gives no probabilities to draw with" in capsys.readouterr().err


@pytest.fixture
def judged(context: Context) -> Iterator[Context]:
    with serve_judged(context) as (connected, _):
        seal_task(connected, OPERATOR, "judged")
        yield connected


def test_the_cost_of_a_run_is_what_the_ledger_says_of_its_own_requests(
    judged: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audits, "MOST", 8)
    with judged.store.write() as db:
        db.conn.execute("UPDATE submission SET active_ms = 30000")
    cost = audit_run(judged, OPERATOR, "judged").cost
    assert (cost.outputs, cost.requests) == (8, 2000), "one request for each of two criteria"
    assert cost.minutes == pytest.approx(1000), "half a minute for each of two criteria"
    assert cost.money is None and "no price was given" in str(cost)
    priced = RunSettings(protocol="free-text", label="priced", prices=Prices(1.0, 10.0))
    asyncio.run(run_drafting(judged, OPERATOR, "judged", priced))
    cost = audit_run(judged, OPERATOR, "judged", "priced").cost
    assert cost.prompt_tokens and cost.completion_tokens and cost.requests == 2000
    assert cost.money == pytest.approx((cost.prompt_tokens + 10 * cost.completion_tokens) / 1e6)
    with judged.store.write() as db:
        db.conn.execute("DELETE FROM call")
    cost = audit_run(judged, OPERATOR, "judged", "priced").cost
    assert cost.requests is None and "Its cost is not recorded, because the ledger of this study" in str(cost)


def test_the_position_is_measured_with_comparisons_by_the_same_model(judged: Context) -> None:
    def find(context: Context) -> audits.Bias:
        (bias,) = [each for each in audit_run(context, OPERATOR, "judged").biases if each.name == "position"]
        return bias

    assert "compared fewer than 10 pairs" in str(find(judged))
    with judged.store.write() as db:
        task = require_task(db, "judged")
        current = criteria.get_criteria_set(db, task.id)
        run = drafts.add_run(
            db, task.id, Run("pairwise", "stub-model", "pairs"), current.id if current else None
        )
        names = {each.external_id: each.id for each in tasks.list_instances(db, task.id)}
        compared = [
            Comparison(
                names[first], names[second], current.criteria[0].id, 1.0 if first < second or n % 2 else 0.0
            )
            for n in range(24)
            for first, second in ((f"{n}new", f"{n}old"), (f"{n}old", f"{n}new"))
            if current
        ]
        drafts.record_comparisons(db, run.id, compared, 1)
    bias = find(judged)
    assert bias.effect == pytest.approx(0.25) and bias.effect.ci_low > 0
    assert str(bias).startswith("Position: +25 (") and "percentage points for the output shown first" in str(
        bias
    )
    with judged.store.write() as db:
        db.conn.execute("UPDATE run SET model = 'another' WHERE label = 'pairs'")
    assert not find(judged).effect.defined


def test_the_probabilities_of_a_judge_decide_whom_to_ask(context: Context, capsys: Captured) -> None:
    study = make_unsure_study()
    import_study(context, OPERATOR, study)
    seal_task(context, OPERATOR, "demo")
    main(["judge", "audit", "--task", "demo", "--db", context.store.address, "--draw", "20"])
    said = capsys.readouterr()
    assert "if its probabilities also decide whom to ask" in said.out and "20 outputs are drawn" in said.err
    with context.store.read() as db:
        task = require_task(db, "demo")
        design = get_last_design(db, task.id)
        assert design and (design.kind, design.labels) == ("active", 20)
        chances = {name: chance for name, (chance, _) in list_chances(db, design.id).items()}
        sealed = list_sealed(db, task.id)
    sure = {name: True for name in chances}
    for draft in study.runs[0].drafts:
        sure[draft.instance] &= draft.probabilities == SURE
    assert sum(chances.values()) == pytest.approx(20)
    assert len({chances[name] for name in sealed}) == 1, "a certificate counts labels of an even draw"
    least = min(chance for name, chance in chances.items() if not sure[name] and name not in sealed)
    assert max(chance for name, chance in chances.items() if sure[name] and name not in sealed) < least
    assert get_labelling(context, OPERATOR, "demo").running
    with pytest.raises(InputError, match="choose from 1 to 60"):
        draw_by_audit(context, OPERATOR, "demo", 61)


def test_a_draw_by_the_audit_reads_no_sealed_score(context: Context) -> None:
    import_study(context, OPERATOR, make_unsure_study())
    seal_task(context, OPERATOR, "demo")

    def draw() -> dict[str, float]:
        draw_by_audit(context, OPERATOR, "demo", 20)
        with context.store.read() as db:
            design = get_last_design(db, require_task(db, "demo").id)
            return {name: chance for name, (chance, _) in list_chances(db, design.id).items()}

    before = draw()
    with context.store.write() as db:
        sealed = tasks.get_instances_by_external_id(db, 1, list_sealed(db, 1))
        for instance in sealed.values():
            db.conn.execute("UPDATE submission SET score = 1 WHERE instance = ?", [instance.id])
    READINGS.pop(context.store)  # the file was changed behind the statistics
    assert draw() == before


def list_sealed(db: Database, task: int) -> set[str]:
    """Return the instances whose documents are sealed."""
    seal, current = queries_seal.get_seal(db, task), criteria.get_criteria_set(db, task)
    return {line.instance for line in queries_seal.list_judged(db, task, current.id, seal, Part.CERTIFICATE)}


def test_without_an_extension_that_draws_the_audit_says_so(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_study(context, OPERATOR, make_unsure_study())
    seal_task(context, OPERATOR, "demo")
    monkeypatch.setattr(audits, "load_parts", lambda kind: [])
    with pytest.raises(InputError, match="No extension that draws outputs"):
        draw_by_audit(context, OPERATOR, "demo", 20)
    assert not audits.can_draw()
