"""The Judge tab: from a scrutinised study to a judge with a certificate, step by step."""

from __future__ import annotations

from typing import Any

import gradio as gr

from coeval.domain import Person, Role
from coeval.errors import InputError
from coeval.judge.certificate.proving import MARGIN
from coeval.language import later, tr
from coeval.study.judging import certifying
from coeval.study.judging.certifying import LEAST_MARGIN, MOST_MARGIN
from coeval.study.judging.fitting import fit_judge
from coeval.study.judging.sealing import LEAST_SHARE, MOST_SHARE, SHARE, seal_task
from coeval.study.judging.state import JudgeState, get_judge_state
from coeval.ui.components.view import Node, View, el
from coeval.ui.panel import StudyTab, Update, need_task
from coeval.ui.study_app.agreement.figures import message
from coeval.ui.study_app.judge.correction_boxes import ExamplesBox, WordingBox
from coeval.ui.study_app.judge.judge_views import certificate_view, learned_view, opening_view, seal_view
from coeval.ui.study_app.judge.people_box import PeopleBox
from coeval.ui.study_app.judge.supplied_box import SuppliedBox

LONG: dict[str, Any] = {"show_progress": "minimal", "concurrency_limit": 1, "concurrency_id": "judge"}
"""How an event runs that computes for seconds: one at a time."""

CLOSED = later(
    "Owners and researchers see how a judge is made; annotators do not, so that their scores stay their own."
)


class JudgeTab(StudyTab):
    """Split, learn, certify, take away. Researchers read; owners act."""

    title, id = later("Judge"), "judge"

    def build(self) -> None:
        self.closed = View(elem_id="judge-closed")
        with gr.Column(visible=False, elem_id="judge-steps") as self.steps:
            seal, share = self._build_seal()
            learn = self._build_learning()
            self._build_people()
            certify, margin = self._build_certifying()
            with gr.Column(elem_classes="card"):
                View(
                    _head(5, "Certificate and judge.json", "To cite, and to run the judge without the study.")
                )
                self.certificate = View(elem_id="judge-certificate")
                self.supplied = SuppliedBox(self.context, self.task)
        self.outputs = [
            self.closed, self.steps, self.seal, self.sealing, self.learned, self.learning, self.run,
            self.openings, self.certifying, self.typed, self.certificate,
        ]  # fmt: skip
        for box in (self.examples, self.wording, self.people, self.supplied):
            self.outputs += box.outputs
        self.on(seal.click, self.on_seal, [share])
        self.on(learn.click, self.on_learn, [self.run], **LONG)
        self.on(certify.click, self.on_certify, [self.typed, margin], **LONG)

    def _build_seal(self) -> tuple[gr.Button, gr.Slider]:
        note = "Nothing is proved on documents that a judge was fitted on: split them once, before anything is learned."
        with gr.Column(elem_classes="card"):
            View(_head(1, "Split and seal", note))
            self.seal = View(elem_id="judge-seal")
            with gr.Row(visible=False, elem_classes="actions") as self.sealing:
                share = gr.Slider(
                    100 * LEAST_SHARE, 100 * MOST_SHARE, value=100 * SHARE, step=5,
                    label="Share of the documents to seal, %", elem_id="judge-share",
                )  # fmt: skip
                seal = gr.Button(
                    "Split and seal", variant="primary", elem_id="judge-seal-go", scale=0, min_width=180
                )
        return seal, share

    def _build_learning(self) -> gr.Button:
        note = "From people's scores of the documents to fit on: a step is kept only where it helps by more than noise."
        with gr.Column(elem_classes="card"):
            View(_head(2, "Learn", note))
            with gr.Row(visible=False, elem_classes="actions") as self.learning:
                self.run = gr.Dropdown([], label="Judge to start from", elem_id="judge-run")
                learn = gr.Button(
                    "Learn and freeze", variant="primary", elem_id="judge-learn", scale=0, min_width=180
                )
            self.learned = View(elem_id="judge-learned")
            self.examples = ExamplesBox(self.context, self.task)
            self.wording = WordingBox(self.context, self.task)
        return learn

    def _build_people(self) -> None:
        note = "What the judge is unsure of goes to people; the team can be asked for just that."
        with gr.Column(elem_classes="card"):
            View(_head(3, "When to ask a person", note))
            self.people = PeopleBox(self.context, self.task)

    def _build_certifying(self) -> tuple[gr.Button, gr.Number]:
        note = (
            "The frozen judge is held against the sealed labels. State the margin before you open the seal."
        )
        with gr.Column(elem_classes="card"):
            View(_head(4, "Certify", note))
            self.openings = View(elem_id="judge-openings")
            with gr.Row(visible=False, elem_classes="actions") as self.certifying:
                margin = gr.Number(
                    100 * MARGIN, label="Margin of equivalence, % of the scale", elem_id="judge-margin",
                    minimum=100 * LEAST_MARGIN, maximum=100 * MOST_MARGIN, min_width=160,
                )  # fmt: skip
                self.typed = gr.Textbox(
                    label="Type what is asked for above", max_length=40, elem_id="judge-typed", min_width=160
                )
                go = gr.Button(
                    "Open the seal and certify",
                    variant="stop",
                    elem_id="judge-certify",
                    scale=0,
                    min_width=220,
                )
        return go, margin

    def load(self, person: Person, slug: str) -> Update:
        if person.role is Role.ANNOTATOR:
            return self._closed(message(tr("The team sees the judge"), tr(CLOSED)))
        if not slug:
            return self._closed(message("There is no task yet", "An owner describes one in Set-up."))
        state = get_judge_state(self.context, person, slug)
        owner = person.role is Role.OWNER
        return {
            self.closed: None,
            self.steps: gr.Column(visible=True),
            self.seal: seal_view(state),
            self.sealing: gr.Row(visible=owner and state.seal is None),
            **self._learning_state(state, owner),
            self.openings: opening_view(state),
            self.certifying: gr.Row(visible=owner and state.frozen is not None),
            self.typed: "",
            self.certificate: certificate_view(state, slug, owner=owner),
            **self.examples.update(state, owner=owner),
            **self.wording.update(state, owner=owner),
            **self.people.update(state, owner=owner),
            **self.supplied.update(slug, state, owner=owner),
        }

    def _learning_state(self, state: JudgeState, owner: bool) -> Update:
        labels = [run.label for run in state.runs]
        shown = next((run.label for run in state.runs if run.shown), labels[0] if labels else None)
        start = state.frozen.judge if state.frozen and state.frozen.judge in labels else shown
        if state.seal is None:
            view: list[Node] = [el("p", "Seal first.")]
        elif not labels:
            view = [el("p", "There is no run of a judge yet: draft with a model in Set-up, under Pre-fill.")]
        else:
            view = learned_view(state.frozen, state.fitted_at)
        return {
            self.learning: gr.Row(visible=owner and state.seal is not None and bool(labels)),
            self.run: gr.Dropdown(labels, value=start),
            self.learned: view,
        }

    def _closed(self, words: Node) -> Update:
        return {self.closed: words, self.steps: gr.Column(visible=False)}

    def on_seal(self, person: Person, slug: str, share: float | None) -> Update:
        seal_task(self.context, person, need_task(slug), _share(share, "a share"))
        return self.load(person, slug)

    def on_learn(self, person: Person, slug: str, run: str | None) -> Update:
        fit_judge(self.context, person, need_task(slug), run or "")
        return self.load(person, slug)

    def on_certify(self, person: Person, slug: str, typed: str | None, margin: float | None) -> Update:
        certifying.certify(self.context, person, need_task(slug), typed or "", _share(margin, "a margin"))
        return self.load(person, slug)


def _head(step: int, title: str, note: str) -> Node:
    return el("div", el("h4", f"{step}. {title}"), el("p.note", note))


def _share(percent: float | None, what: str) -> float:
    if percent is None:
        raise InputError(f"Fill in {what}: the field is empty.")
    return float(percent) / 100
