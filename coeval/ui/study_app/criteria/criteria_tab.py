"""The Criteria tab: the task card, the ballot, and, for owners, the tally and the way to an established set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gradio as gr
import pandas as pd

from coeval.domain import Origin, Person, Proposal, Role
from coeval.errors import CoevalError
from coeval.study import tasks
from coeval.study.access import Context
from coeval.study.criteria import rounds
from coeval.study.drafting import preparing
from coeval.ui.components.review_table.review_table import ReviewTable
from coeval.ui.components.tasks_picker import chosen_task
from coeval.ui.components.view import View
from coeval.ui.server.identity import get_person, shown
from coeval.ui.study_app.criteria import criteria_views as views
from coeval.ui.study_app.criteria.criteria_tables import (
    ballot_frame,
    decisions_frame,
    read_decisions,
    read_votes,
)

Bind = Callable[[Callable[..., Any]], None]


@dataclass(frozen=True, slots=True)
class _Parts:
    """The components of the tab."""

    card: View
    main: View
    ballot_box: gr.Column
    ballot_title: View
    ballot: ReviewTable
    saved: View
    tally: View
    established: View
    propose: gr.Accordion
    hint: View
    samples: gr.Radio
    model: gr.Textbox
    draft: gr.Button
    lines: gr.Textbox
    open_vote: gr.Button
    suggested: gr.CheckboxGroup
    reopen: gr.Button
    findings: gr.CheckboxGroup
    take: gr.Button
    settle: gr.Column
    decisions: ReviewTable
    establish: gr.Button

    def all(self) -> list[Any]:
        return [getattr(self, name) for name in self.__slots__]


def build_criteria_tab(context: Context, task: gr.Dropdown) -> Bind:
    """Build the tab; gives a function that loads it on an event."""
    parts = _build_parts(context)
    handlers = _Handlers(context, parts)
    quick: dict[str, Any] = {"concurrency_limit": None, "api_visibility": "private"}

    parts.ballot.submit(handlers.on_save, [task, parts.ballot], parts.all(), **quick)
    parts.open_vote.click(handlers.on_open_vote, [task, parts.lines], parts.all(), **quick)
    parts.reopen.click(handlers.on_reopen, [task, parts.suggested], parts.all(), **quick)
    parts.take.click(handlers.on_take, [task, parts.findings], parts.all(), **quick)
    parts.establish.click(handlers.on_establish, [task, parts.decisions], parts.all(), **quick)
    parts.draft.click(
        handlers.on_draft,
        [task, parts.samples, parts.model],
        parts.all(),
        concurrency_limit=2,
        concurrency_id="model",
        api_visibility="private",
    )

    def load_on(event: Callable[..., Any]) -> None:
        event(handlers.on_load, task, parts.all(), show_progress="hidden", **quick)

    return load_on


def _build_parts(context: Context) -> _Parts:
    made: dict[str, Any] = {"card": View(elem_id="task-card")}
    with gr.Row(equal_height=False, elem_classes="two-columns"):
        with gr.Column(scale=2, min_width=320):
            made["main"] = View(elem_id="criteria-main")
            made |= _build_ballot()
            made |= _build_settle()
        with gr.Column(scale=1, min_width=280):
            made["established"] = View(elem_id="established")
            made["suggested"] = gr.CheckboxGroup(
                [],
                label="Suggested while scrutinising",
                info="Those chosen join the vote on the next version.",
                visible=False,
                elem_id="suggested",
            )
            made["reopen"] = gr.Button("Open the next version", elem_id="reopen", visible=False)
            made["tally"] = View(elem_id="tally")
            made |= _build_findings()
            made |= _build_propose(context)
    return _Parts(**made)


def _build_ballot() -> dict[str, Any]:
    with gr.Column(visible=False, elem_classes="card") as box:
        title = View(elem_id="ballot-title")
        table = ReviewTable(elem_id="ballot")
        saved = View(elem_id="ballot-saved")
    return {"ballot_box": box, "ballot_title": title, "ballot": table, "saved": saved}


def _build_settle() -> dict[str, Any]:
    with gr.Column(visible=False, elem_classes="card", elem_id="settle") as settle:
        View(views.settle_title())
        decisions = ReviewTable(elem_id="decisions")
        with gr.Row(elem_classes="actions"):
            establish = gr.Button("Establish criteria set", variant="primary", elem_id="establish", scale=0)
    return {"settle": settle, "decisions": decisions, "establish": establish}


def _build_findings() -> dict[str, Any]:
    findings = gr.CheckboxGroup([], label="Worth a second look", visible=False, elem_id="findings")
    take = gr.Button("Open a round with the chosen changes", visible=False, elem_id="take-findings")
    return {"findings": findings, "take": take}


def _build_propose(context: Context) -> dict[str, Any]:
    settings = context.settings
    with gr.Accordion("Draft or write criteria", open=False, visible=False, elem_id="propose") as propose:
        hint = View(views.model_hint(settings.has_model, settings.model))
        with gr.Row():
            samples = gr.Radio([1, 5, 10], value=10, label="Samples", elem_id="samples")
            model = gr.Textbox(settings.model, label="Model", max_length=200, elem_id="draft-model")
        draft = gr.Button("Draft criteria", interactive=settings.has_model, elem_id="draft-criteria")
        lines = gr.Textbox(
            label="Or write them, one a line",
            lines=5,
            max_length=50_000,
            elem_id="criteria-lines",
            placeholder="The reply answers what was asked.",
        )
        open_vote = gr.Button("Open the vote", elem_id="open-vote")
    return {
        "propose": propose,
        "hint": hint,
        "samples": samples,
        "model": model,
        "draft": draft,
        "lines": lines,
        "open_vote": open_vote,
    }


class _Handlers:
    """What the tab's events do: ask a use case, then show the tab as it now stands."""

    def __init__(self, context: Context, parts: _Parts) -> None:
        self.context, self.parts = context, parts

    def on_load(self, slug: str | None, request: gr.Request) -> dict[Any, Any]:
        return self._do(request, slug, lambda person, task: None)

    def on_save(self, slug: str, ballot: pd.DataFrame, request: gr.Request) -> dict[Any, Any]:
        def save(person: Person, task: str) -> None:
            votes = read_votes(ballot)
            rounds.cast_ballot(self.context, person, task, int(ballot.attrs["rev"]), votes)

        return self._do(request, slug, save)

    def on_open_vote(self, slug: str, lines: str, request: gr.Request) -> dict[Any, Any]:
        def open_vote(person: Person, task: str) -> None:
            proposals = [Proposal(line, Origin.HUMAN) for line in (lines or "").splitlines()]
            rounds.open_round(self.context, person, task, proposals)

        return self._do(request, slug, open_vote) | {self.parts.lines: ""}

    def on_reopen(self, slug: str, suggested: list[int], request: gr.Request) -> dict[Any, Any]:
        return self._do(
            request,
            slug,
            lambda person, task: rounds.reopen_criteria(self.context, person, task, suggested or ()),
        )

    def on_take(self, slug: str, chosen: list[int], request: gr.Request) -> dict[Any, Any]:
        def take(person: Person, task: str) -> None:
            rounds.take_findings(self.context, person, task, chosen)

        return self._do(request, slug, take)

    def on_establish(self, slug: str, table: pd.DataFrame, request: gr.Request) -> dict[Any, Any]:
        def establish(person: Person, task: str) -> None:
            rounds.establish(self.context, person, task, **read_decisions(table))

        return self._do(request, slug, establish)

    async def on_draft(self, slug: str, samples: int, model: str, request: gr.Request) -> dict[Any, Any]:
        try:
            person = get_person(self.context, request)
            proposals = await preparing.draft_criteria(
                self.context, person, slug, model=model, samples=samples
            )
            rounds.open_round(self.context, person, slug, proposals)
            return self._state(person, slug)
        except CoevalError as error:
            raise shown(error) from error

    def _do(
        self, request: gr.Request, slug: str | None, step: Callable[[Person, str], Any]
    ) -> dict[Any, Any]:
        try:
            person = get_person(self.context, request)
            slug = chosen_task(self.context, person, slug, request)
            if not slug:
                return self._no_task(person)
            step(person, slug)
            return self._state(person, slug)
        except CoevalError as error:
            raise shown(error) from error

    def _no_task(self, person: Person) -> dict[Any, Any]:
        return {self.parts.card: views.no_task_view(person.role is Role.OWNER)}

    def _state(self, person: Person, slug: str) -> dict[Any, Any]:
        """The whole tab as it stands for this person."""
        parts, owner = self.parts, person.role is Role.OWNER
        task = tasks.get_task(self.context, person, slug)
        round_ = rounds.get_round(self.context, person, slug)
        current = rounds.get_criteria_set(self.context, person, slug)
        voting = round_ is not None and round_.open
        tally = rounds.get_tally(self.context, person, slug) if owner else None
        done = views.established_view(current)
        may_reopen = owner and current is not None and not voting
        ideas = rounds.list_suggestions(self.context, person, slug) if may_reopen else []
        update: dict[Any, Any] = {
            parts.card: views.task_card(task),
            parts.main: None if voting else done or views.waiting_view(owner),
            parts.established: done if voting else None,
            parts.ballot_box: gr.Column(visible=voting),
            parts.tally: views.tally_view(tally, voting),
            parts.propose: gr.Accordion(visible=owner, open=round_ is None and current is None),
            parts.reopen: gr.Button(visible=may_reopen),
            parts.settle: gr.Column(visible=owner and voting and bool(tally and tally.n_ballots)),
        }
        said = [(views.suggestion_label(one), one.id) for one in ideas]
        update[parts.suggested] = gr.CheckboxGroup(said, value=[], visible=bool(said))
        found = rounds.list_findings(self.context, person, slug) if owner and voting else []
        labels = [(views.finding_label(one), n) for n, one in enumerate(found)]
        update[parts.findings] = gr.CheckboxGroup(labels, value=[], visible=bool(found))
        update[parts.take] = gr.Button(visible=any(one.suggestion for one in found))
        if round_ is not None and voting:
            update[parts.ballot_title] = views.ballot_title(round_)
            update[parts.ballot] = ballot_frame(round_, f"{person.id}:{slug}:{round_.id}")
            update[parts.saved] = views.saved_line(round_.ballot)
        if tally is not None and voting and round_ is not None:
            update[parts.decisions] = decisions_frame(tally, f"{person.id}:{slug}:{round_.id}:decide")
        return update
