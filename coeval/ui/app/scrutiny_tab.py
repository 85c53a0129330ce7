"""The Scrutiny tab: the review screen, links into it, and its routes.

A confirm is one request, and its answer contains the next screen. Simultaneous confirms share a transaction
(``coeval.usecases.scrutiny.steps``). They bypass Gradio's event queue, which would limit how many people can confirm at
once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, FastAPI, Query, Request
from fastapi.responses import JSONResponse

from coeval.domain import Filter, Person, Role, Submission
from coeval.errors import NotAllowedError, NotGivenError
from coeval.language import get_spoken, later, speaking
from coeval.rules.arms import Aliases, Layout
from coeval.rules.evaluation_rows import LARGEST_ID, Sent
from coeval.settings import SignIn
from coeval.stats.report.agreement import people_alphas
from coeval.stats.report.answer import too_few
from coeval.ui.app.step_json import Json, history_json, sheet_json, step_json
from coeval.ui.components.number_words import plural, shown
from coeval.ui.components.view import Node, Screen, View, el
from coeval.ui.server.identity import get_person
from coeval.ui.server.payloads import (
    AnswerPayload,
    LinePayload,
    MarkPayload,
    SheetPayload,
    save_and_open,
)
from coeval.ui.tabs import StudyTab, Update, first_task
from coeval.usecases.access import Context
from coeval.usecases.drafting.jobs import draft_line
from coeval.usecases.hosting.replication import get_shipped
from coeval.usecases.reports.statistics import get_reading
from coeval.usecases.save_batching import Together
from coeval.usecases.scrutiny import review, steps
from coeval.usecases.scrutiny.steps import Move, Step, Where
from coeval.usecases.tasks import get_language, get_task_state


def step_link(slug: str, external_id: str, root: str = "../") -> str:
    """Return the address that opens an instance in Scrutiny; ``root`` is the study's page, from Set-up by default.

    >>> step_link("eli5", "q 1")
    '../?task=eli5&tab=scrutiny&item=q+1'
    """
    return f"{root}?" + urlencode({"task": slug, "tab": "scrutiny", "item": external_id})


class ScrutinyTab(StudyTab):
    """The review of a task's evaluations by the signed-in person."""

    title, id = later("Scrutiny"), "scrutiny"

    def build(self) -> None:
        self.progress = View(elem_id="review-progress")
        self.screen = Screen(screen="scrutiny", elem_id="workbench")
        self.outputs = [self.progress, self.screen]

    def load(self, person: Person, slug: str) -> Update:
        return {self.screen: _value(person, slug), **self.follow(person, slug)}

    def follow(self, person: Person, slug: str, *values: Any) -> Update:
        """Return how far two people agree, for the owner of a review without set-up."""
        reviews = self.context.settings.sign_in is SignIn.LINKS and person.role is Role.OWNER and slug
        return {self.progress: _progress(self.context, person, slug) if reviews else None}


def open_scrutiny(context: Context, request: Request, tab: str) -> dict[str, Any]:
    """Return the screen's value and the state of snapshots, by id; nothing if another tab opens."""
    if tab != ScrutinyTab.id:
        return {}
    person = get_person(context, request)
    slug = first_task(context, person, request)
    with speaking(get_language(context, slug, person)):
        return {"workbench": _value(person, slug), "shipped": asdict(get_shipped(context, person))}


def _value(person: Person, slug: str) -> dict[str, str] | None:
    return {"task": slug, "person": person.uid, "language": get_spoken().code} if slug else None


ENOUGH_DOUBLE = 20
"""The number of items with the scores of two people from which a review shows their agreement."""


def _progress(context: Context, person: Person, slug: str) -> Node:
    alphas = get_reading(context, person, slug).get(people_alphas)
    by_criterion = [levels["ordinal"] for levels in alphas.per_criterion]
    double = min((int(alpha.details.get("n_units", 0)) for alpha in by_criterion), default=0)
    if double < ENOUGH_DOUBLE:
        total = get_task_state(context, person, slug, counted=False).n_instances
        if total < ENOUGH_DOUBLE:
            return el("p.note", f"This file has {plural(total, 'item')}; Agreement shows their scores.")
        so_far = f"Two people scored {plural(double, 'item')}."
        return el("p.note", f"{so_far} From {ENOUGH_DOUBLE} items, this line shows their agreement.")
    disputes = review.list_disputes(context, person, slug)
    where = el("a", "Agreement", href=f"?task={slug}&tab=agreement")
    parts: list[Node] = [
        f"Two people scored {plural(double, 'item')}. Ordinal alpha: {shown(alphas.of_all.mean.value)} (",
        where,
        "). ",
    ]
    if alphas.headline.few_clusters:
        n = int(alphas.headline.mean.value.details["clusters"])
        parts.append(f"It is too early to rely on it. {too_few(n, 'documents')} ")
    if disputes:
        first = disputes[0]
        link = step_link(slug, first.external_id, "")
        # the page counts in the person's own order, so a number of the data would name another item there
        parts += [
            "The largest disagreement is on ",
            el("a", "this item", href=link),
            f": {first.low:g} and {first.high:g} for “{first.text}”.",
        ]
    return el("p.note", *parts)


# The routes of the scrutiny screen: JSON in, JSON out.

Named = Annotated[int, Query(ge=1, le=LARGEST_ID)]
Wanted = Annotated[int | None, Query(ge=1, le=LARGEST_ID)]
NOT_GIVEN = (
    "Instance “{}” is not assigned to you, so you cannot judge it. Set-up, Data, shows all of its data; "
    "Set-up, People, assigns the work."
)
"""The message for owners who follow a link from Set-up."""


def add_scrutiny_api(app: FastAPI, context: Context) -> None:
    """Add the routes under /api/scrutiny to the server."""
    router = APIRouter(prefix="/api/scrutiny/{slug}")

    @router.post("/step")
    def post_step(
        request: Request,
        slug: str,
        filter: Filter = Filter.UNFINISHED,
        at: Wanted = None,
        instance: Wanted = None,
        criterion: Wanted = None,
        move: Move = Move.HERE,
        sheet: bool | None = None,
        item: str = Query("", max_length=1000),
        ahead: bool = False,
    ) -> dict[str, Any]:
        person, aliases = _identify(context, request, slug)
        revealed = aliases.reveal("instance", instance) if instance else None
        if item:
            revealed = review.view_instance(context, person, slug, item).instance.id
        where = Where(filter, at, revealed, criterion, move)
        if ahead:
            steps_ahead = steps.get_ahead(context, person, slug, where, sheet=bool(sheet))
            if not steps_ahead:
                return {}
            return sheet_json(steps_ahead, aliases) if sheet else _step_json(context, steps_ahead[0], aliases)
        try:
            return _open(context, person, slug, where, aliases, sheet=sheet)
        except NotGivenError:
            if not item:
                raise
            raise NotAllowedError(NOT_GIVEN.format(item[:80])) from None

    # the database accepts one save at a time, so one thread makes them all
    together = Together[JSONResponse](context.store)

    @router.post("/submissions")
    async def post_submission(request: Request, slug: str, payload: Sent) -> JSONResponse:
        return await together.save(
            lambda: _save(context, request, slug, [payload], payload.filter, sheet=False)
        )

    @router.post("/sheets")
    async def post_sheet(request: Request, slug: str, payload: SheetPayload) -> JSONResponse:
        evaluations = payload.evaluations
        return await together.save(
            lambda: _save(context, request, slug, evaluations, payload.filter, sheet=True)
        )

    @router.post("/draft")
    def post_draft(request: Request, slug: str, payload: LinePayload) -> dict[str, Any]:
        person, aliases = _identify(context, request, slug)
        where = Where(instance=aliases.reveal("instance", payload.instance), criterion=payload.criterion)
        assert where.instance is not None
        draft_line(context, person, slug, where.instance, payload.criterion)
        return _open(context, person, slug, where, aliases, sheet=False)

    _add_marks(router, context)
    app.include_router(router)


def _add_marks(router: APIRouter, context: Context) -> None:
    """Add the routes for marks, answers to them, and a person's saved versions."""

    @router.post("/marks")
    def post_mark(request: Request, slug: str, payload: MarkPayload) -> dict[str, Any]:
        person = get_person(context, request)
        mark = steps.mark_instance(
            context,
            person,
            slug,
            steps.get_aliases(context, person, slug).reveal("instance", payload.instance),
            flagged=payload.flagged,
            skipped=payload.skipped,
            comment=payload.comment,
        )
        return {"flagged": mark.flagged, "skipped": mark.skipped, "comment": mark.comment}

    @router.get("/history")
    def get_history(
        request: Request, slug: str, instance: Named, criterion: Named, before: Named = LARGEST_ID
    ) -> dict[str, Any]:
        person = get_person(context, request)
        revealed = steps.get_aliases(context, person, slug).reveal("instance", instance)
        saved = steps.list_history(context, person, slug, revealed, criterion, before)
        return {"versions": history_json(saved), "more": bool(saved) and saved[0].revision > 1}

    @router.post("/answers")
    def post_answer(request: Request, slug: str, payload: AnswerPayload) -> dict[str, str]:
        person = get_person(context, request)
        answered = review.answer_message(
            context, person, slug, payload.message, payload.text, close=payload.close
        )
        return {"state": answered.state}


def _open(
    context: Context, person: Person, slug: str, where: Where, aliases: Aliases, *, sheet: bool | None
) -> Json:
    """Return the screen of one criterion or of all (``sheet``); by default, the study's design decides."""
    if sheet is None:
        sheet = steps.get_layout(context, person, slug) is Layout.ALL
    if sheet:
        return sheet_json(steps.get_sheet(context, person, slug, where), aliases)
    return _step_json(context, steps.get_step(context, person, slug, where), aliases)


def _step_json(context: Context, step: Step, aliases: Aliases) -> Json:
    """Return the screen of one criterion; owners can draft what has no draft."""
    return step_json(step, aliases) | {"offers_draft": step.sets_up and context.settings.has_model}


def _identify(context: Context, request: Request, slug: str) -> tuple[Person, Aliases]:
    """Return the person of the request, and the ids in their view."""
    with context.store.read():
        person = get_person(context, request)
        return person, steps.get_aliases(context, person, slug)


def _save(
    context: Context, request: Request, slug: str, evaluations: Sequence[Sent], which: Filter, *, sheet: bool
) -> JSONResponse:
    """Save one evaluation, or all of a sheet, and open the next screen in one transaction."""
    person, aliases = _identify(context, request, slug)
    sent = [_reveal(aliases, evaluation) for evaluation in evaluations]
    here = Where(which, instance=sent[0].instance, criterion=sent[0].criterion)
    # after a first score, the same screen is shown again, with the draft
    is_first = any(evaluation.first for evaluation in sent)
    onward = here if is_first else replace(here, move=Move.NEXT_SHEET if sheet else Move.NEXT)

    def save() -> Submission:
        saved = steps.submit_sheet(context, person, slug, sent)[-1]
        return replace(saved, revision=1) if sheet else saved

    def show(where: Where) -> Json:
        return _open(context, person, slug, where, aliases, sheet=sheet)

    return save_and_open(context, save, lambda saved: show(onward), lambda: show(here))


def _reveal(aliases: Aliases, sent: Sent) -> Sent:
    """Return a browser's save with table ids instead of this person's aliases."""
    return replace(
        sent,
        instance=aliases.reveal("instance", sent.instance),
        draft=aliases.reveal("draft", sent.draft) if sent.draft else None,
        rows=tuple(replace(row, id=aliases.reveal("row", row.id)) for row in sent.rows),
    )
