"""A study at Prolific is drafted from a task and its plan, and published on a typed confirmation."""

from __future__ import annotations

import hashlib
import html
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from coeval.domain import Participant, Person, Plan, Proof
from coeval.domain.crowd import Asked, Item, Kind
from coeval.errors import InputError
from coeval.store.queries import tasks
from coeval.store.queries.people import participants
from coeval.study.access import OWNERS, Context, use_case
from coeval.study.crowd.prolific.desk import (
    Desk,
    Line,
    Report,
    check_confirmation,
    open_desk,
    say_money,
)
from coeval.study.crowd.prolific.filters import read_filters, say_filter
from coeval.study.crowd.prolific.models import RemoteStudy
from coeval.study.crowd.prolific.rules import LEAST_PER_HOUR, compute_reward, count_people, measure_minutes
from coeval.study.crowd.proof import build_address, build_key

CODES = {
    "done": ("code_done", "COMPLETED", "review", "finished the work"),
    "screened": ("code_screened", "OTHER", "review", "did not qualify"),
    "declined": ("code_declined", "NO_CONSENT", "return", "did not consent"),
    "full": ("code_full", "OTHER", "review", "came when the study was full"),
    "blocked": ("code_blocked", "FAILED_ATTENTION_CHECK", "review", "failed attention checks"),
}
"""By name: the field of the plan's terms, Prolific's type of code, what is done unless said, and who gets it."""
ACTIONS = ("review", "approve", "return", "pay")
MAX_PLACES = 10_000
DEVICES = ("desktop", "tablet", "mobile")


@dataclass(frozen=True, slots=True)
class Draft:
    """What an owner decides of a study; what is empty or 0 comes from the task, its plan and its measured times.

    ``actions`` by the names of ``CODES``: ``review``, ``approve``, ``return``, or for ``screened`` ``pay``, which pays
    ``screen_out_pay`` (pence or cents) to at most ``screen_out_places`` people. ``filters``: a line each.
    """

    title: str = ""
    description: str = ""
    places: int = 0
    minutes: float = 0
    actions: Mapping[str, str] = field(default_factory=dict)
    screen_out_pay: int = 0
    screen_out_places: int = 0
    filters: str = ""
    devices: tuple[str, ...] = ("desktop",)


@use_case(OWNERS)
def draft_study(context: Context, person: Person, slug: str, draft: Draft, *, dry_run: bool = True) -> Report:
    """Create a study at Prolific as a draft, which nobody sees and which costs nothing; or say what it would be.

    Raises:
        InputError: something that a study needs is missing or cannot be used; nothing was sent.
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
        made = Line("At Prolific", f"the draft {remote} is there: read it, then publish it")
        return Report("The draft was created", (made, *report.lines), report.currency)


@use_case(OWNERS)
def publish_study(
    context: Context, person: Person, slug: str, *, confirm: str = "", dry_run: bool = True
) -> Report:
    """Publish the newest draft, from when on people come and cost money; or say what that would be.

    Raises:
        InputError: the confirmation is not as asked; or the newest study is no draft, or has another address or
            currency than the plan.
    """
    with open_desk(context, person, slug) as desk:
        study = desk.require_study()
        _check_draft(desk, study)
        cost = round(study.reward) * study.total_available_places
        wanted = f"publish {slug} for {study.total_available_places} people"
        fee = f", with Prolific's fee {say_money(round(study.total_cost))}" if study.total_cost else ""
        line = Line(
            study.name,
            f"{study.total_available_places} places at {say_money(round(study.reward))}{fee}",
            cost,
        )
        if dry_run:
            return Report("To be published", (line,), study.currency, wanted, dry=True)
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
            f"The study {study.id} is {study.status.lower()} at Prolific: only a draft can be published."
        )
    if _place(study.external_study_url or "") != _place(_address(desk)):
        raise InputError(
            "The study's address is not the one in the draft any more, so nobody could come in: create a new draft."
        )
    _check_codes(desk.plan, study)
    stated = desk.plan.terms.currency.upper()
    if study.currency and study.currency != stated:
        raise InputError(
            f"The plan pays in {stated}, and this study at Prolific in {study.currency}: set the currency and the pay"
            " per hour in Set-up, under Crowd, then create a new draft."
        )


def _check_codes(plan: Plan, study: RemoteStudy) -> None:
    """Raise where people would be told a code that Prolific does not take."""
    taken = {one.code for one in study.completion_codes or ()}
    told = {code: who for term, _, _, who in CODES.values() if (code := getattr(plan.terms, term))}
    missing = [f"“{code}”, for who {who}" for code, who in told.items() if code not in taken]
    if taken and missing:
        raise InputError(
            f"The draft at Prolific does not take the code {missing[0]}: enter it there, or delete that draft and"
            " create a new one."
        )


def _place(address: str) -> tuple[str, str, list[str]]:
    """What of an address decides who comes in: its host, path and secret, however the rest is spelt."""
    parts = urlsplit(address)
    return parts.netloc, parts.path, parse_qs(parts.query).get("key", [])


def _address(desk: Desk) -> str:
    url, terms = desk.context.settings.public_url, desk.plan.terms
    with desk.context.store.read() as db:
        seed = tasks.get_seed(db, desk.task.id)
    secret = build_key(seed, terms.link_version) if terms.proof == Proof.LINK else ""
    return build_address(desk.task.slug, desk.plan, secret, url)


def _build(desk: Desk, draft: Draft) -> dict[str, Any]:
    """What is sent, by the names of the reference."""
    _check_plan(desk)
    with desk.context.store.read() as db:
        people = participants.list_participants(db, desk.task.id)
        spread = participants.count_places(db, desk.task.id)
    instances = sum(n for _, _, n in spread)
    if not instances:
        raise InputError(f"“{desk.task.slug}” has no instances yet: import some first.")
    # the reward is for the whole minutes that people are told
    minutes = math.ceil(_choose_minutes(draft, people, desk.plan))
    places = draft.places or count_people(instances * desk.plan.per_instance, min(desk.plan.quota, instances))
    if not 1 <= places <= MAX_PLACES:
        raise InputError(f"The places are {places}: choose 1 to {MAX_PLACES:,}.")
    body: dict[str, Any] = {
        "name": (draft.title or desk.task.name).strip()[:255],
        # the reference allows some HTML here: a text stays what it is
        "description": html.escape(
            (draft.description or desk.task.description or desk.task.name).strip(), quote=False
        ),
        "external_study_url": _address(desk),
        "prolific_id_option": "url_parameters",
        "completion_codes": list(_build_codes(desk.plan, draft)),
        "total_available_places": places,
        "estimated_completion_time": minutes,
        "reward": compute_reward(minutes, desk.plan.terms.hourly_rate),
        "device_compatibility": _choose_devices(draft),
        "filters": read_filters(draft.filters, desk.client.list_filters) if draft.filters.strip() else [],
        "submissions_config": {"max_submissions_per_participant": 1},
    }
    if desk.plan.terms.proof == Proof.TOKEN:
        body["is_external_study_url_secure"] = True
    _check_screen_out(draft, body["reward"])
    return body


def _name(desk: Desk, body: Mapping[str, Any]) -> str:
    """What a draft is known by at Prolific: the same for the same, until one before was published or deleted."""
    past = sum(study is None or not study.is_draft for study in map(desk.find_study, desk.studies))
    said = repr((sorted(body.items()), desk.plan.terms.currency, past))
    return f"CoEval {desk.task.slug} {hashlib.sha256(said.encode()).hexdigest()[:12]}"


def _check_plan(desk: Desk) -> None:
    terms = desk.plan.terms
    if terms.service != "prolific":
        raise InputError(
            "The plan does not let people arrive by Prolific links: choose so in Set-up, under Crowd."
        )
    if terms.proof == Proof.NONE:
        raise InputError(
            "Links are not verified, so anyone who knows an id could be paid under it: in Set-up, under Crowd, choose a"
            " secret in the address or Prolific’s secure links."
        )
    if not desk.context.settings.public_url:
        raise InputError("CoEval has no public address that Prolific could send people to: set COEVAL_URL.")
    if not terms.code_done:
        raise InputError("There is no completion code: set one in Set-up, under Crowd.")
    if not terms.hourly_rate > 0:
        raise InputError("The pay per hour is 0: set it in Set-up, under Crowd.")


def _choose_minutes(draft: Draft, people: list[Participant], plan: Plan) -> float:
    minutes = draft.minutes or measure_minutes(people, plan.quota) or 0
    if not minutes:
        raise InputError(
            "Fewer than three people have finished anything yet, so that no time is measured: state the minutes, from a"
            " pilot of your own."
        )
    if not 1 <= minutes <= 24 * 60:
        raise InputError(f"The time is {minutes:g} minutes: give 1 to {24 * 60:,}.")
    return minutes


def _choose_devices(draft: Draft) -> list[str]:
    unknown = [name for name in draft.devices if name not in DEVICES]
    if not draft.devices:
        raise InputError("No device is chosen: tick at least one.")
    if unknown:
        raise InputError(f"“{', '.join(unknown)}” is no device known here: choose of {', '.join(DEVICES)}.")
    return list(draft.devices)


def _build_codes(plan: Plan, draft: Draft) -> Iterator[dict[str, Any]]:
    for name, action in draft.actions.items():
        if name not in CODES or action not in ACTIONS or (action == "pay" and name != "screened"):
            raise InputError(
                f"“{name}={action}” is no action of a code: the codes are {', '.join(CODES)}, the actions"
                f" {', '.join(ACTIONS)}, of which “pay” is for “screened” alone."
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
        elif action == "pay":
            kind = "FIXED_SCREENOUT"
            does = {
                "action": "FIXED_SCREEN_OUT_PAYMENT",
                "fixed_screen_out_reward": draft.screen_out_pay,
                "slots": draft.screen_out_places,
            }
        yield {"code": code, "code_type": kind, "actions": [does], "actor": "participant"}


def _check_screen_out(draft: Draft, reward: int) -> None:
    if draft.actions.get("screened") != "pay":
        return
    if not (0 < draft.screen_out_pay < reward and draft.screen_out_places >= 1):
        raise InputError(
            f"Who does not qualify would get {say_money(draft.screen_out_pay)}, {draft.screen_out_places} people at"
            f" most: give an amount above 0 and below the reward of {say_money(reward)}, and how many people at most."
        )


def _tell(desk: Desk, body: Mapping[str, Any]) -> Iterator[Line]:
    terms = desk.plan.terms
    reward, minutes = body["reward"], body["estimated_completion_time"]
    yield Line("Title", body["name"])
    yield Line("Description", html.unescape(body["description"])[:300])
    yield Line("Time", f"{minutes} minutes")
    yield Line("Reward", f"{say_money(reward, terms.currency)} a person, {terms.hourly_rate:g} an hour")
    least = LEAST_PER_HOUR.get(terms.currency.upper(), 0)
    if terms.hourly_rate < least:
        # the draft is made all the same: this is no failure
        yield Line("Warning", f"Prolific asks for at least {least:g} {terms.currency} an hour")
    places = body["total_available_places"]
    yield Line("Places", f"{places}, before Prolific's fee", places * reward)
    for code in body["completion_codes"]:
        does = code["actions"][0]["action"].replace("_", " ").lower()
        yield Line(f"Code {code['code']}", f"{code['code_type'].replace('_', ' ').lower()}: {does}")
    yield from (Line("Filter", say_filter(one)) for one in body["filters"])
    yield Line("Devices", ", ".join(body["device_compatibility"]))
    yield Line("Links", "signed by Prolific" if terms.proof == Proof.TOKEN else "with the study's secret")


def find_made(desk: Desk, mark: str) -> str:
    """The id of the draft that bears this mark at Prolific; "" where there is none."""
    return next((one.id for one in desk.client.list_drafts() if one.internal_name == mark), "")


def is_published(desk: Desk, study: str) -> bool:
    """Whether a study left its draft; not where Prolific does not know it."""
    found = desk.find_study(study)
    return found is not None and not found.is_draft
