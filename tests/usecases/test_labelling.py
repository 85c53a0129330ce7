"""``python -m coeval labelling`` on a study in a file."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from coeval.cli.commands import main
from coeval.domain import Plan, Study
from coeval.errors import InputError
from coeval.extensions.labelling import queries
from coeval.extensions.labelling.design import end_design, get_labelling, make_design
from coeval.store.engines.database import rows
from coeval.store.queries.crowd_studies import set_plan
from coeval.usecases.access import OPERATOR, Context, require_task
from coeval.usecases.crowd.assignment import _pick
from coeval.usecases.scrutiny import queue as queue_module
from coeval.usecases.scrutiny.policies import set_team
from coeval.usecases.scrutiny.queue import ensure_queue
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.support.studies.labelled_study import RIGHT, make_labelled_study

Captured = pytest.CaptureFixture[str]


def study(context: Context, *labelled: str) -> list[str]:
    import_study(context, OPERATOR, make_labelled_study(labelled=labelled))
    return ["--task", "labels", "--db", context.store.address]


@pytest.mark.sqlite
def test_the_command_corrects_every_system(context: Context, capsys: Captured) -> None:
    where = study(context, "old")
    main(["labelling", "corrected", *where])
    said = capsys.readouterr().out
    assert "labels: mean score, from scores without the draft in view" in said
    assert "Corrected assumes: The judge has the same errors on this system as on labelled items" in said
    main(["labelling", "corrected", *where, "--json"])
    found = json.loads(capsys.readouterr().out)
    new = next(one for one in found["systems"] if one["system"] == "new" and one["criterion"] == RIGHT)
    assert new["judged"] < 3.3 < new["corrected"]["value"] < 3.8 and new["labels"] == 30
    main(["labelling", "corrected", *where, "--cut", "4", "--run", "second", "--json"])
    shares = json.loads(capsys.readouterr().out)["systems"]
    assert all(0 <= one["corrected"]["value"] <= 1 for one in shares)


def queue(context: Context, name: str) -> list[str]:
    """The names of the instances in a person's queue, in order, as they open them."""
    person, _ = sign_in(context, name)
    with context.store.read() as db:
        task = require_task(db, "labels")
    ensure_queue(context, person, task)
    with context.store.read() as db:
        sql = (
            "SELECT i.external_id FROM assignment a JOIN instance i ON i.id = a.instance JOIN annotator p"
            " ON p.id = a.annotator WHERE p.name = ? AND a.task = ? ORDER BY a.position"
        )
        return [row["external_id"] for row in rows(db, sql, [name, task.id])]


def stored(context: Context) -> dict[str, tuple[float, float]]:
    with context.store.read() as db:
        design = queries.get_last_design(db, require_task(db, "labels").id)
        return queries.list_chances(db, design.id)


def test_the_queue_draws_by_stored_chances(context: Context) -> None:
    import_study(context, OPERATOR, make_labelled_study(labelled=()))
    before = queue(context, "Zoe")
    assert len(before) == 60
    make_design(context, OPERATOR, "labels", "active", 20)
    chances = stored(context)
    assert sum(chance for chance, _ in chances.values()) == pytest.approx(20)
    in_order = sorted(chances, key=lambda name: chances[name][1])
    assert queue(context, "Zoe") == queue(context, "Yan") == in_order[:20] != before[:20]
    assert queue(context, "Yan") == in_order[:20], "opening the queue again adds nothing"
    end_design(context, OPERATOR, "labels")
    assert (
        sorted(queue(context, "Yan")) == sorted(before)
        and not get_labelling(context, OPERATOR, "labels").running
    )


def test_a_redraw_before_the_next_part_of_a_queue_counts(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The redrawn queue is as long as before, and has some of the instances that were imported later."""
    labelled = make_labelled_study(labelled=())
    import_study(context, OPERATOR, labelled)
    assert len(queue(context, "Zoe")) == 60
    late = tuple(replace(labelled.instances[0], external_id=f"late{n}") for n in range(20))
    import_study(context, OPERATOR, Study(labelled.task, late))
    redraws = iter([lambda: make_design(context, OPERATOR, "labels", "uniform", 60)])
    list_missing = queue_module._list_missing

    def list_and_redraw(*args: Any) -> Any:
        missing = list_missing(*args)
        next(redraws, lambda: None)()
        return missing

    monkeypatch.setattr(queue_module, "_list_missing", list_and_redraw)
    assert queue(context, "Zoe") == list(stored(context))[:60]


def test_a_team_shares_out_what_was_drawn(context: Context) -> None:
    import_study(context, OPERATOR, make_labelled_study(labelled=()))
    for name in ("Zoe", "Yan"):
        sign_in(context, name)
    set_team(context, OPERATOR, "labels", ["Zoe", "Yan"], 1)
    make_design(context, OPERATOR, "labels", "active", 12)
    in_order = list(stored(context))
    shares = [queue(context, name) for name in ("Zoe", "Yan")]
    assert sorted(shares[0] + shares[1]) == sorted(in_order[:12])
    for share in shares:
        assert share == sorted(share, key=in_order.index)


def test_a_crowd_is_given_what_was_drawn_first(context: Context) -> None:
    import_study(context, OPERATOR, make_labelled_study(labelled=()))
    with context.store.write() as db:
        task = require_task(db, "labels")
        ids = queries.list_instances(db, task.id)
    make_design(context, OPERATOR, "labels", "uniform", 5)
    plan = Plan(per_instance=2, quota=4, batch=4)
    with context.store.write() as db:
        set_plan(db, task.id, plan)
        person, _ = sign_in(context, "Zoe")
        picked = _pick(db, plan, person, task, 4)
    names = {number: name for name, number in ids.items()}
    assert [names[one] for one in picked] == list(stored(context))[:4]


@pytest.mark.sqlite
def test_a_design_by_command_and_its_means(context: Context, capsys: Captured) -> None:
    where = study(context, "old", "new")
    main(["labelling", "design", *where, "--draw", "active", "--labels", "24", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["source"] == "the spread of the judge's answers" and found["running"]
    difference = next(row for row in found["rows"] if row["what"] == "new less old")
    assert difference["value"]["ci_low"] > 0 and found["labelled"] == 60
    main(["labelling", "design", *where, "--end"])
    assert "labelled in order (ended)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("kind", "labels", "message"),
    [
        ("eager", 5, "is not a way to draw labels"),
        ("active", 0, "choose from 1 to 12"),
        ("active", 13, "choose from 1 to 12"),
    ],
)
def test_a_design_that_cannot_be_is_refused(context: Context, kind: str, labels: int, message: str) -> None:
    import_study(context, OPERATOR, make_labelled_study(6, labelled=()))
    with pytest.raises(InputError, match=message):
        make_design(context, OPERATOR, "labels", kind, labels)
    assert not get_labelling(context, OPERATOR, "labels").kind
    with pytest.raises(InputError, match="no active labelling design"):
        end_design(context, OPERATOR, "labels")
