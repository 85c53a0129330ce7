"""The Judge tab, step 5: how a judge asks whose scores were imported, as the owner says, for judge.json."""

from __future__ import annotations

from urllib.parse import urlencode

import gradio as gr

from coeval.domain import Person
from coeval.llm.presets.registry import PRESETS
from coeval.study.judging.rebuilding import MISSING
from coeval.study.judging.state import JudgeState
from coeval.ui.components.view import Node, View, el
from coeval.ui.panel import Panel, Update


class SuppliedBox(Panel):
    """Says what is missing, takes model and preset, and gives the link that writes the file with them."""

    def build(self) -> None:
        with gr.Column(visible=False, elem_id="judge-supplied") as self.box:
            self.says = View()
            with gr.Row(elem_classes="actions"):
                self.model = gr.Textbox(
                    label="Model that is to judge", max_length=200, elem_id="supplied-model"
                )
                presets = [
                    ("CoEval’s own prompts", ""),
                    *((one.title, name) for name, one in PRESETS.items()),
                ]
                self.preset = gr.Dropdown(presets, value="", label="It asks as", elem_id="supplied-preset")
            self.link = View(elem_id="supplied-link")
        self.outputs = [self.box, self.says, self.model, self.preset, self.link]
        for event in (self.model.change, self.preset.change):
            self.on(event, self.on_change, [self.model, self.preset], [self.link])

    def update(self, slug: str, state: JudgeState, *, owner: bool) -> Update:
        """The fields, where the judge hears a run that was imported."""
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
    return el("p.ways", el("a.button", "judge.json, asking like this", href=href, download=""))
