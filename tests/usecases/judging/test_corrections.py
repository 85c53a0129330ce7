"""Examples and wordings from corrections: chosen on the dev part, taken or left by the owner, kept where they help."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from coeval.domain import Ballot, Vote
from coeval.domain.tasks import Action
from coeval.errors import InputError, NotFoundError
from coeval.extensions.judge import queries_seal
from coeval.extensions.judge.certification import certify
from coeval.extensions.judge.corrections import (
    leave_wording,
    propose_examples,
    propose_wording,
    take_examples,
    take_wording,
)
from coeval.extensions.judge.fit import fit_judge
from coeval.extensions.judge.judge_export import export_judge
from coeval.extensions.judge.learning.learn import Wishes
from coeval.extensions.judge.model.judge_file import parse_judge
from coeval.extensions.judge.queries_wordings import Wording
from coeval.extensions.judge.seal import seal_task
from coeval.extensions.judge.seal_types import Part
from coeval.extensions.judge.state import get_judge_state
from coeval.store.queries import tasks
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.criteria_rounds import (
    cancel_vote,
    cast_ballot,
    establish,
    get_criteria_set,
    get_round,
)
from coeval.usecases.criteria_sets import reopen_criteria
from coeval.usecases.drafting.execution import run_drafting
from coeval.usecases.sessions import sign_in
from tests.support.models.openai_stub import Stub
from tests.support.studies.judged_study import OVERRATED, WORDING, serve_judged

QUICK = Wishes(jury=False, calibration=False, deferral=False, folds=3)


@pytest.fixture
def served(context: Context) -> Iterator[tuple[Context, Stub]]:
    with serve_judged(context) as (connected, stub):
        seal_task(connected, OPERATOR, "judged")
        yield connected, stub


def sealed_documents(context: Context) -> set[str]:
    with context.store.read() as db:
        task = tasks.get_task(db, "judged")
        rows = db.query("SELECT document FROM sealed_document WHERE part = ?", [str(Part.CERTIFICATE)])
        assert queries_seal.get_seal(db, task.id)
        return {row["document"] for row in rows}


def draft_with(context: Context, keys: list[str], number: int = 4) -> str:
    settings = take_examples(context, OPERATOR, "judged", keys, number=number)
    report = asyncio.run(run_drafting(context, OPERATOR, "judged", settings))
    assert report.complete, report
    return settings.label


def test_examples_are_seen_with_why_taken_drafted_kept_and_leave_with_the_judge(
    served: tuple[Context, Stub],
) -> None:
    """With examples the model no longer overrates: they are kept, certified, and stand in the file."""
    context, stub = served
    proposed = propose_examples(context, OPERATOR, "judged")
    by_criterion = [one for one in proposed if one.criterion == OVERRATED]
    assert len(by_criterion) == 4 and len({one.document for one in by_criterion}) == 4
    assert not {one.document for one in proposed} & sealed_documents(context)
    first = by_criterion[0]
    assert f"The judge said {first.drafted:g}, people {first.example.score:g}: " in first.why
    before, taken = len(stub.bodies), by_criterion[:3]
    label = draft_with(context, [one.key for one in taken])
    assert label.endswith(" · 3 examples")
    for body in stub.bodies[before:]:
        prompt = "\n".join(message["content"] for message in body["messages"])
        own = [one for one in taken if f'<sample_input name="Input">\n{one.example.input}\n' in prompt]
        shown = [one for one in taken if f"Output: {one.example.output}" in prompt]
        assert not set(map(id, own)) & set(map(id, shown)), "a question shows an example of its own document"
        assert OVERRATED not in prompt or len(shown) == 3 - len(own)
    frozen = fit_judge(context, OPERATOR, "judged", label, QUICK)
    assert frozen.judge == label and len(frozen.fitted.examples) == 3
    assert [(one.step, one.candidate) for one in frozen.tried if one.kept] == [("examples", "3 examples")]
    certificate = certify(context, OPERATOR, "judged", "opening 1")
    assert any("examples" in step.lower() for step in certificate.steps)
    file = parse_judge(export_judge(context, OPERATOR, "judged", texts=True))
    assert file.fitted.examples == frozen.fitted.examples and [one.judge for one in file.judges] == [label]


@pytest.mark.slow
def test_examples_that_do_not_help_are_left_out(served: tuple[Context, Stub]) -> None:
    context, stub = served
    stub.reply = lambda body: "Rating: 1"
    proposed = propose_examples(context, OPERATOR, "judged", number=1)
    label = draft_with(context, [proposed[0].key], number=1)
    assert label.endswith(" · 1 example")
    frozen = fit_judge(context, OPERATOR, "judged", label, QUICK)
    assert frozen.judge != label and not frozen.fitted.examples
    assert [(one.step, one.kept) for one in frozen.tried] == [("examples", False)]


def test_what_cannot_be_taken_is_refused(served: tuple[Context, Stub]) -> None:
    context, _ = served
    with pytest.raises(InputError, match="No example is ticked"):
        take_examples(context, OPERATOR, "judged", [])
    with pytest.raises(InputError, match="The examples for this judge and this number"):
        take_examples(context, OPERATOR, "judged", ["none such"])
    with pytest.raises(InputError, match="choose from 1 to 8"):
        propose_examples(context, OPERATOR, "judged", number=9)
    assert len(get_judge_state(context, OPERATOR, "judged").runs) == 1


def propose(context: Context) -> Any:
    return asyncio.run(propose_wording(context, OPERATOR, "judged", OVERRATED))


def test_a_wording_that_is_taken_becomes_a_criterion_by_a_vote_with_its_meanings(
    served: tuple[Context, Stub],
) -> None:
    context, stub = served
    before = get_criteria_set(context, OPERATOR, "judged")
    wording = propose(context)
    prompt = json.dumps(stub.bodies[-1])
    sealed = sealed_documents(context)
    assert not any(f"Answer {name[1:]} by" in prompt for name in sealed), "the model has read a sealed output"
    assert (wording.text, wording.taken) == (WORDING, None)
    assert get_judge_state(context, OPERATOR, "judged").wordings == (wording,)
    assert get_criteria_set(context, OPERATOR, "judged") == before, "a proposal changes nothing"
    assert take_wording(context, OPERATOR, "judged", wording.id)
    assert not get_judge_state(context, OPERATOR, "judged").wordings
    round_ = get_round(context, OPERATOR, "judged")
    assert round_ and round_.open and [one.text for one in round_.proposals] == ["Be true.", WORDING]
    votes = [Vote(Action.APPROVE, proposal=one.id) for one in round_.proposals]
    saved: Ballot = cast_ballot(context, sign_in(context, "Olu")[0], "judged", 0, votes)
    assert saved.revision == 1
    new = establish(context, OPERATOR, "judged")
    assert new.version == 2 and new.criteria[1].text == WORDING
    assert dict(new.criteria[1].guide.anchors) == {1: "More than a page."}
    with pytest.raises(InputError, match="was already taken"):
        leave_wording(context, OPERATOR, "judged", wording.id)


def same_with_meaning(number: int) -> str:
    meanings = [{"score": 1, "meaning": f"More than page {number}."}]
    return json.dumps({"criterion": OVERRATED, "meanings": meanings, "why": ""})


def test_a_wording_that_is_left_changes_nothing_and_stays_on_record(served: tuple[Context, Stub]) -> None:
    context, stub = served
    wording = propose(context)
    leave_wording(context, OPERATOR, "judged", wording.id)
    assert not get_judge_state(context, OPERATOR, "judged").wordings
    assert get_round(context, OPERATOR, "judged") is None
    for decide in (take_wording, leave_wording):
        with pytest.raises(InputError, match="was already left"):
            decide(context, OPERATOR, "judged", wording.id)
        with pytest.raises(NotFoundError, match="no proposed wording 99"):
            decide(context, OPERATOR, "judged", 99)
    stub.reply = lambda body: json.dumps(
        {"criterion": OVERRATED, "meanings": [], "why": "It is clear enough."}
    )
    with pytest.raises(InputError, match="would not change “Be brief.”: It is clear"):
        propose(context)


def test_two_who_ask_at_once_get_one_wording(served: tuple[Context, Stub]) -> None:
    context, stub = served
    stub.reply = lambda body: same_with_meaning(stub.paid)

    async def both() -> list[Wording]:
        ask = [propose_wording(context, OPERATOR, "judged", OVERRATED) for _ in range(2)]
        return await asyncio.gather(*ask)

    first, second = asyncio.run(both())
    assert first == second and get_judge_state(context, OPERATOR, "judged").wordings == (first,)


def test_no_wording_is_put_into_a_vote_in_which_people_have_voted(served: tuple[Context, Stub]) -> None:
    context, _ = served
    wording = propose(context)
    round_ = reopen_criteria(context, OPERATOR, "judged")
    votes = [Vote(Action.APPROVE, proposal=one.id) for one in round_.proposals]
    cast_ballot(context, sign_in(context, "Olu")[0], "judged", 0, votes)
    with pytest.raises(InputError, match="1 person has voted.*establish or cancel that vote first"):
        take_wording(context, OPERATOR, "judged", wording.id)
    assert get_judge_state(context, OPERATOR, "judged").wordings == (wording,)
    cancel_vote(context, OPERATOR, "judged")
    assert take_wording(context, OPERATOR, "judged", wording.id)
