"""A study at Prolific: drafted from the task, published on a typed confirmation, topped up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from coeval.domain import Person, Proof
from coeval.errors import InputError, NotFoundError
from coeval.extensions.prolific import api, requests_log
from coeval.extensions.prolific.api import UnansweredError
from coeval.extensions.prolific.publication import Draft, draft_study, publish_study, top_up
from coeval.extensions.prolific.queries import Outcome
from coeval.extensions.prolific.requests_log import list_asked, settle
from coeval.usecases.access import Context
from coeval.usecases.crowd import plans
from tests.support.hosting.prolific_stub import ProlificStub, serving_prolific
from tests.support.studies import prolific_study
from tests.support.studies.prolific_study import PLAN, TERMS, open_study, publish, take_part

DRAFT = Draft(minutes=20, places=3)


@pytest.fixture
def stub() -> Iterator[ProlificStub]:
    with serving_prolific() as running:
        yield running


@pytest.fixture
def study(context: Context, stub: ProlificStub, monkeypatch: pytest.MonkeyPatch) -> Context:
    monkeypatch.setattr(api, "PAUSE", 0.0)
    open_study(context)
    return prolific_study.with_token(context, stub)


def test_a_dry_run_says_all_of_the_draft_and_sends_nothing(
    study: Context, owner: Person, stub: ProlificStub
) -> None:
    report = draft_study(study, owner, "demo", DRAFT)
    told = {line.what: line.words for line in report.lines}
    # 20 minutes at 9.00 an hour are 3.00, and 3 places cost 9.00
    assert told["Reward"] == "3.00 GBP a person, 9 an hour" and report.total == 900
    assert told["Code NO1"] == "no consent: request return" and report.dry
    assert stub.calls == [] and list_asked(study, owner, "demo") == []


def test_the_draft_has_what_the_task_and_its_plan_say(
    study: Context, owner: Person, stub: ProlificStub
) -> None:
    draft = Draft(
        minutes=20,
        title="Read answers",
        description="Rate <answers> & say why.",
        actions={"done": "approve"},
    )
    draft_study(study, owner, "demo", draft, dry_run=False)
    (made,) = stub.studies.values()
    assert (made["name"], made["reward"], made["estimated_completion_time"]) == ("Read answers", 300, 20)
    # 4 instances by 3 people each are 12, of which one person does 4
    assert made["total_available_places"] == 3 and made["status"] == "UNPUBLISHED"
    assert made["description"] == "Rate &lt;answers&gt; &amp; say why."
    secret = plans.get_link(study, owner, "demo")
    assert made["external_study_url"].startswith(
        "https://coeval.example.org/s/demo?PROLIFIC_PID={{%PROLIFIC_PID%}}&"
    )
    assert made["external_study_url"].endswith(f"key={secret}") and "is_external_study_url_secure" not in made
    codes = {code["code"]: (code["code_type"], code["actions"][0]) for code in made["completion_codes"]}
    assert codes == {
        "DONE1": ("COMPLETED", {"action": "AUTOMATICALLY_APPROVE"}),
        "OUT1": ("OTHER", {"action": "MANUALLY_REVIEW"}),
        "NO1": ("NO_CONSENT", {"action": "REQUEST_RETURN", "return_reason": "You did not consent."}),
        "BLOCKED1": ("FAILED_ATTENTION_CHECK", {"action": "MANUALLY_REVIEW"}),
    }
    (asked,) = list_asked(study, owner, "demo")
    assert (asked.outcome, asked.remote, asked.asked_by) == (Outcome.DONE, made["id"], owner.name)
    with pytest.raises(InputError, match="not sent again"):
        draft_study(study, owner, "demo", draft, dry_run=False)
    assert len(stub.studies) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"minutes": 0}, "no measured time"),
        ({"minutes": 2000}, "give 1 to 1,440"),
        ({"places": 20_000}, "choose 1 to 10,000"),
        ({"actions": {"done": "pay"}}, "done=pay"),
    ],
)
def test_a_draft_that_cannot_be_used_is_refused_with_the_remedy(
    study: Context, owner: Person, stub: ProlificStub, change: dict[str, object], says: str
) -> None:
    with pytest.raises(InputError, match=says):
        draft_study(study, owner, "demo", replace(DRAFT, **change), dry_run=False)  # type: ignore[arg-type]
    assert not stub.studies and not list_asked(study, owner, "demo")


@pytest.mark.parametrize(
    ("terms", "says"),
    [
        ({"service": "mturk"}, "Prolific links"),
        ({"proof": Proof.NONE}, "not verified"),
        ({"code_done": ""}, "no completion code"),
        ({"hourly_rate": 0.0}, "pay per hour is 0"),
    ],
)
def test_a_plan_that_pays_nobody_or_anybody_is_refused(
    study: Context, owner: Person, stub: ProlificStub, terms: dict[str, object], says: str
) -> None:
    plans.set_plan(study, owner, "demo", replace(PLAN, terms=replace(TERMS, **terms)))  # type: ignore[arg-type]
    with pytest.raises(InputError, match=says):
        draft_study(study, owner, "demo", DRAFT, dry_run=False)
    assert not stub.studies


def test_only_a_known_study_is_asked_for_and_only_with_a_token(
    context: Context, owner: Person, stub: ProlificStub
) -> None:
    open_study(context)
    with pytest.raises(InputError, match="There is no PROLIFIC_TOKEN"):
        draft_study(context, owner, "demo", DRAFT)
    study = prolific_study.with_token(context, stub)
    with pytest.raises(NotFoundError):
        draft_study(study, owner, "nowhere", DRAFT)
    assert stub.calls == []


def test_it_is_published_on_a_typed_confirmation_and_once(
    study: Context, owner: Person, stub: ProlificStub
) -> None:
    with pytest.raises(InputError, match="create a draft first"):
        publish_study(study, owner, "demo")
    draft_study(study, owner, "demo", DRAFT, dry_run=False)
    report = publish_study(study, owner, "demo")
    assert (report.total, report.currency, report.confirm) == (900, "GBP", "publish demo for 3 people")
    for typed in ("", "publish", "publish demo for 30 people"):
        with pytest.raises(InputError, match="type “publish demo for 3 people”"):
            publish_study(study, owner, "demo", confirm=typed, dry_run=False)
    assert not stub.count("transition")
    publish_study(study, owner, "demo", confirm=report.confirm, dry_run=False)
    with pytest.raises(InputError, match="is active"):
        publish_study(study, owner, "demo", confirm=report.confirm, dry_run=False)
    assert stub.count("transition") == 1


def test_a_draft_that_nobody_could_come_in_by_is_not_published(
    study: Context, owner: Person, stub: ProlificStub
) -> None:
    draft_study(study, owner, "demo", DRAFT, dry_run=False)
    plans.renew_link(study, owner, "demo")
    with pytest.raises(InputError, match="create a new draft"):
        publish_study(study, owner, "demo")
    draft_study(study, owner, "demo", DRAFT, dry_run=False)
    codes = list(stub.studies.values())[-1]["completion_codes"]
    codes[0]["code"] = "DONE2"
    with pytest.raises(InputError, match="lacks the code “DONE1”, for people who"):
        publish_study(study, owner, "demo")
    codes[0]["code"] = "DONE1"
    assert publish_study(study, owner, "demo").dry
    stub.studies.popitem()
    stub.currency = "USD"
    draft_study(study, owner, "demo", DRAFT, dry_run=False)
    with pytest.raises(InputError, match="pays in GBP, but this study on Prolific pays in USD"):
        publish_study(study, owner, "demo")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "made"), [("cut before", 0), ("500", 0), ("cut after", 1), ("500 after", 1)]
)
def test_a_draft_without_an_answer_is_looked_up_and_not_made_twice(
    study: Context, owner: Person, stub: ProlificStub, fault: str, made: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub.fail("/studies/", fault)
    with pytest.raises(UnansweredError, match="look up request 1"):
        draft_study(study, owner, "demo", DRAFT, dry_run=False)
    with pytest.raises(InputError, match="look up that request first"):
        draft_study(study, owner, "demo", DRAFT, dry_run=False)
    monkeypatch.setattr(requests_log, "WAIT_MINUTES", -1)
    report = settle(study, owner, "demo", 1)
    if made:
        assert report.title == "Request 1 was done"
        assert publish_study(study, owner, "demo").total == 900
    else:
        assert report.confirm == "request 1 did not happen"
        settle(study, owner, "demo", 1, confirm=report.confirm)
        draft_study(study, owner, "demo", DRAFT, dry_run=False)
    assert len(stub.studies) == 1


def test_publishing_without_an_answer_is_looked_up(study: Context, owner: Person, stub: ProlificStub) -> None:
    draft_study(study, owner, "demo", DRAFT, dry_run=False)
    stub.fail("/transition/", "cut after")
    with pytest.raises(UnansweredError):
        publish_study(study, owner, "demo", confirm="publish demo for 3 people", dry_run=False)
    assert settle(study, owner, "demo", 2).title == "Request 2 was done"
    with pytest.raises(InputError, match="is already known"):
        settle(study, owner, "demo", 2)
    with pytest.raises(NotFoundError):
        settle(study, owner, "demo", 99)


def test_a_confirmation_of_more_places_is_good_for_once(
    study: Context, owner: Person, stub: ProlificStub
) -> None:
    remote = publish(study, owner, stub)
    words = top_up(study, owner, "demo", more=5).confirm
    top_up(study, owner, "demo", more=5, confirm=words, dry_run=False)
    # the same button pressed again, with the same words in its box
    with pytest.raises(InputError, match="type “make 13 places of 8 for demo”"):
        top_up(study, owner, "demo", more=5, confirm=words, dry_run=False)
    assert stub.studies[remote]["total_available_places"] == 8 and stub.count(f"PATCH /studies/{remote}") == 1


def test_no_places_are_added_before_it_is_known_what_came_of_the_last(
    study: Context, owner: Person, stub: ProlificStub
) -> None:
    remote = publish(study, owner, stub)
    stub.fail(f"PATCH /studies/{remote}/", "cut after", 4)
    with pytest.raises(UnansweredError):
        top_up(study, owner, "demo", more=5, confirm="make 8 places of 3 for demo", dry_run=False)
    number = list_asked(study, owner, "demo")[-1].id
    for dry in (True, False):
        with pytest.raises(InputError, match=rf"request {number}\), and its result is unknown"):
            top_up(study, owner, "demo", more=2, confirm="make 10 places of 8 for demo", dry_run=dry)
    assert stub.studies[remote]["total_available_places"] == 8
    settle(study, owner, "demo", number)
    assert top_up(study, owner, "demo", more=2).confirm == "make 10 places of 8 for demo"


def test_who_is_at_work_is_counted_with_what_they_will_do(
    study: Context, owner: Person, stub: ProlificStub
) -> None:
    plans.set_plan(study, owner, "demo", replace(PLAN, batch=1))
    remote = publish(study, owner, stub, places=2)
    take_part(study, stub, remote, 1)
    take_part(study, stub, remote, 2, instances=1)
    # of 12 evaluations of an instance one person did 4 and another is to do 4: one more person does the rest
    report = top_up(study, owner, "demo")
    assert report.confirm == "make 3 places of 2 for demo" and "one person does 4" in report.lines[0].words
