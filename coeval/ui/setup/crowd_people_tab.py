"""Set-up, Crowd people: who takes part and how far, exams to review, and what to do about a submission."""

from __future__ import annotations

from functools import partial
from typing import Any

import gradio as gr

from coeval.domain import Attempt, Participant, Person
from coeval.errors import InputError, NotFoundError
from coeval.stats.report.agreement import people_alphas
from coeval.study import statistics
from coeval.study.access import Context
from coeval.study.crowd import overview, plans
from coeval.ui.components.estimate_words import plural
from coeval.ui.components.estimate_words import shown as shown_estimate
from coeval.ui.components.view import Node, View, el
from coeval.ui.panel import Tab, Update
from coeval.ui.setup.crowd_views import find_rows, is_meant, progress_view, reviews_view

REFRESH_SECONDS = 20
"""How often the people of a study are read again while Set-up shows them."""

DECISIONS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("remove", "Remove all their data, as they asked", {"min_width": 320}),
    ("reject", "Take out of the statistics", {"min_width": 240}),
    ("refuse", "Refuse", {}),
    ("admit", "Admit", {"variant": "primary"}),
)
"""What an owner can do about people; what cannot be undone stands apart, and is never the tinted button."""


class CrowdPeopleTab(Tab):
    """How far a crowd study is, exams that wait for an owner, and what to do about people."""

    title, id = "Crowd people", "crowd-people"

    def build(self) -> None:
        self.find = gr.Textbox(
            label="Find by name, or by the service’s id of a person, study or session",
            elem_id="crowd-find",
            max_lines=1,
        )
        self.reviews = View(elem_id="crowd-reviews")
        with gr.Column(elem_classes="card", visible=False) as self.deciding_box:
            with gr.Row():
                self.who = gr.Dropdown([], label="Who: one or more", elem_id="crowd-who", multiselect=True)
                comment = gr.Textbox(label="Comment, for the record", elem_id="crowd-comment")
            with gr.Row(elem_classes="actions"):
                waiting = gr.Button("Choose all who wait", scale=0, min_width=200, elem_id="crowd-waiting")
                buttons = {
                    name: gr.Button(label, scale=0, elem_id=f"crowd-{name}", **look)
                    for name, label, look in DECISIONS
                }
        self.progress = View(elem_id="crowd-progress")
        self.clock = gr.Timer(REFRESH_SECONDS, active=False)
        self.outputs = [self.progress, self.reviews, self.who, self.deciding_box, self.clock]
        for name, button in buttons.items():
            self.on(button.click, partial(self.on_decision, name), [self.who, comment, self.find])
        self.on(waiting.click, self.on_waiting, [self.find], self.who)
        self.on(self.find.input, self.on_find, [self.find])
        self.on(self.clock.tick, self.on_find, [self.find], quiet=True)

    def load(self, person: Person, slug: str) -> Update:
        return self.on_find(person, slug, "")

    def on_find(self, person: Person, slug: str, text: str | None) -> Update:
        if not slug:
            return self._nothing(None)
        try:
            seen = overview.get_overview(self.context, person, slug)
        except NotFoundError:
            return self._nothing(el("p.note", "This task is not given out to a crowd: see the tab Crowd."))
        rows = find_rows(seen.people, text or "")
        latest = {row.name: row.state for row in rows}
        return {
            self.progress: progress_view(slug, seen, rows, _agreement_words(self.context, person, slug)),
            self.reviews: reviews_view(_waiting(self.context, person, slug, text)),
            self.deciding_box: gr.Column(visible=True),
            self.clock: gr.Timer(active=True),
            self.who: gr.Dropdown([(f"{name} ({state})", name) for name, state in latest.items()]),
        }

    def _nothing(self, note: Node | None) -> Update:
        shut = {self.deciding_box: gr.Column(visible=False), self.clock: gr.Timer(active=False)}
        return {self.progress: note, self.reviews: None, **shut}

    def on_waiting(self, person: Person, slug: str, text: str | None) -> Any:
        waiting = _waiting(self.context, person, slug, text)
        return gr.Dropdown(value=[participant.name for participant, _ in waiting])

    def on_decision(
        self, name: str, person: Person, slug: str, who: list[str], comment: str | None, text: str | None
    ) -> Update:
        if who:
            _decide(self.context, person, slug, name, who, comment or "")
        update = self.on_find(person, slug, text)
        if who and self.who in update:
            update[self.who] = gr.Dropdown(update[self.who].choices, value=[])
        return update


def _waiting(
    context: Context, person: Person, slug: str, text: str | None
) -> list[tuple[Participant, Attempt | None]]:
    """Whose exams wait for an owner, of those that are looked for."""
    return [pair for pair in overview.list_reviews(context, person, slug) if is_meant(pair[0], text or "")]


def _decide(context: Context, person: Person, slug: str, name: str, who: list[str], comment: str) -> None:
    if name in ("admit", "refuse"):
        plans.decide(context, person, slug, who, name == "admit", comment=comment)
        return
    if len(who) > 1:
        raise InputError(f"{len(who)} people are chosen: this is done for one at a time.")
    if name == "reject":
        plans.reject(context, person, slug, who[0], comment=comment)
    else:
        if comment.strip() != who[0]:
            raise InputError(
                f"This cannot be undone: write {who[0]} as the comment, then press the button again."
            )
        plans.remove_person(context, person, who[0])


def _agreement_words(context: Context, person: Person, slug: str) -> str:
    """Agreement as it stands; computed again only after somebody saved."""
    headline = statistics.get_statistic(context, person, slug, people_alphas).headline
    alpha, criteria = headline.mean.value, plural(headline.criteria, "criterion", "criteria")
    if not alpha.defined:
        return f"Agreement so far: {shown_estimate(alpha)}."
    return f"Agreement so far: ordinal alpha {shown_estimate(alpha)}, the mean of {criteria}, of {headline.scores}."
