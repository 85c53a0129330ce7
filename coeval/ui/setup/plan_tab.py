"""Set-up, Plan: how many documents a study needs, and whether it has enough."""

from __future__ import annotations

import gradio as gr

from coeval.domain import Person
from coeval.domain.studies import StoppingRule
from coeval.errors import InputError
from coeval.stats.plan import Needed, Wanted, tell_plan, tell_progress, tell_rule
from coeval.ui.components.view import Node, View, el, scrolling, table
from coeval.ui.tabs import Tab, Update, more_settings, need_task, tell_done
from coeval.usecases import planning
from coeval.usecases.access import Context
from coeval.usecases.planning import Planning

BEFOREHAND = (
    "Declare the rule before the first score. You can then look at the scores every day: its "
    "interval allows for repeated looks."
)


class PlanTab(Tab):
    """The tab with a plan from the scores so far, and the rule for stopping."""

    title, id = "Plan", "plan"
    purpose = "Computes how many documents and people the study needs, and declares when it may stop."

    @classmethod
    def is_used(cls, context: Context, person: Person, slug: str) -> bool:
        """Return whether the study has a stopping rule."""
        return bool(slug) and planning.has_rule(context, person, slug)

    def build(self) -> None:
        with gr.Column(elem_classes="card"):
            View(el("h4", "How many documents?"))
            self.planned = View(elem_id="plan-view")
            with more_settings("plan-more"):
                wanted = self._build_wanted()
            with gr.Row(elem_classes="actions"):
                work = gr.Button("Plan", variant="primary", elem_id="plan-work", scale=0, min_width=160)
        with more_settings("rule-more", "Stopping rule"):
            self._build_rule()
        self.outputs = [self.planned, self.standing, self.first, self.second, self.documents]
        self.on(work.click, self.on_plan, wanted, [self.planned, self.standing])

    def _build_wanted(self) -> list[gr.Number]:
        wanted = Wanted()
        with gr.Row():
            return [
                gr.Number(wanted.width, label="Target half-width of alpha", elem_id="plan-width"),
                gr.Number(
                    wanted.points,
                    label="Difference of systems to detect",
                    info="In points of the scale.",
                    elem_id="plan-points",
                ),
            ]

    def _build_rule(self) -> None:
        with gr.Column(elem_classes="card"):
            View(el("p.note", BEFOREHAND))
            with gr.Row():
                self.first = gr.Dropdown([], label="System", elem_id="rule-first")
                self.second = gr.Dropdown([], label="Second system", elem_id="rule-second")
            with gr.Row():
                within = gr.Number(
                    0.3, label="Margin of error of the difference (± points)", elem_id="rule-width"
                )
                self.documents = gr.Number(
                    1, label="Documents planned", precision=0, minimum=1, elem_id="rule-documents"
                )
            with gr.Row(elem_classes="actions"):
                declare = gr.Button("Declare the rule", elem_id="rule-declare", scale=0, min_width=180)
            self.standing = View(elem_id="rule-view")
        inputs = [self.first, self.second, within, self.documents]
        self.on(declare.click, self.on_declare, inputs, self.standing)

    def load(self, person: Person, slug: str) -> Update:
        if not slug:
            return {self.planned: el("p.note", "Describe a task first, under Tasks."), self.standing: None}
        systems = planning.list_plan_systems(self.context, person, slug)
        plans = planning.get_planning(self.context, person, slug, Wanted())
        pair = [*systems, None, None]
        return {
            self.planned: plan_view(plans),
            self.standing: standing_view(plans),
            self.first: gr.Dropdown(systems, value=pair[0]),
            self.second: gr.Dropdown(systems, value=pair[1]),
            self.documents: max(1, plans.rules[0].planned if plans.rules else plans.documents),
        }

    def on_plan(self, person: Person, slug: str, width: float | None, points: float | None) -> list[Node]:
        wanted = Wanted(_number(width, "a width"), _number(points, "a difference"))
        plans = planning.get_planning(self.context, person, need_task(slug), wanted)
        tell_done("The plan uses these numbers.")
        return [plan_view(plans), standing_view(plans)]

    def on_declare(
        self, person: Person, slug: str, first: str | None, second: str | None, width: float | None,
        documents: float | None,
    ) -> Node:  # fmt: skip
        rule = StoppingRule(
            _number(width, "a width"),
            int(_number(documents, "a number of documents")),
            first or "",
            second or "",
        )
        planning.declare_rule(self.context, person, need_task(slug), rule)
        return standing_view(planning.get_planning(self.context, person, slug, Wanted()))


def _number(value: float | None, what: str) -> float:
    if value is None:
        raise InputError(f"Fill in {what}: the field is empty.")
    return float(value)


def plan_view(plans: Planning) -> Node:
    """Return the plan in sentences, and the pairs of systems as a table."""
    plan, pairs = plans.plan, len(plans.plan.differences)
    lines = list(tell_plan(plan, differences=pairs <= 1))
    rows = [
        [pair.a, pair.b, f"{float(pair.value):+.2f}", _needed(planned.needed)]
        for pair, planned in zip(plan.pilot.differences, plan.differences, strict=True)
    ]
    points = f"{plan.wanted.points:g} points"
    head = ["System", "and", "Difference so far", f"Documents to detect {points} (80% power)"]
    shown = scrolling("Pairs of systems", table(head, rows)) if pairs > 1 else ""
    return el("div", *[el("p", line) for line in lines], shown)


def _needed(needed: Needed) -> str:
    if needed.documents is None:
        return "cannot be estimated"
    return f"{needed.documents:,} ({needed.low or 0:,} to {needed.high or 0:,})"


def standing_view(plans: Planning) -> Node:
    """Return the state of the study under its rule, and the earlier rules."""
    lines = [el("p", line) for line in tell_progress(plans.progress, plans.rules)]
    before = [el("li", tell_rule(rule)) for rule in plans.rules[1:]]
    return el(
        "div", *lines, el("details", el("summary", "Earlier rules"), el("ul", *before)) if before else ""
    )
