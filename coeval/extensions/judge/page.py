"""The Judge tab: the steps from a reviewed study to a certified judge, and its files."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import gradio as gr
from fastapi import FastAPI, Request
from fastapi.responses import Response

from coeval.domain import Person, Role
from coeval.errors import InputError
from coeval.extensions.judge import certification, deferred_lines
from coeval.extensions.judge.bridges import get_bridge
from coeval.extensions.judge.certificate.figures import MARGIN
from coeval.extensions.judge.certificate.html_page import render_page
from coeval.extensions.judge.certification import LEAST_MARGIN, MOST_MARGIN
from coeval.extensions.judge.fit import fit_judge
from coeval.extensions.judge.judge_export import MISSING, export_judge
from coeval.extensions.judge.page_boxes import AuditBox, BridgeBox
from coeval.extensions.judge.page_corrections import ExamplesBox, WordingBox, people_view
from coeval.extensions.judge.page_views import (
    ask_view,
    certificate_view,
    learned_view,
    opening_view,
    seal_view,
)
from coeval.extensions.judge.seal import LEAST_SHARE, MOST_SHARE, SHARE, has_seal, seal_task
from coeval.extensions.judge.state import JudgeState, get_certificate, get_judge_state
from coeval.language import later, tr
from coeval.llm.prompting.presets import PRESETS, get_preset
from coeval.ui.app.agreement.figures import message
from coeval.ui.components.view import Node, View, el
from coeval.ui.server.identity import get_person
from coeval.ui.tabs import Panel, StudyTab, Update, need_task
from coeval.usecases.access import Context
from coeval.usecases.drafting.run_settings import RunSettings


def add_judge_files(app: FastAPI, context: Context) -> None:
    """Add the routes under /download/{slug}/judge/. Each route checks the session and the person's role."""

    @app.get("/download/{slug}/judge/certificate.html")
    def read_certificate(request: Request, slug: str, opening: int = 0, save: bool = False) -> Response:
        certificate = get_certificate(context, get_person(context, request), slug, opening)
        saved = _saved(f"{slug}-certificate-{certificate.opening}.html") if save else {}
        return Response(render_page(certificate), media_type="text/html; charset=utf-8", headers=saved)

    @app.get("/download/{slug}/judge/certificate.json")
    def download_certificate(request: Request, slug: str, opening: int = 0) -> Response:
        certificate = get_certificate(context, get_person(context, request), slug, opening)
        text = certificate.model_dump_json(indent=1)
        headers = _saved(f"{slug}-certificate-{certificate.opening}.json")
        return Response(text, media_type="application/json", headers=headers)

    @app.get("/download/{slug}/judge/bridge.json")
    def download_bridge(request: Request, slug: str) -> Response:
        text = get_bridge(context, get_person(context, request), slug).model_dump_json(indent=1)
        return Response(text, media_type="application/json", headers=_saved(f"{slug}-bridge.json"))

    @app.get("/download/{slug}/judge/judge.json")
    def download_judge(
        request: Request, slug: str, texts: bool = False, model: str = "", preset: str = ""
    ) -> Response:
        asks = read_asks(model, preset) if model or preset else None
        content = export_judge(context, get_person(context, request), slug, texts=texts, asks=asks)
        return Response(content, media_type="application/json", headers=_saved("judge.json"))


def read_asks(model: str, preset: str) -> RunSettings:
    """Return the owner's settings for an imported judge: a preset's, or CoEval's defaults.

    Raises:
        InputError: there is no such preset.
    """
    settings: dict[str, Any] = dict(get_preset(preset).settings) if preset else {}
    return RunSettings(**settings | {"model": model[:500], "steps": False})


def _saved(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}


class SuppliedBox(Panel):
    """The fields for an imported judge's missing model and preset, and the link to its judge.json."""

    def build(self) -> None:
        with gr.Column(visible=False, elem_id="judge-supplied") as self.box:
            self.says = View()
            with gr.Row(elem_classes="actions"):
                self.model = gr.Textbox(label="Model of the judge", max_length=200, elem_id="supplied-model")
                presets = [
                    ("CoEval’s own prompts", ""),
                    *((preset.title, name) for name, preset in PRESETS.items()),
                ]
                self.preset = gr.Dropdown(presets, value="", label="It asks as", elem_id="supplied-preset")
            self.link = View(elem_id="supplied-link")
        self.outputs = [self.box, self.says, self.model, self.preset, self.link]
        for event in (self.model.change, self.preset.change):
            self.on(event, self.on_change, [self.model, self.preset], [self.link])

    def update(self, slug: str, state: JudgeState, *, owner: bool) -> Update:
        """Show the fields if the judge uses an imported run."""
        if not (owner and state.imported):
            return {self.box: gr.Column(visible=False)}
        names = ", ".join(f"“{run.label}”" for run in state.imported)
        model = next((run.model for run in state.imported if run.model), "")
        said = (
            f"The scores of {names} were imported, so nothing here knows how it asked: {MISSING} are missing, and a "
            "judge.json needs them to judge again. Say how it asks. The file then says that this is your word; "
            "judge check asks the certificate’s questions and tells whether the answers are those that were imported."
        )
        return {
            self.box: gr.Column(visible=True),
            self.says: el("p.note", said),
            self.model: model,
            self.preset: "",
            self.link: _link(slug, model, ""),
        }

    def on_change(self, person: Person, slug: str, model: str | None, preset: str | None) -> Update:
        return {self.link: _link(slug, (model or "").strip(), preset or "")}


def _link(slug: str, model: str, preset: str) -> Node:
    if not model:
        return el("p.note", "Name the model first.")
    asked = urlencode({"model": model, "preset": preset})
    href = f"download/{slug}/judge/judge.json?{asked}"
    return el("p.ways", el("a.button", "Write judge.json with these settings", href=href, download=""))


class PeopleBox(Panel):
    """The list of deferred lines, and the buttons that assign them and end the assignment."""

    def build(self) -> None:
        self.shown = View(elem_id="judge-people")
        with gr.Row(visible=False, elem_classes="actions") as self.acting:
            self.assign = gr.Button(
                "Assign these lines to the team", variant="primary", elem_id="people-assign", min_width=220
            )
            self.end = gr.Button("Assign all lines again", elem_id="people-end", min_width=220)
        self.outputs = [self.shown, self.acting, self.assign, self.end]
        self.on(self.assign.click, self.on_assign)
        self.on(self.end.click, self.on_end)

    def update(self, state: JudgeState, *, owner: bool) -> Update:
        """Show the lines that the newest judge leaves to people."""
        asks, some = state.asking is not None, bool(state.deferred and state.deferred.lines)
        return {
            self.shown: people_view(state.frozen, state.deferred, state.asking),
            self.acting: gr.Row(visible=owner and (asks or some)),
            self.assign: gr.Button(visible=some),
            self.end: gr.Button(visible=asks),
        }

    def on_assign(self, person: Person, slug: str) -> Update:
        deferred_lines.assign_deferred(self.context, person, need_task(slug))
        return self._again(person, slug)

    def on_end(self, person: Person, slug: str) -> Update:
        deferred_lines.end_asking(self.context, person, need_task(slug))
        return self._again(person, slug)

    def _again(self, person: Person, slug: str) -> Update:
        return self.update(get_judge_state(self.context, person, slug), owner=True)


LONG: dict[str, Any] = {"show_progress": "minimal", "concurrency_limit": 1, "concurrency_id": "judge"}
"""Settings for events that compute for several seconds: run one at a time."""

CLOSED = later(
    "Owners and researchers see how a judge is built; annotators do not, so that their scores stay independent."
)


class JudgeTab(StudyTab):
    """The tab for splitting, learning, certification and export.

    Researchers can read it and audit; only owners can change it.
    """

    title, id = later("Judge"), "judge"
    purpose = "Fits a model to people's scores, certifies it on other scores, and exports it as judge.json."

    @classmethod
    def is_wanted(cls, context: Context, person: Person, slug: str) -> bool:
        """Return True only for people who run the study, because the tab shows scores."""
        return person.role is not Role.ANNOTATOR

    @classmethod
    def is_used(cls, context: Context, person: Person, slug: str) -> bool:
        """Return whether documents of the study are sealed."""
        return bool(slug) and has_seal(context, person, slug)

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
            with gr.Column(elem_classes="card"):
                View(_head(6, "Bridge to a new judge", "Restates the old judge's results on people's scale."))
                self.bridge = BridgeBox(self.context, self.task)
        self.outputs = [
            self.closed, self.steps, self.seal, self.sealing, self.asking, self.learned, self.learning, self.run,
            self.openings, self.certifying, self.typed, self.certificate,
        ]  # fmt: skip
        for box in (self.audit, self.examples, self.wording, self.people, self.supplied, self.bridge):
            self.outputs += box.outputs
        self.on(seal.click, self.on_ask, [share], [self.asked, self.asking])
        self.on(self.keep.click, self.on_seal, [share])
        self.on(self.leave.click, self.on_leave, outputs=[self.asking])
        self.on(learn.click, self.on_learn, [self.run], **LONG)
        self.on(certify.click, self.on_certify, [self.typed, margin], **LONG)

    def _build_seal(self) -> tuple[gr.Button, gr.Slider]:
        note = "Keep some documents aside to test the judge. Split once, before you fit."
        with gr.Column(elem_classes="card"):
            View(_head(1, "Split and seal", note))
            self.seal = View(elem_id="judge-seal")
            with gr.Row(visible=False, elem_classes="actions") as self.sealing:
                share = gr.Slider(
                    100 * LEAST_SHARE, 100 * MOST_SHARE, value=100 * SHARE, step=5,
                    label="Share of documents to seal, %", elem_id="judge-share",
                )  # fmt: skip
                seal = gr.Button(
                    "Split and seal", variant="primary", elem_id="judge-seal-go", scale=0, min_width=180
                )
            with gr.Column(visible=False) as self.asking:
                self.asked = View(elem_id="judge-seal-asked")
                with gr.Row(elem_classes="actions"):
                    self.keep = gr.Button("Seal for good", variant="stop", elem_id="judge-seal-sure", scale=0)
                    self.leave = gr.Button("Not yet", elem_id="judge-seal-not", scale=0)
        return seal, share

    def _build_learning(self) -> gr.Button:
        note = (
            "Learn from people's scores of the documents to fit on. A step is kept only if it helps "
            "by more than noise."
        )
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
        with gr.Column(elem_classes="card"):
            note = "What a judge wrongly passes, its biases and its cost, against people's scores."
            View(el("div", el("h4", "Audit"), el("p.note", note)))
            self.audit = AuditBox(self.context, self.task)
        return learn

    def _build_people(self) -> None:
        note = "Uncertain lines go to people; you can assign only these lines to the team."
        with gr.Column(elem_classes="card"):
            View(_head(3, "When to ask a person", note))
            self.people = PeopleBox(self.context, self.task)

    def _build_certifying(self) -> tuple[gr.Button, gr.Number]:
        note = "The frozen judge is compared with the sealed labels. Set the margin before you open the seal."
        with gr.Column(elem_classes="card"):
            View(_head(4, "Certify", note))
            self.openings = View(elem_id="judge-openings")
            with gr.Row(visible=False, elem_classes="actions") as self.certifying:
                margin = gr.Number(
                    100 * MARGIN, label="Equivalence margin, % of the scale", elem_id="judge-margin",
                    minimum=100 * LEAST_MARGIN, maximum=100 * MOST_MARGIN, min_width=160,
                )  # fmt: skip
                self.typed = gr.Textbox(
                    label="Confirmation text",
                    info="It is shown above.",
                    max_length=40,
                    elem_id="judge-typed",
                    min_width=160,
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
            self.asking: gr.Column(visible=False),
            **self._learning_state(state, owner),
            self.openings: opening_view(state),
            self.certifying: gr.Row(visible=owner and state.frozen is not None),
            self.typed: "",
            self.certificate: certificate_view(state, slug, owner=owner),
            **self.examples.update(state, owner=owner),
            **self.wording.update(state, owner=owner),
            **self.people.update(state, owner=owner),
            **self.supplied.update(slug, state, owner=owner),
            **self.bridge.update(slug, state, owner=owner),
        }

    def _learning_state(self, state: JudgeState, owner: bool) -> Update:
        labels = [run.label for run in state.runs]
        shown = next((run.label for run in state.runs if run.shown), labels[0] if labels else None)
        start = state.frozen.judge if state.frozen and state.frozen.judge in labels else shown
        if state.seal is None:
            view: list[Node] = [el("p", "Seal first.")]
        elif not labels:
            view = [el("p", "There is no judge run yet: draft with a model in Set-up, under Pre-fill.")]
        else:
            view = learned_view(state.frozen, state.fitted_at)
        return {
            self.learning: gr.Row(visible=owner and state.seal is not None and bool(labels)),
            self.run: gr.Dropdown(labels, value=start),
            self.learned: view,
            **self.audit.update(state, start),
        }

    def _closed(self, words: Node) -> Update:
        return {self.closed: words, self.steps: gr.Column(visible=False)}

    def on_ask(self, person: Person, slug: str, share: float | None) -> Update:
        """Say what the seal does before it is set."""
        state = get_judge_state(self.context, person, need_task(slug))
        return {
            self.asked: ask_view(state.n_documents, _share(share, "a share")),
            self.asking: gr.Column(visible=True),
        }

    def on_leave(self, person: Person, slug: str) -> Update:
        return {self.asking: gr.Column(visible=False)}

    def on_seal(self, person: Person, slug: str, share: float | None) -> Update:
        seal_task(self.context, person, need_task(slug), _share(share, "a share"))
        return self.load(person, slug)

    def on_learn(self, person: Person, slug: str, run: str | None) -> Update:
        fit_judge(self.context, person, need_task(slug), run or "")
        return self.load(person, slug)

    def on_certify(self, person: Person, slug: str, typed: str | None, margin: float | None) -> Update:
        certification.certify(self.context, person, need_task(slug), typed or "", _share(margin, "a margin"))
        return self.load(person, slug)


def _head(step: int, title: str, note: str) -> Node:
    return el("div", el("h4", f"{step}. {title}"), el("p.note", note))


def _share(percent: float | None, what: str) -> float:
    if percent is None:
        raise InputError(f"Fill in {what}: the field is empty.")
    return float(percent) / 100
