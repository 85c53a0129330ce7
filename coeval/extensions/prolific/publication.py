"""Create a study on Prolific from a task and its plan, publish it after confirmation, and add places."""

from __future__ import annotations

import hashlib
import html
import math
import statistics
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Decimal
from typing import Any
from urllib.parse import parse_qs, urlsplit

from coeval.domain import Participant, Person, Plan, Proof, Standing, StudyState
from coeval.errors import InputError
from coeval.extensions.prolific.api import RemoteStudy
from coeval.extensions.prolific.queries import UNSETTLED, Asked, Item, Kind
from coeval.extensions.prolific.requests_log import (
    Desk,
    Line,
    Report,
    check_confirmation,
    open_desk,
    say_money,
    say_standing,
)
from coeval.store.queries import crowd_studies, tasks
from coeval.usecases.access import OWNERS, Context, use_case
from coeval.usecases.crowd.link_signing import build_address, build_key
from coeval.usecases.crowd.overview import FEWEST, Row, get_overview

LEAST_PER_HOUR = {"GBP": 6.0, "USD": 8.0}
"""Prolific's minimum pay per hour, by currency."""


def compute_reward(minutes: float, hourly_rate: float) -> int:
    """Return the reward for these minutes at an hourly rate, in hundredths, rounded up.

    >>> compute_reward(20, 9), compute_reward(7, 9.99)
    (300, 117)
    """
    cents = Decimal(str(minutes)) * Decimal(str(hourly_rate)) * 100 / 60
    return int(cents.to_integral_value(ROUND_CEILING))


def measure_minutes(people: Iterable[Participant], quota: int) -> float | None:
    """Return the estimated minutes of a whole submission: the people's median per instance, times ``quota``.

    Return None if fewer than three people have finished an instance.
    """
    times = [
        person.wall_minutes / person.finished for person in people if person.finished and person.wall_minutes
    ]
    return statistics.median(times) * quota if len(times) >= FEWEST else None


def count_people(missing: int, each: float) -> int:
    """Return the number of people needed for the missing evaluations, if each person does ``each``.

    >>> count_people(11, 5), count_people(0, 5)
    (3, 0)
    """
    return math.ceil(missing / max(each, 1))


CODES = {
    "done": ("code_done", "COMPLETED", "review", "finished the work"),
    "part": ("code_part", "OTHER", "review", "finished a part of the work"),
    "screened": ("code_screened", "OTHER", "review", "did not qualify"),
    "declined": ("code_declined", "NO_CONSENT", "return", "did not consent"),
    "full": ("code_full", "OTHER", "review", "arrived when the study was full"),
    "blocked": ("code_blocked", "FAILED_ATTENTION_CHECK", "review", "failed attention checks"),
}
"""For each completion code: the field of the plan's terms, Prolific's type, the default action, and the people who get
it.
"""
ACTIONS = ("review", "approve", "return")
MAX_PLACES = 10_000


@dataclass(frozen=True, slots=True)
class Draft:
    """An owner's settings of a study. Values that are empty or 0 come from the task, its plan and measured times.

    ``actions`` maps the names of ``CODES`` to ``review``, ``approve`` or ``return``. Eligibility and devices are set
    on Prolific's own page of the draft.
    """

    title: str = ""
    description: str = ""
    places: int = 0
    minutes: float = 0
    actions: Mapping[str, str] = field(default_factory=dict)


@use_case(OWNERS)
def draft_study(context: Context, person: Person, slug: str, draft: Draft, *, dry_run: bool = True) -> Report:
    """Create a study on Prolific as an unpublished draft, which costs nothing, or preview it.

    Raises:
        InputError: a required setting is missing or invalid; nothing was sent.
    """
    with open_desk(context, person, slug) as desk:
        body = _build(desk, draft)
        report = Report("The draft", tuple(_tell(desk, body)), desk.plan.terms.currency, dry=dry_run)
        if dry_run:
            return report
        body["internal_name"] = _name(desk, body)
        asked = Asked(
            Kind.DRAFT, "", (Item(body["internal_name"], slug),), desk.plan.terms.currency,
            f"{body['name']}: {body['total_available_places']} places at {say_money(body['reward'])}",
            person.name,
        )  # fmt: skip
        remote = desk.carry_out(asked, lambda: desk.client.create_study(body).id)
        made = Line("At Prolific", f"the draft {remote} exists: check it, then publish it")
        return Report("The draft was created", (made, *report.lines), report.currency)


@use_case(OWNERS)
def publish_study(
    context: Context, person: Person, slug: str, *, confirm: str = "", dry_run: bool = True
) -> Report:
    """Publish the newest draft, which lets people start and costs money, or preview this.

    Raises:
        InputError: the confirmation does not match, the newest study is not a draft, or its address or currency
        differs from the plan's.
    """
    with open_desk(context, person, slug) as desk:
        study = desk.require_study()
        _check_draft(desk, study)
        if desk.plan.state is not StudyState.RUNNING:
            raise InputError(
                f"The study is {desk.plan.state}, so people would find no work: run it first, under Crowd."
            )
        cost = round(study.reward) * study.total_available_places
        wanted = f"publish {slug} for {study.total_available_places} people"
        fee = f", with Prolific's fee {say_money(round(study.total_cost))}" if study.total_cost else ""
        line = Line(
            study.name,
            f"{study.total_available_places} places at {say_money(round(study.reward))}{fee}",
            cost,
        )
        if dry_run:
            return Report("Would be published", (line,), study.currency, wanted, dry=True)
        check_confirmation(confirm, wanted)
        item = Item(f"publish:{study.id}", study.id, cost)
        asked = Asked(Kind.PUBLISH, study.id, (item,), study.currency, line.words, person.name)
        desk.carry_out(asked, lambda: _publish(desk, study.id))
        return Report("The study was published", (line,), study.currency)


def _publish(desk: Desk, study: str) -> str:
    desk.client.publish(study)
    return study


def _check_draft(desk: Desk, study: RemoteStudy) -> None:
    if not study.is_draft:
        raise InputError(
            f"The study {study.id} is {study.status.lower()} on Prolific: only a draft can be published."
        )
    if _place(study.external_study_url or "") != _place(_address(desk)):
        raise InputError(
            "The study's address has changed since the draft, so participants could not open it: create "
            "a new draft."
        )
    _check_codes(desk.plan, study)
    stated = desk.plan.terms.currency.upper()
    if study.currency and study.currency != stated:
        raise InputError(
            f"The plan pays in {stated}, but this study on Prolific pays in {study.currency}. Set the currency and the "
            "pay per hour in Set-up, under Crowd, then create a new draft."
        )


def _check_codes(plan: Plan, study: RemoteStudy) -> None:
    """Check that Prolific's draft has every code that people can get."""
    taken = {code.code for code in study.completion_codes or ()}
    told = {code: who for term, _, _, who in CODES.values() if (code := getattr(plan.terms, term))}
    missing = [f"“{code}”, for people who {who}" for code, who in told.items() if code not in taken]
    if taken and missing:
        raise InputError(
            f"The draft on Prolific lacks the code {missing[0]}: add it on Prolific, or delete that draft and "
            "create a new one."
        )


def _place(address: str) -> tuple[str, str, list[str]]:
    """Return the parts of an address that must match: the host, path and secret."""
    parts = urlsplit(address)
    return parts.netloc, parts.path, parse_qs(parts.query).get("key", [])


def _address(desk: Desk) -> str:
    url, terms = desk.context.settings.public_url, desk.plan.terms
    with desk.context.store.read() as db:
        seed = tasks.get_seed(db, desk.task.id)
    secret = build_key(seed, terms.link_version) if terms.proof == Proof.LINK else ""
    return build_address(desk.task.slug, desk.plan, secret, url)


def _build(desk: Desk, draft: Draft) -> dict[str, Any]:
    """Return the request body in the form of Prolific's API."""
    _check_plan(desk)
    with desk.context.store.read() as db:
        people = crowd_studies.list_participants(db, desk.task.id)
        spread = crowd_studies.count_places(db, desk.task.id)
    instances = sum(n for _, _, n in spread)
    if not instances:
        raise InputError(f"“{desk.task.slug}” has no instances yet: import some first.")
    # the reward is for the whole minutes that people are told
    minutes = math.ceil(_choose_minutes(draft, people, desk.plan))
    places = draft.places or count_people(instances * desk.plan.per_instance, min(desk.plan.quota, instances))
    if not 1 <= places <= MAX_PLACES:
        raise InputError(f"The number of places is {places}: choose 1 to {MAX_PLACES:,}.")
    body: dict[str, Any] = {
        "name": (draft.title or desk.task.name).strip()[:255],
        # the API allows some HTML here, so escape the text
        "description": html.escape(
            (draft.description or desk.task.description or desk.task.name).strip(), quote=False
        ),
        "external_study_url": _address(desk),
        "prolific_id_option": "url_parameters",
        "completion_codes": list(_build_codes(desk.plan, draft)),
        "total_available_places": places,
        "estimated_completion_time": minutes,
        "reward": compute_reward(minutes, desk.plan.terms.hourly_rate),
        "submissions_config": {"max_submissions_per_participant": 1},
    }
    if desk.plan.terms.proof == Proof.TOKEN:
        body["is_external_study_url_secure"] = True
    return body


def _name(desk: Desk, body: Mapping[str, Any]) -> str:
    """Return the study's internal name on Prolific.

    The same settings give the same name until that study is published or deleted.
    """
    past = sum(study is None or not study.is_draft for study in map(desk.find_study, desk.studies))
    said = repr((sorted(body.items()), desk.plan.terms.currency, past))
    return f"CoEval {desk.task.slug} {hashlib.sha256(said.encode()).hexdigest()[:12]}"


def _check_plan(desk: Desk) -> None:
    terms = desk.plan.terms
    if terms.service != "prolific":
        raise InputError("The plan does not allow Prolific links: choose them in Set-up, under Crowd.")
    if terms.proof == Proof.NONE:
        raise InputError(
            "Links are not verified, so anyone who knows another person's id could be paid in their place. "
            "In Set-up, under Crowd, choose a secret in the link or Prolific’s secure links."
        )
    if not desk.context.settings.public_url:
        raise InputError("CoEval has no public address for participants: set COEVAL_URL.")
    if not terms.code_done:
        raise InputError("There is no completion code: set a code in Set-up, under Crowd.")
    if not terms.hourly_rate > 0:
        raise InputError("The pay per hour is 0: set it in Set-up, under Crowd.")


def _choose_minutes(draft: Draft, people: list[Participant], plan: Plan) -> float:
    minutes = draft.minutes or measure_minutes(people, plan.quota) or 0
    if not minutes:
        raise InputError(
            "Fewer than three people have finished an instance, so there is no measured time yet: enter the "
            "minutes from your own pilot."
        )
    if not 1 <= minutes <= 24 * 60:
        raise InputError(f"The time is {minutes:g} minutes: give 1 to {24 * 60:,}.")
    return minutes


def _build_codes(plan: Plan, draft: Draft) -> Iterator[dict[str, Any]]:
    for name, action in draft.actions.items():
        if name not in CODES or action not in ACTIONS:
            raise InputError(
                f"“{name}={action}” is not an action for a code: the codes are {', '.join(CODES)}; the "
                f"actions are {', '.join(ACTIONS)}."
            )
    for name, (term, kind, usual, who) in CODES.items():
        code, action = getattr(plan.terms, term), draft.actions.get(name, usual)
        if not code:
            continue
        does: dict[str, Any] = {"action": "MANUALLY_REVIEW"}
        if action == "approve":
            does = {"action": "AUTOMATICALLY_APPROVE"}
        elif action == "return":
            does = {"action": "REQUEST_RETURN", "return_reason": f"You {who}."}
        yield {"code": code, "code_type": kind, "actions": [does], "actor": "participant"}


def _tell(desk: Desk, body: Mapping[str, Any]) -> Iterator[Line]:
    terms = desk.plan.terms
    reward, minutes = body["reward"], body["estimated_completion_time"]
    yield Line("Title", body["name"])
    yield Line("Description", html.unescape(body["description"])[:300])
    yield Line("Time", f"{minutes} minutes")
    yield Line("Reward", f"{say_money(reward, terms.currency)} a person, {terms.hourly_rate:g} an hour")
    least = LEAST_PER_HOUR.get(terms.currency.upper(), 0)
    if terms.hourly_rate < least:
        # the draft is created anyway: this is not a failure
        yield Line("Warning", f"Prolific requires at least {least:g} {terms.currency} an hour")
    places = body["total_available_places"]
    yield Line("Places", f"{places}, before Prolific's fee", places * reward)
    for code in body["completion_codes"]:
        does = code["actions"][0]["action"].replace("_", " ").lower()
        yield Line(f"Code {code['code']}", f"{code['code_type'].replace('_', ' ').lower()}: {does}")
    yield Line("Links", "signed by Prolific" if terms.proof == Proof.TOKEN else "with the study's secret")


@use_case(OWNERS)
def top_up(
    context: Context, person: Person, slug: str, *, more: int = 0, confirm: str = "", dry_run: bool = True
) -> Report:
    """Add places to the newest published study: ``more``, or by default as many as the missing work needs.

    The confirmation text contains the old and the new number of places, so it is valid only once.

    Raises:
        InputError: no study is published, no place is needed, an earlier request for places has an unknown result, or
        the confirmation does not match; nothing was sent.
    """
    with open_desk(context, person, slug) as desk:
        _check_settled(desk)
        study = desk.require_study(out=True)
        if not 0 <= more <= MAX_PLACES:
            raise InputError(
                f"The number of places to add is {more}: choose 1 to {MAX_PLACES:,}, or 0 for as many as "
                "needed."
            )
        needed, working = _count_needed(desk, study)
        added = more or needed
        places = study.total_available_places + added
        cost = round(study.reward) * added
        wanted = f"make {places} places of {study.total_available_places} for {slug}"
        words = f"{working}; {added} more make {places} places at {say_money(round(study.reward))}"
        line = Line(study.name, words, cost)
        if dry_run:
            return Report("More places", (line,), study.currency, wanted if added else "", dry=True)
        if not added:
            raise InputError(f"No more places are needed: {working}. To add some anyway, enter a number.")
        check_confirmation(confirm, wanted)
        item = Item(f"places:{study.id}:{places}", study.id, cost)
        asked = Asked(Kind.PLACES, study.id, (item,), study.currency, words, person.name)

        def send() -> str:
            desk.client.set_places(study.id, places)
            return study.id

        desk.carry_out(asked, send)
        return Report("Places were added", (line,), study.currency)


def _check_settled(desk: Desk) -> None:
    """Refuse if an earlier request for places has an unknown result, because the current number may not
    include those places.
    """
    for asked in desk.asked:
        if asked.kind is Kind.PLACES and asked.outcome in UNSETTLED:
            raise InputError(say_standing(asked))


def _count_needed(desk: Desk, study: RemoteStudy) -> tuple[int, str]:
    """Return the number of places to add for the missing work, and the calculation in words."""
    seen = get_overview(desk.context, desk.person, desk.task.slug)
    quota = min(desk.plan.quota, sum(n for _, _, n in seen.places))
    missing = sum(max(desk.plan.per_instance - taken, 0) * n for _, taken, n in seen.places)
    promised = sum(_count_promised(row, quota) for row in seen.people)
    done = [
        row.participant.finished - row.participant.checks
        for row in seen.people
        if row.state is Standing.FINISHED
    ]
    each = statistics.median(done) if done else quota
    free = max(study.total_available_places - (study.places_taken or 0), 0)
    needed = max(count_people(max(missing - promised, 0), each) - free, 0)
    return needed, (
        f"{missing} evaluations of an instance are missing, current participants will do {promised} of them, "
        f"one person does {each:g}, {free} places are free"
    )


def _count_promised(row: Row, quota: int) -> int:
    """Return the number of instances that a current participant will still get, in addition to those already
    assigned.
    """
    participant = row.participant
    # people whose time has run out, or who may finish for lack of work, are not counted
    if (
        participant.left
        or participant.state not in (Standing.ADMITTED, Standing.WARNED)
        or row.advice.suggestion != "wait"
    ):
        return 0
    return max(quota - participant.finished - participant.held, 0)
