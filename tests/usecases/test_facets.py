"""``python -m coeval facets`` on a study in a file, and who is connected before anybody scores."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from coeval.cli.commands import main
from coeval.domain import Person, Role
from coeval.errors import NotAllowedError
from coeval.extensions.facets.links import get_links, tell_links
from coeval.stats.plan import Wanted, tell_plan
from coeval.ui.setup.plan_tab import plan_view
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.planning import get_planning
from coeval.usecases.scrutiny.requested_lines import set_team
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.studies.labelled_study import make_labelled_study

Captured = pytest.CaptureFixture[str]


@pytest.mark.sqlite
def test_the_ruler_by_command(context: Context, capsys: Captured) -> None:
    import_study(context, OPERATOR, make_labelled_study())
    where = ["--task", "labels", "--db", context.store.address]
    main(["facets", "ruler", *where])
    said = capsys.readouterr().out
    assert "labels: rating scale model of 600 scores" in said and "second (judge) favours old" in said
    main(["facets", "ruler", *where, "--partial-credit", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["model"] == "partial credit" and len(found["thresholds"]) == 2
    severity = {one["name"]: one["measure"] for one in found["raters"]}
    assert severity["Ben"]["ci_high"] < -0.4 < 0.4 < severity["Cem"]["ci_low"]
    assert severity["first (judge)"]["value"] < severity["second (judge)"]["value"]
    new, old = found["systems"]
    assert new["fair"]["ci_low"] > old["fair"]["ci_high"]
    main(["facets", "links", *where])
    assert capsys.readouterr().out == "Connected: 3 people can be compared on one ruler.\n"


def test_the_page_of_a_plan_leaves_nothing_out(context: Context) -> None:
    import_study(context, OPERATOR, make_labelled_study())
    known = get_planning(context, OPERATOR, "labels", Wanted())
    view = json.dumps(plan_view(known), default=str)
    for line in tell_plan(known.plan):
        assert json.dumps(line)[1:-1] in view
    pairs = replace(known.plan, differences=known.plan.differences * 2)
    shorter = json.dumps(plan_view(replace(known, plan=pairs)), default=str)
    told = list(tell_plan(pairs, differences=False))
    assert len(told) > 2 and all(json.dumps(line)[1:-1] in shorter for line in told)


def test_a_team_whose_shares_do_not_meet_is_told_before_the_work(context: Context) -> None:
    import_study(context, OPERATOR, make_study(6))
    assert "Nobody has a queue yet" in next(tell_links(get_links(context, OPERATOR, "demo")))
    for name in ("Ana", "Ben"):
        sign_in(context, name)
    set_team(context, OPERATOR, "demo", ["Ana", "Ben"], 1)
    found = get_links(context, OPERATOR, "demo")
    assert {part.people for part in found.parts} == {("Ana",), ("Ben",)}
    assert sum(part.instances for part in found.parts) == found.instances == 12
    assert "Not connected: 2 parts" in next(tell_links(found))
    set_team(context, OPERATOR, "demo", ["Ana", "Ben"], 2)
    assert "Connected: 2 people" in next(tell_links(get_links(context, OPERATOR, "demo")))
    with pytest.raises(NotAllowedError):
        get_links(context, Person("Ana", Role.ANNOTATOR), "demo")
