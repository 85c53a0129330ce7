"""Set-up, Review: people side by side, deciding where they differ, how they work, and who changed what."""

from __future__ import annotations

import gradio as gr

from coeval.domain import Dispute, Person, Scale
from coeval.errors import InputError
from coeval.study.criteria import rounds
from coeval.study.scrutiny import design, review
from coeval.study.scrutiny.review import Comparison
from coeval.ui.components.view import View, el
from coeval.ui.panel import Tab, Update, tell_done
from coeval.ui.setup.review.review_views import changes_view, comparison_view, habits_view


class ReviewTab(Tab):
    """People side by side, deciding where they differ, how they work, and who changed what."""

    title, id = "Review", "review"

    def build(self) -> None:
        with gr.Row(equal_height=False):
            with gr.Column(scale=2, min_width=300):
                self._build_choice()
                self._build_decision()
            with gr.Column(scale=5):
                self.comparison = View(elem_id="review-comparison")
        self.habits = View(elem_id="review-habits")
        self.who = gr.Dropdown([], label="Saves of", elem_id="review-who")
        self.changes = View(elem_id="review-changes")
        self.revision = gr.State(0)
        chosen = [self.instance, self.criterion]
        self.outputs = [
            self.differing, *chosen, self.comparison, self.decide_box, self.score, self.note, self.revision,
            self.habits, self.who, self.changes,
        ]  # fmt: skip
        self.on(self.differing.input, self.on_pick, [self.differing])
        self.on(self.compare.click, self.on_compare, chosen)
        self.on(self.decide.click, self.on_decide, [*chosen, self.score, self.note, self.revision])
        self.on(self.who.input, self.on_who, [self.who], self.changes)

    def _build_choice(self) -> None:
        with gr.Column(elem_classes="card"):
            View(el("h4", "Compare people"))
            self.differing = gr.Dropdown([], label="Where they differ most", elem_id="review-differing")
            self.instance = gr.Textbox(
                label="Or instance, by its id", max_length=500, elem_id="review-instance"
            )
            self.criterion = gr.Dropdown([], label="Criterion", elem_id="review-criterion")
            self.compare = gr.Button("Compare", elem_id="review-compare")

    def _build_decision(self) -> None:
        with gr.Column(elem_classes="card", visible=False, elem_id="review-decide-box") as self.decide_box:
            View(el("h4", "Decide"))
            self.score = gr.Radio([], label="Score", elem_id="review-score")
            self.note = gr.Textbox(label="Why", lines=2, max_length=10_000, elem_id="review-note")
            self.decide = gr.Button("Record the decision", elem_id="review-decide")

    def load(self, person: Person, slug: str) -> Update:
        if not slug or rounds.get_criteria_set(self.context, person, slug) is None:
            return self._nothing_yet()
        return self._lists(person, slug) | self._compared(None)

    def on_pick(self, person: Person, slug: str, picked: str | None) -> Update:
        criterion, _, external_id = (picked or "").partition(":")
        return self._look(person, slug, external_id, criterion)

    def on_compare(self, person: Person, slug: str, instance: str | None, criterion: str | None) -> Update:
        return self._look(person, slug, instance or "", criterion)

    def on_decide(
        self,
        person: Person,
        slug: str,
        instance: str | None,
        criterion: str | None,
        score: str | None,
        note: str | None,
        revision: int,
    ) -> Update:
        if score is None:
            raise InputError("No score is chosen: choose the one that should stand, then record it.")
        external_id = (instance or "").strip()
        review.adjudicate(
            self.context, person, slug, external_id, _id(criterion),
            score=float(score), note=note or "", revision=revision,
        )  # fmt: skip
        tell_done("Decision recorded")
        return self._lists(person, slug) | self._look(person, slug, external_id, criterion)

    def on_who(self, person: Person, slug: str, who: str | None) -> Update:
        changes = review.list_changes(self.context, person, slug, of=who or "") if slug else []
        return {self.changes: changes_view(changes)}

    def _nothing_yet(self) -> Update:
        empty = el(
            "div.card.empty",
            el("h3", "Nothing to review yet"),
            el("p", "First establish the criteria."),
        )
        return {self.comparison: empty, self.habits: None, self.changes: None}

    def _lists(self, person: Person, slug: str) -> Update:
        """Everything on the tab but the comparison."""
        context = self.context
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
            self.differing: gr.Dropdown(
                [
                    (_label(one), f"{one.criterion}:{one.external_id}")
                    for one in review.list_disputes(context, person, slug)
                ],
                value=None,
            ),
            self.criterion: gr.Dropdown(names, value=names[0][1] if names else None),
            self.habits: habits_view(habits, share),
            self.who: gr.Dropdown(people, value=""),
            self.changes: changes_view(review.list_changes(context, person, slug)),
        }

    def _look(self, person: Person, slug: str, external_id: str, criterion: str | None) -> Update:
        external_id = external_id.strip()
        comparison = review.compare_people(self.context, person, slug, external_id, _id(criterion))
        chosen = {self.instance: external_id, self.criterion: gr.Dropdown(value=criterion)}
        return chosen | self._compared(comparison)

    def _compared(self, comparison: Comparison | None) -> Update:
        if comparison is None:
            return {self.comparison: None, self.decide_box: gr.Column(visible=False), self.revision: 0}
        decided = comparison.decided
        return {
            self.comparison: comparison_view(comparison),
            self.decide_box: gr.Column(visible=True),
            self.score: gr.Radio(
                _steps(comparison.criterion.scale), value=f"{decided.score:g}" if decided else None
            ),
            self.note: decided.note if decided else "",
            self.revision: decided.revision if decided else 0,
        }


def _steps(scale: Scale) -> list[str]:
    return [str(step) for step in scale.steps]


def _label(dispute: Dispute) -> str:
    decided = f" · decided {dispute.decided:g}" if dispute.decided is not None else ""
    scores = f"{dispute.low:g} to {dispute.high:g}, {dispute.n} people"
    return f"{dispute.external_id} · {dispute.text[:50]} · {scores}{decided}"


def _id(text: str | None) -> int:
    """The id that a menu gave.

    Raises:
        InputError: nothing, or nothing of ours, is chosen.
    """
    if text is None or not text.isascii() or not text.isdigit() or len(text) > 15:
        raise InputError("No criterion is chosen: choose one, then compare.")
    return int(text)
