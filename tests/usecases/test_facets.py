"""``python -m coeval facets`` on a study in a file, and who is connected before anybody scores."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from coeval.cli.commands import main
from coeval.domain import Person, Role
from coeval.errors import NotAllowedError
from coeval.extensions.facets.links import get_links, tell_links
from coeval.stats.error_sources import tell_purchases
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


@pytest.mark.sqlite
def test_sources_of_error_by_command(context: Context, capsys: Captured) -> None:
    import_study(context, OPERATOR, make_labelled_study())
    where = ["--task", "labels", "--db", context.store.address]
    main(["facets", "sources", *where])
    said = capsys.readouterr().out
    assert "labels: 30 documents, 2 models, 1 wording, 3 repeats" in said and "counting all sources" in said
    main(["facets", "sources", *where, "--json"])
    found = json.loads(capsys.readouterr().out)
    components = found["sources"]["components"]
    assert components["model"] > 0.02 and components["document x model x repeat"] > 0.05
    whole, alone = found["sources"]["mean"], found["sources"]["documents_only"]
    assert whole["ci_high"] - whole["ci_low"] > 2 * (alone["ci_high"] - alone["ci_low"])
    assert found["purchases"][0]["source"] == "model" and found["purchases"][0]["documents"] is None
    old, new = sorted(found["systems"], key=lambda one: one["mean"]["value"])
    assert (old["system"], new["system"]) == ("old", "new")
    assert new["mean"]["ci_high"] - new["mean"]["ci_low"] > 2 * (
        new["documents_only"]["ci_high"] - new["documents_only"]["ci_low"]
    )
    assert found["people"]["person"] > 0.1


@pytest.mark.sqlite
def test_a_plan_says_what_buys_most(context: Context, capsys: Captured) -> None:
    """Two judges that differ: a third buys more than any number of documents; a study without runs says nothing."""
    import_study(context, OPERATOR, make_labelled_study())
    where = ["--task", "labels", "--db", context.store.address]
    main(["plan", *where])
    said = capsys.readouterr().out
    assert re.search(r"The judge's mean is \d\.\d\d \[.*\], counting documents and models\.", said)
    assert re.search(
        r"A mean over 3 models has the error .*: a larger gain than any number of documents\.", said
    )
    main(["plan", *where, "--json"])
    assert json.loads(capsys.readouterr().out)["judge"]["purchases"][0]["source"] == "model"
    import_study(context, OPERATOR, make_study(6))
    main(["plan", "--task", "demo", "--db", context.store.address])
    assert "The judge's mean" not in capsys.readouterr().out


def test_the_page_of_a_plan_says_it_too_and_leaves_nothing_out(context: Context) -> None:
    import_study(context, OPERATOR, make_labelled_study())
    known = get_planning(context, OPERATOR, "labels", Wanted())
    view = json.dumps(plan_view(known), default=str)
    for line in (*tell_plan(known.plan), *tell_purchases(known.judge)):
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
