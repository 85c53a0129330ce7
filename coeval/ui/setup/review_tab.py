"""Set-up, Review: people side by side, deciding where they differ, how they work, and who changed what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gradio as gr

from coeval.domain import Dispute, Person, Scale
from coeval.errors import CoevalError, InputError
from coeval.study.access import Context
from coeval.study.criteria import rounds
from coeval.study.scrutiny import design, review
from coeval.study.scrutiny.review import Comparison
from coeval.ui.components.view import View, el
from coeval.ui.server.identity import get_person, shown
from coeval.ui.setup.review_views import changes_view, comparison_view, habits_view

Bind = Callable[[Callable[..., Any]], None]


@dataclass(frozen=True, slots=True)
class _Parts:
    """The components of the tab."""

    differing: gr.Dropdown
    instance: gr.Textbox
    criterion: gr.Dropdown
    compare: gr.Button
    comparison: View
    decide_box: gr.Column
    score: gr.Radio
    note: gr.Textbox
    decide: gr.Button
    revision: gr.State
    habits: View
    who: gr.Dropdown
    changes: View

    def all(self) -> list[Any]:
        return [getattr(self, name) for name in self.__slots__]


def build_review_tab(context: Context, task: gr.Dropdown) -> Bind:
    """Build the tab; gives a function that loads it on an event."""
    parts = _build_parts()
    handlers = _Handlers(context, parts)
    quick: dict[str, Any] = {
        "concurrency_limit": None,
        "api_visibility": "private",
        "show_progress": "hidden",
    }
    outputs = parts.all()
    parts.differing.input(handlers.on_pick, [task, parts.differing], outputs, **quick)
    parts.compare.click(handlers.on_compare, [task, parts.instance, parts.criterion], outputs, **quick)
    chosen = [task, parts.instance, parts.criterion, parts.score, parts.note, parts.revision]
    parts.decide.click(handlers.on_decide, chosen, outputs, **quick)
    parts.who.input(handlers.on_who, [task, parts.who], parts.changes, **quick)

    def load_on(event: Callable[..., Any]) -> None:
        event(handlers.on_load, task, outputs, **quick)

    return load_on


def _build_parts() -> _Parts:
    made: dict[str, Any] = {}
    with gr.Row(equal_height=False):
        with gr.Column(scale=2, min_width=300):
            with gr.Column(elem_classes="card"):
                View(el("h4", "Compare people"))
                made["differing"] = gr.Dropdown(
                    [], label="Where they differ most", elem_id="review-differing"
                )
                made["instance"] = gr.Textbox(
                    label="Or instance, by its id", max_length=500, elem_id="review-instance"
                )
                made["criterion"] = gr.Dropdown([], label="Criterion", elem_id="review-criterion")
                made["compare"] = gr.Button("Compare", elem_id="review-compare")
            with gr.Column(elem_classes="card", visible=False, elem_id="review-decide-box") as box:
                View(el("h4", "Decide"))
                made["score"] = gr.Radio([], label="Score", elem_id="review-score")
                made["note"] = gr.Textbox(label="Why", lines=2, max_length=10_000, elem_id="review-note")
                made["decide"] = gr.Button("Record the decision", elem_id="review-decide")
            made["decide_box"] = box
        with gr.Column(scale=5):
            made["comparison"] = View(elem_id="review-comparison")
    made["habits"] = View(elem_id="review-habits")
    made["who"] = gr.Dropdown([], label="Saves of", elem_id="review-who")
    made["changes"] = View(elem_id="review-changes")
    made["revision"] = gr.State(0)
    return _Parts(**made)


class _Handlers:
    """What the tab's events do: ask a use case, then show what it gave."""

    def __init__(self, context: Context, parts: _Parts) -> None:
        self.context, self.parts = context, parts

    def on_load(self, slug: str | None, request: gr.Request) -> dict[Any, Any]:
        def load(person: Person) -> dict[Any, Any]:
            if not slug or rounds.get_criteria_set(self.context, person, slug) is None:
                return self._nothing_yet()
            return self._lists(person, slug) | self._compared(None)

        return self._do(request, load)

    def on_pick(self, slug: str, picked: str | None, request: gr.Request) -> dict[Any, Any]:
        criterion, _, external_id = (picked or "").partition(":")
        return self._do(request, lambda person: self._look(person, slug, external_id, criterion))

    def on_compare(
        self, slug: str, instance: str, criterion: str | None, request: gr.Request
    ) -> dict[Any, Any]:
        return self._do(request, lambda person: self._look(person, slug, instance or "", criterion))

    def on_decide(
        self,
        slug: str,
        instance: str,
        criterion: str | None,
        score: str | None,
        note: str,
        revision: int,
        request: gr.Request,
    ) -> dict[Any, Any]:
        def decide(person: Person) -> dict[Any, Any]:
            if score is None:
                raise InputError("No score is chosen: choose the one that should stand, then record it.")
            key = (slug, (instance or "").strip(), _id(criterion))
            decided = {"score": float(score), "note": note or "", "revision": revision}
            review.adjudicate(self.context, person, *key, **decided)  # type: ignore[arg-type]
            gr.Info("Decision recorded")
            return self._lists(person, slug) | self._look(person, slug, instance, criterion)

        return self._do(request, decide)

    def on_who(self, slug: str | None, who: str | None, request: gr.Request) -> dict[Any, Any]:
        def load(person: Person) -> dict[Any, Any]:
            found = review.list_changes(self.context, person, slug, of=who or "") if slug else []
            return {self.parts.changes: changes_view(found)}

        return self._do(request, load)

    def _do(self, request: gr.Request, step: Callable[[Person], dict[Any, Any]]) -> dict[Any, Any]:
        try:
            return step(get_person(self.context, request))
        except CoevalError as error:
            raise shown(error) from error

    def _nothing_yet(self) -> dict[Any, Any]:
        empty = el(
            "div.card.empty",
            el("h3", "Nothing to look back on yet"),
            el("p", "First establish the criteria."),
        )
        return {self.parts.comparison: empty, self.parts.habits: None, self.parts.changes: None}

    def _lists(self, person: Person, slug: str) -> dict[Any, Any]:
        """Everything on the tab but the comparison."""
        parts, context = self.parts, self.context
        current = rounds.get_criteria_set(context, person, slug)
        habits = review.list_habits(context, person, slug)
        share = design.get_design(context, person, slug).design.planted_share
        names = (
            [(f"{n}. {c.name or c.text}"[:80], str(c.id)) for n, c in enumerate(current.criteria, 1)]
            if current
            else []
        )
        people = [("everybody", ""), *((one.person, one.person) for one in habits)]
        return {
            parts.differing: gr.Dropdown(
                [
                    (_label(one), f"{one.criterion}:{one.external_id}")
                    for one in review.list_disputes(context, person, slug)
                ],
                value=None,
            ),
            parts.criterion: gr.Dropdown(names, value=names[0][1] if names else None),
            parts.habits: habits_view(habits, share),
            parts.who: gr.Dropdown(people, value=""),
            parts.changes: changes_view(review.list_changes(context, person, slug)),
        }

    def _look(self, person: Person, slug: str, external_id: str, criterion: str | None) -> dict[Any, Any]:
        external_id = external_id.strip()
        found = review.compare_people(self.context, person, slug, external_id, _id(criterion))
        chosen = {self.parts.instance: external_id, self.parts.criterion: gr.Dropdown(value=criterion)}
        return chosen | self._compared(found)

    def _compared(self, found: Comparison | None) -> dict[Any, Any]:
        parts = self.parts
        if found is None:
            return {parts.comparison: None, parts.decide_box: gr.Column(visible=False), parts.revision: 0}
        decided = found.decided
        return {
            parts.comparison: comparison_view(found),
            parts.decide_box: gr.Column(visible=True),
            parts.score: gr.Radio(
                _steps(found.criterion.scale), value=f"{decided.score:g}" if decided else None
            ),
            parts.note: decided.note if decided else "",
            parts.revision: decided.revision if decided else 0,
        }


def _steps(scale: Scale) -> list[str]:
    return [str(step) for step in scale.steps]


def _label(one: Dispute) -> str:
    decided = f" · decided {one.decided:g}" if one.decided is not None else ""
    return f"{one.external_id} · {one.text[:50]} · {one.low:g} to {one.high:g}, {one.n} people{decided}"


def _id(text: str | None) -> int:
    """The id that a menu gave.

    Raises:
        InputError: nothing, or nothing of ours, is chosen.
    """
    if text is None or not text.isascii() or not text.isdigit() or len(text) > 15:
        raise InputError("No criterion is chosen: choose one, then compare.")
    return int(text)
