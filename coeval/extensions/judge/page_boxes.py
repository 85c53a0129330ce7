"""The boxes of the Judge tab on another judge: the audit of a run against people, and the bridge to a new judge."""

from __future__ import annotations

from collections.abc import Sequence

import gradio as gr

from coeval.domain import Person, Role
from coeval.extensions.judge.audits import Audit, audit_run, can_draw, draw_by_audit
from coeval.extensions.judge.bridge.schema import Bridge, CriterionBridge, Design
from coeval.extensions.judge.bridge.words import describe_link, spell_number, tabulate_pairs, tabulate_systems
from coeval.extensions.judge.bridges import bridge_judges
from coeval.extensions.judge.certificate.findings import number
from coeval.extensions.judge.learning.audit import CriterionAudit, spell_share
from coeval.extensions.judge.state import JudgeState, get_judge_state
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


def bridge_view(bridge: Bridge | None, slug: str) -> list[Node]:
    """Return a bridge's findings, its tables, and the paragraph for a paper."""
    if bridge is None:
        return [el("p", "There is no bridge yet.")]
    first, *others = bridge.findings
    shown: list[Node] = [
        el(
            "p.note",
            f"From “{bridge.old.name}” to “{bridge.new.name}”, {bridge.made_at[:16].replace('T', ' ')} UTC.",
        ),
        el("div.banner", el("p", first)),
        el("ul", *(el("li", sentence) for sentence in others)),
    ]
    for title, rows in (
        ("Restated means", tabulate_systems(bridge)),
        ("Order of systems", tabulate_pairs(bridge)),
    ):
        if len(rows) > 1:
            cells = [list(row) for row in rows[1:]]
            shown += [el("h4", title), scrolling(title, table(list(rows[0]), cells))]
    linked = [part for part in bridge.by_criterion if part.design is not Design.NONE]
    shown.append(el("details", el("summary", "Links and favoured systems"), *map(_links_view, linked)))
    shown.append(el("details", el("summary", "Paragraph for a paper"), el("p", bridge.paragraph)))
    file = el("a", "The bridge as JSON", href=f"download/{slug}/judge/bridge.json", download="")
    return [*shown, el("p.ways", file)]


def _links_view(part: CriterionBridge) -> Node:
    parts: list[Node] = [el("h4", part.criterion)]
    for link in part.links:
        title = f"Link of the {link.side} judge"
        points = [[number(point.score), spell_number(point.linked)] for point in link.points]
        parts += [
            el("p", f"{title}: {describe_link(link)}."),
            scrolling(title, table(["Score of the judge", "On the new scale"], points)),
        ]
        if link.favours:
            favours = [
                [each.system, f"{each.anchors:,}", spell_number(each.excess), number(each.p_value)]
                for each in link.favours
            ]
            names = ["System", "Anchor documents", "Higher than for other systems by", "p (Holm)"]
            parts.append(scrolling(f"Systems that the {link.side} judge favours", table(names, favours)))
    return el("section", *parts)


class BridgeBox(Panel):
    """Two fitted judges to choose, the button that bridges them, and the newest bridge."""

    def build(self) -> None:
        with gr.Row(visible=False, elem_classes="actions") as self.acting:
            self.old = gr.Dropdown([], label="Old judge", elem_id="bridge-old")
            self.new = gr.Dropdown([], label="New judge", elem_id="bridge-new")
            go = gr.Button("Build the bridge", variant="primary", elem_id="bridge-go", scale=0, min_width=180)
        self.shown = View(elem_id="judge-bridge")
        self.outputs = [self.acting, self.old, self.new, self.shown]
        self.on(
            go.click, self.on_bridge, [self.old, self.new],
            show_progress="minimal", concurrency_limit=1, concurrency_id="judge",
        )  # fmt: skip

    def update(self, slug: str, state: JudgeState, *, owner: bool) -> Update:
        """Show the newest bridge and, to owners, the judges that can be bridged."""
        choices = [
            (f"{name}, {at[:16].replace('T', ' ')}", str(number))
            for number, name, at in reversed(state.fitted)
        ]
        several = len(choices) > 1
        return {
            self.acting: gr.Row(visible=owner and several),
            self.old: gr.Dropdown(choices, value=choices[1][1] if several else None),
            self.new: gr.Dropdown(choices, value=choices[0][1] if several else None),
            self.shown: bridge_view(state.bridge, slug)
            if several or state.bridge
            else el("p", "Learn with a second judge first: a bridge leads from one fitted judge to another."),
        }

    def on_bridge(self, person: Person, slug: str, old: str | None, new: str | None) -> Update:
        bridge_judges(self.context, person, need_task(slug), _read_id(old), _read_id(new))
        return self.update(slug, get_judge_state(self.context, person, slug), owner=True)


def _read_id(chosen: str | None) -> int:
    """Return the id of a chosen judge; 0, which no judge has, if none is chosen."""
    return int(chosen) if chosen and chosen.isdecimal() else 0
