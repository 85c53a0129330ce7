"""A plan and its rule: declared rules stay on record, and what cannot be is refused with a remedy."""

from __future__ import annotations

import json

import pytest

from coeval.cli.commands import main
from coeval.domain import Study
from coeval.domain.studies import StoppingRule
from coeval.errors import InputError
from coeval.stats.estimates import plain
from coeval.stats.plan import Wanted, pilot_of, plan_study
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.planning import declare_rule, get_planning
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.studies.stats_frames import simulate_frames


@pytest.fixture
def planned(context: Context) -> Context:
    study: Study = make_study()
    import_study(context, OPERATOR, study)
    return context


def test_rules_stay_and_the_newest_holds(planned: Context) -> None:
    declare_rule(planned, OPERATOR, "demo", StoppingRule(0.5, 40, "a", "b"))
    newest = declare_rule(planned, OPERATOR, "demo", StoppingRule(0.2, 60, "b", "a"))
    known = get_planning(planned, OPERATOR, "demo", Wanted())
    assert [rule.width for rule in known.rules] == [0.2, 0.5] and known.rules[0] == newest
    assert known.rules[1].system_a == "a" and newest.declared_by == OPERATOR.name
    assert known.progress and known.progress.rule == newest and not known.progress.enough


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (StoppingRule(0, 40, "a", "b"), "above 0"),
        (StoppingRule(0.1, 0, "a", "b"), "choose 1"),
        (StoppingRule(0.1, 40, "nobody's", "b"), "no system “nobody's”; the systems are"),
        (StoppingRule(0.1, 40, "a", "a"), "choose a second one"),
    ],
)
def test_a_rule_that_cannot_be_is_refused(planned: Context, rule: StoppingRule, message: str) -> None:
    with pytest.raises(InputError, match=message):
        declare_rule(planned, OPERATOR, "demo", rule)
    assert not get_planning(planned, OPERATOR, "demo", Wanted()).rules
    with pytest.raises(InputError, match="needs endless documents"):
        get_planning(planned, OPERATOR, "demo", Wanted(width=0))


def test_the_command_plans_and_declares(planned: Context, capsys: pytest.CaptureFixture[str]) -> None:
    base = ["plan", "--task", "demo", "--db", planned.store.address]
    main(base)
    assert "Nobody has scored anything yet" in capsys.readouterr().out
    main([*base, "--declare", "a", "b", "--points", ".1", "--documents", "30", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["rules"][0]["planned"] == 30 and told["progress"]["enough"] is False


def test_a_planned_number_names_its_systems() -> None:
    (pair, *_) = plain(plan_study(pilot_of(simulate_frames()), Wanted()))["differences"]
    assert pair["a"] != pair["b"] and pair["low"] <= pair["documents"] <= pair["high"]
