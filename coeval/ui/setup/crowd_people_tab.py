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
from coeval.study.crowd.overview import Advice, Overview
from coeval.ui.components.view import Node, View, el, table
from coeval.ui.components.words import plural
from coeval.ui.components.words import shown as shown_estimate
from coeval.ui.crowd_pages.study_views import show_attempts
from coeval.ui.panel import Tab, Update

REFRESH_SECONDS = 20
"""How often the progress of a study is read again while Set-up shows it."""
HEAD = [
    "Who",
    "State",
    "Finished",
    "At work",
    "Timed out",
    "Checks failed",
    "Minutes",
    "Pay",
    "Suggestion",
    "Why",
]

DECISIONS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("remove", "Remove all their data, as they asked", {"variant": "stop", "min_width": 320}),
    ("reject", "Take out of the statistics", {"min_width": 240}),
    ("refuse", "Refuse", {}),
    ("admit", "Admit", {}),
)
"""What an owner can do about somebody; what cannot be undone stands apart."""


class CrowdPeopleTab(Tab):
    """How far a crowd study is, exams that wait for an owner, and what to do about somebody."""

    title, id = "Crowd people", "crowd-people"

    def build(self) -> None:
        self.progress, self.reviews = View(elem_id="crowd-progress"), View(elem_id="crowd-reviews")
        with gr.Column(elem_classes="card", visible=False) as self.deciding_box:
            with gr.Row():
                self.who = gr.Dropdown([], label="Who", elem_id="crowd-who")
                comment = gr.Textbox(label="Comment, for the record", elem_id="crowd-comment")
            with gr.Row(elem_classes="actions"):
                buttons = {
                    name: gr.Button(label, scale=0, elem_id=f"crowd-{name}", **look)
                    for name, label, look in DECISIONS
                }
        self.clock = gr.Timer(REFRESH_SECONDS, active=False)
        self.outputs = [self.progress, self.reviews, self.who, self.deciding_box, self.clock]
        for name, button in buttons.items():
            self.on(button.click, partial(self.on_decision, name), [self.who, comment])
        self.on(self.clock.tick, self.on_tick, outputs=self.progress, quiet=True)

    def load(self, person: Person, slug: str) -> Update:
        if not slug:
            return self._nothing(None)
        try:
            seen = overview.get_overview(self.context, person, slug)
        except NotFoundError:
            return self._nothing(el("p.note", "This task is not given out to a crowd: see the tab Crowd."))
        waiting = overview.list_reviews(self.context, person, slug)
        return {
            self.progress: self._progress(person, slug, seen),
            self.reviews: [_review_view(one, attempt) for one, attempt in waiting],
            self.deciding_box: gr.Column(visible=True),
            self.clock: gr.Timer(active=True),
            self.who: gr.Dropdown([(f"{one.name} ({one.state})", one.name) for one, _ in seen.people]),
        }

    def _nothing(self, note: Node | None) -> Update:
        shut = {self.deciding_box: gr.Column(visible=False), self.clock: gr.Timer(active=False)}
        return {self.progress: note, self.reviews: None, **shut}

    def _progress(self, person: Person, slug: str, seen: Overview) -> Node:
        return _progress_view(slug, seen, _agreement_words(self.context, person, slug))

    def on_tick(self, person: Person, slug: str) -> Node:
        return self._progress(person, slug, overview.get_overview(self.context, person, slug))

    def on_decision(
        self, name: str, person: Person, slug: str, who: str | None, comment: str | None
    ) -> Update:
        if who:
            _decide(self.context, person, slug, name, who, comment or "")
        return self.load(person, slug)


def _decide(context: Context, person: Person, slug: str, name: str, who: str, comment: str) -> None:
    if name == "reject":
        plans.reject(context, person, slug, who, comment=comment)
    elif name == "remove":
        if comment.strip() != who:
            raise InputError(
                f"This cannot be undone: write {who} as the comment, then press the button again."
            )
        plans.remove_person(context, person, who)
    else:
        plans.decide(context, person, slug, who, name == "admit", comment=comment)


def _agreement_words(context: Context, person: Person, slug: str) -> str:
    """Agreement as it stands; computed again only after somebody saved."""
    headline = statistics.get_statistic(context, person, slug, people_alphas).headline
    alpha, criteria = headline.mean.value, plural(headline.criteria, "criterion", "criteria")
    if not alpha.defined:
        return f"Agreement so far: {shown_estimate(alpha)}."
    return f"Agreement so far: ordinal alpha {shown_estimate(alpha)}, the mean of {criteria}, of {headline.scores}."


def _progress_view(slug: str, found: Overview, agreement: str) -> Node:
    k = found.plan.per_instance
    total = sum(n for _, _, n in found.places)
    full = sum(n for done, _, n in found.places if done >= k)
    spread = ", ".join(f"{n:,} with {done} done of {taken} given" for done, taken, n in found.places)
    arms = ", ".join(f"{arm} {n:,}" for arm, n in found.arms.items()) or "none opened yet"
    rows = [_person_row(one, advice, found.plan.terms.currency) for one, advice in found.people]
    csv = f"../s/{slug}/participants.csv"
    return el(
        "div.card",
        el("h4", "People and progress"),
        el("p", f"{full:,} of {total:,} instances have their {k} people. {spread}."),
        el("p", f"Arms: {arms}. Pay so far: {found.cost:.2f} {found.plan.terms.currency}."),
        el("p", f"{agreement} The study's tab Agreement has the rest."),
        table(HEAD, rows) if rows else el("p.note", "Nobody has come by the study's page yet."),
        el("p", el("a.button", "Submissions as CSV", href=csv, download=""), " ",
           el("a", "with the service's ids", href=f"{csv}?ids=1", download="")),
    )  # fmt: skip


def _person_row(one: Participant, advice: Advice, currency: str) -> list[Node | None]:
    return [
        one.name, str(one.state), str(one.finished), str(one.held), str(one.timed_out),
        f"{one.failed} of {one.checks}", f"{one.active_minutes:.1f}", f"{advice.pay:.2f} {currency}",
        advice.suggestion, advice.evidence,
    ]  # fmt: skip


def _review_view(one: Participant, attempt: Attempt | None) -> Node:
    shown_ = show_attempts((attempt,)) if attempt else [el("p", "There is no attempt.")]
    return el("div.card", el("h4", f"{one.name} waits for review"), *shown_)
