"""The Judge tab, “Audit”: a run compared with people, its biases and its cost, and the labels that it saves."""

from __future__ import annotations

from collections.abc import Sequence

import gradio as gr

from coeval.domain import Person, Role
from coeval.extensions.judge.audits import Audit, audit_run, can_draw, draw_by_audit
from coeval.extensions.judge.learning.audit import CriterionAudit, spell_share
from coeval.extensions.judge.state import JudgeState
from coeval.stats.estimates import plural
from coeval.ui.components.view import Node, View, el, scrolling, table, table_of
from coeval.ui.tabs import Panel, Update, need_task


def audit_view(audit: Audit) -> list[Node]:
    """Return an audit: its sentences, the biases, and on request reliability by level and calibration."""
    biases = table_of(
        audit.biases,
        {
            "Bias": lambda bias: bias.name.capitalize(),
            "Effect (95% interval)": lambda bias: bias.size,
            "Measured": lambda bias: bias.test,
        },
    )
    return [
        el("ul", *(el("li", sentence) for sentence in audit.sentences)),
        el("h4", "Biases"),
        el("p.note", "Except for the position, in points of the scale, at equal scores from people."),
        scrolling("Biases", biases),
        el("details", el("summary", "By people’s score, and by probability"), *_details(audit.criteria)),
    ]


def _details(audits: Sequence[CriterionAudit]) -> list[Node]:
    levels: list[list[Node | None]] = [
        [
            audit.criterion,
            "all" if each.level is None else f"{each.level:g}",
            f"{each.lines:,}",
            spell_share(each.same),
        ]
        for audit in audits
        for each in audit.levels
    ]
    bins: list[list[Node | None]] = [
        [audit.criterion, f"{each.said:.0%}", spell_share(each.passed), f"{each.lines:,}"]
        for audit in audits
        for each in audit.calibration
    ]
    by_level = table(["Criterion", "People’s score", "Outputs", "Same verdict as people"], levels)
    shown: list[Node] = [scrolling("Reliability by people’s score", by_level)]
    if bins:
        by_bin = table(["Criterion", "Probability of a pass", "Passed by people", "Outputs"], bins)
        shown.append(scrolling("Calibration of the probabilities", by_bin))
    return shown


class AuditBox(Panel):
    """The run to audit, the audit, and the form that lets its probabilities decide whom to ask."""

    def build(self) -> None:
        with gr.Row(visible=False, elem_classes="actions") as self.acting:
            self.run = gr.Dropdown([], label="Judge to audit", elem_id="audit-run")
            go = gr.Button("Audit this judge", elem_id="judge-audit", scale=0, min_width=180)
        self.shown = View(elem_id="judge-audited")
        with gr.Row(visible=False, elem_classes="actions") as self.drawing:
            self.labels = gr.Number(label="Outputs to label", precision=0, minimum=1, elem_id="audit-labels")
            draw = gr.Button("Let its probabilities decide whom to ask", elem_id="audit-draw", min_width=260)
        self.told = View(elem_id="audit-told")
        self.outputs = [self.acting, self.run, self.shown, self.drawing, self.labels, self.told]
        self.on(
            go.click, self.on_audit, [self.run],
            show_progress="minimal", concurrency_limit=1, concurrency_id="judge",
        )  # fmt: skip
        self.on(draw.click, self.on_draw, [self.run, self.labels])

    def update(self, state: JudgeState, start: str | None) -> Update:
        """Show the form without an audit."""
        labels = [run.label for run in state.runs]
        return {
            self.acting: gr.Row(visible=state.seal is not None and bool(labels)),
            self.run: gr.Dropdown(labels, value=start),
            self.shown: None,
            self.drawing: gr.Row(visible=False),
            self.told: None,
        }

    def on_audit(self, person: Person, slug: str, run: str | None) -> Update:
        audit = audit_run(self.context, person, need_task(slug), run or "")
        draws = person.role is Role.OWNER and audit.labels is not None and can_draw()
        return {
            self.shown: audit_view(audit),
            self.drawing: gr.Row(visible=draws),
            self.labels: audit.labels,
            self.told: None,
        }

    def on_draw(self, person: Person, slug: str, run: str | None, labels: float | None) -> Update:
        draw_by_audit(self.context, person, need_task(slug), int(labels or 0), run or "")
        said = (
            f"{plural(int(labels or 0), 'output')} drawn: people get only these. Sealed outputs are drawn "
            "evenly, and others mostly if the judge is unsure about them. Set-up, Labelling shows the means that are "
            "corrected for the draw, and ends it."
        )
        return {self.told: el("p.banner", said)}
