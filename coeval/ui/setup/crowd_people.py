"""Set-up, Crowd: participants with their progress, exams to review, and decisions on submissions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from functools import partial
from hashlib import sha256
from typing import Any

import gradio as gr

from coeval.domain import Attempt, Participant, Person
from coeval.errors import InputError, NotFoundError
from coeval.stats.report.agreement import people_alphas
from coeval.ui.components.number_words import plural
from coeval.ui.components.number_words import shown as shown_estimate
from coeval.ui.components.view import View
from coeval.ui.setup.crowd_views import (
    PAGE,
    count_pages,
    find_rows,
    is_meant,
    people_view,
    progress_view,
    returning_view,
    reviews_view,
    sort_rows,
)
from coeval.ui.tabs import LoadedPanel, Update
from coeval.usecases.access import Context
from coeval.usecases.crowd import overview, plans
from coeval.usecases.crowd.overview import Row
from coeval.usecases.reports import statistics

REFRESH_SECONDS = 20
"""Seconds between two reads of a study's people while Set-up shows them."""

SUBMISSION = re.compile(r"(?P<name>.+)#(?P<arrival>\d{1,18})")

DECISIONS: tuple[tuple[str, str, int | None], ...] = (
    ("remove", "Remove all their data at their request", 320),
    ("undo", "Undo their withdrawal", 200),
    ("reject", "Exclude from the statistics", 240),
    ("refuse", "Refuse", None),
    ("admit", "Admit", None),
)
"""Actions of an owner on people, with the width of each button."""


class CrowdPeopleBox(LoadedPanel):
    """The box with the progress of a crowd study, exams to review, and actions on people."""

    def build(self) -> None:
        with gr.Column(visible=False) as self.box:
            self.progress = View(elem_id="crowd-progress")
            self.find = gr.Textbox(
                label="Search",
                info="By name, or by the service’s id of a person, study or session.",
                elem_id="crowd-find",
                max_lines=1,
            )
            self._build_returning()
            self.reviews = View(elem_id="crowd-reviews")
            self._build_deciding()
            with gr.Column(elem_classes="card"):
                self.people = View(elem_id="crowd-people-page")
                self.page = gr.Number(
                    1, label="Page", precision=0, minimum=1, elem_id="crowd-page", visible=False
                )
        self.clock = gr.Timer(REFRESH_SECONDS, active=False)
        self.seen = gr.State({})
        self.outputs = [
            self.progress, self.people, self.page, self.reviews, self.returning, self.returning_box, self.request,
            self.who, self.box, self.clock, self.seen,
        ]  # fmt: skip
        where = [self.find, self.page]
        for name, button in self.decisions.items():
            self.on(button.click, partial(self.on_decision, name), [self.who, self.comment, *where])
        for button, admit in ((self.let_in, True), (self.turn_away, False)):
            self.on(button.click, partial(self.on_return, admit), [self.request, *where])
        self.on(self.waiting.click, self.on_waiting, [self.find], self.who)
        self.on(self.find.input, self.on_find, [self.find])
        self.on(self.page.input, self.on_page, where)
        self.on(self.clock.tick, self.on_tick, [*where, self.seen], quiet=True)

    def _build_returning(self) -> None:
        with gr.Column(elem_classes="card", visible=False) as self.returning_box:
            self.returning = View(elem_id="crowd-returning")
            with gr.Row(elem_classes="actions"):
                self.request = gr.Dropdown([], label="Return requests", elem_id="crowd-request")
                self.let_in = gr.Button("Let in", elem_id="crowd-let-in", scale=0)
                self.turn_away = gr.Button("Turn away", elem_id="crowd-turn-away", scale=0)

    def _build_deciding(self) -> None:
        with gr.Column(elem_classes="card"):
            with gr.Row():
                self.who = gr.Dropdown([], label="People", elem_id="crowd-who", multiselect=True)
                self.comment = gr.Textbox(label="Comment for the record", elem_id="crowd-comment")
            with gr.Row(elem_classes="actions"):
                self.waiting = gr.Button(
                    "Select all waiting", scale=0, min_width=200, elem_id="crowd-waiting"
                )
                self.decisions = {
                    name: gr.Button(label, scale=0, elem_id=f"crowd-{name}", min_width=width)
                    for name, label, width in DECISIONS
                }

    def load(self, person: Person, slug: str) -> Update:
        return self.on_find(person, slug, "")

    def on_find(self, person: Person, slug: str, text: str | None) -> Update:
        return self.on_page(person, slug, text, 1)

    def on_page(self, person: Person, slug: str, text: str | None, page: float | None) -> Update:
        return self._fill(self._read(person, slug, text or "", int(page or 1)))

    def on_tick(
        self, person: Person, slug: str, text: str | None, page: float | None, seen: dict[str, str]
    ) -> Any:
        """Return the changes since the page was sent; most ticks send nothing."""
        return self._fill(self._read(person, slug, text or "", int(page or 1)), seen) or gr.skip()

    def _read(self, person: Person, slug: str, text: str, page: int) -> dict[str, Any]:
        """Return the content of each part of the tab as plain values that can be compared."""
        if not slug:
            return {"progress": None}
        try:
            seen = overview.get_overview(self.context, person, slug)
        except NotFoundError:
            return {"progress": None}
        rows = sort_rows(find_rows(seen.people, text))
        page = min(max(page, 1), count_pages(rows))
        waiting = _waiting(self.context, person, slug, text)
        asked = plans.list_returning(self.context, person, slug)
        shown = rows[(page - 1) * PAGE : page * PAGE]
        return {
            "progress": progress_view(slug, seen, _agreement_words(self.context, person, slug)),
            "people": people_view(seen, rows, page),
            "page": [page, count_pages(rows)],
            "reviews": reviews_view(waiting),
            "returning": returning_view(asked),
            "request": [(f"{request.name}, number {request.number}", request.id) for request in asked],
            "who": list_choices(
                [participant for participant, _ in waiting] + [row.participant for row in shown], seen.people
            ),
        }

    def _fill(self, shown: dict[str, Any], seen: dict[str, str] | None = None) -> Update:
        """Return the parts that differ from the previous ones; every part if there were none."""
        marks = {name: sha256(json.dumps(value).encode()).hexdigest() for name, value in shown.items()}
        fresh = {name for name in marks if marks[name] != (seen or {}).get(name)}
        if not fresh:
            return {}
        is_study = "people" in shown
        update: Update = {self.seen: marks}
        views = {"progress": self.progress, "people": self.people, "reviews": self.reviews}
        update |= {view: shown.get(name) for name, view in views.items() if name in fresh or not is_study}
        if seen is None or not is_study:
            update |= {self.box: gr.Column(visible=is_study), self.clock: gr.Timer(active=is_study)}
        if "page" in fresh:
            page, pages = shown["page"]
            update[self.page] = gr.Number(page, visible=pages > 1, maximum=pages, label=f"Page (of {pages})")
        if "who" in fresh:
            update[self.who] = gr.Dropdown(shown["who"])
        if "request" in fresh or not is_study:
            asked = shown.get("request", [])
            update[self.returning] = shown.get("returning")
            update[self.returning_box] = gr.Column(visible=bool(asked))
            update[self.request] = gr.Dropdown(asked, value=asked[0][1] if len(asked) == 1 else None)
        return update

    def on_waiting(self, person: Person, slug: str, text: str | None) -> Any:
        waiting = _waiting(self.context, person, slug, text)
        if not waiting:
            raise InputError("Nobody waits for a decision.")
        choices = list_choices([participant for participant, _ in waiting], ())
        return gr.Dropdown(choices, value=[chosen for _, chosen in choices])

    def on_decision(
        self,
        name: str,
        person: Person,
        slug: str,
        who: list[str],
        comment: str | None,
        text: str | None,
        page: float | None,
    ) -> Update:
        if not who:
            raise InputError("Nobody is selected: select a person.")
        _decide(self.context, person, slug, name, who, comment or "")
        update = self.on_page(person, slug, text, page)
        if self.who in update:
            update[self.who] = gr.Dropdown(update[self.who].choices, value=[])
        return update

    def on_return(
        self,
        admit: bool,
        person: Person,
        slug: str,
        request: int | None,
        text: str | None,
        page: float | None,
    ) -> Update:
        if request is None:
            raise InputError("Nobody is selected: select a person.")
        plans.decide_return(self.context, person, slug, request, admit)
        return self.on_page(person, slug, text, page)


def list_choices(shown: Sequence[Participant], everybody: Iterable[Row]) -> list[tuple[str, str]]:
    """Return the people that an owner can choose; of people who have several submissions, one or all of these.

    The value is then the person's name, #, and the submission's id; 0 is all of them.
    """
    submissions: dict[str, dict[int, Participant]] = {participant.name: {} for participant in shown}
    for participant in (*shown, *(row.participant for row in everybody)):
        if participant.name in submissions:
            submissions[participant.name][participant.arrival] = participant
    choices = []
    for name, theirs in submissions.items():
        several = len(theirs) > 1
        for arrival, participant in theirs.items():
            where = f", study {participant.study}" if several and participant.study else ""
            value = f"{name}#{arrival}" if several else name
            choices.append((f"{name} ({str(participant.state).replace('_', ' ')}{where})", value))
        if several:
            choices.append((f"{name} (all {len(theirs)} submissions)", f"{name}#0"))
    return choices


def _waiting(
    context: Context, person: Person, slug: str, text: str | None
) -> list[tuple[Participant, Attempt | None]]:
    """Return the people whose exams wait for an owner and match the search."""
    return [pair for pair in overview.list_reviews(context, person, slug) if is_meant(pair[0], text or "")]


def _decide(context: Context, person: Person, slug: str, name: str, who: list[str], comment: str) -> None:
    chosen = [SUBMISSION.fullmatch(text) for text in who]
    names = list(
        dict.fromkeys(match["name"] if match else text for match, text in zip(chosen, who, strict=True))
    )
    if name in ("admit", "refuse"):
        plans.decide(context, person, slug, names, name == "admit", comment=comment)
        return
    if len(chosen) > 1:
        raise InputError(f"{len(chosen)} are selected: select only one for this action.")
    if name == "undo":
        plans.undo_withdrawal(context, person, slug, names[0])
    elif name == "reject":
        arrival = int(chosen[0]["arrival"]) if chosen[0] else None
        plans.reject(
            context, person, slug, names[0], comment=comment, arrival=arrival or None, every=arrival == 0
        )
    else:
        if comment.strip() != names[0]:
            raise InputError(
                f"This cannot be undone: write {names[0]} as the comment, then press the button again."
            )
        plans.remove_person(context, person, names[0])


def _agreement_words(context: Context, person: Person, slug: str) -> str:
    """Return agreement in words; it is computed again only after a save."""
    headline = statistics.get_statistic(context, person, slug, people_alphas).headline
    alpha, criteria = headline.mean.value, plural(headline.criteria, "criterion", "criteria")
    if not alpha.defined:
        return f"Agreement so far: {shown_estimate(alpha)}."
    return f"Agreement so far: ordinal alpha {shown_estimate(alpha)} (mean of {criteria}; {headline.scores})."
