"""Set-up, Pre-fill, what helps the judge: the plan of a fusion, and evaluation steps of the criteria."""

from __future__ import annotations

from collections.abc import Mapping

import gradio as gr

from coeval.domain import Person
from coeval.study.access import Context
from coeval.study.drafting import assistants, helping
from coeval.study.drafting.run_settings import RunSettings
from coeval.ui.panel import MODEL, Panel, Update, need_task, tell_done


class FusionBox(Panel):
    """The plan a fusion follows, the assistants it hears, and whether it goes without (the ablation)."""

    def __init__(self, context: Context, task: gr.Dropdown, model: gr.Textbox) -> None:
        self.model = model
        super().__init__(context, task)

    def build(self) -> None:
        with gr.Accordion("Fusion: assistants and plan", open=False, elem_id="fusion"):
            self.assistants = gr.Dropdown(
                [],
                multiselect=True,
                allow_custom_value=True,
                label="Assistant evaluators (none: all of these)",
                info="A score column of the imported file is named as column:low:high, such as bleurt:-2:1.",
                elem_id="fusion-assistants",
            )
            self.ablation = gr.Checkbox(label="Ablation: without assistants, scores and plan")
            self.plan = gr.Textbox(
                label="Plan (frozen with the run)", lines=6, max_length=20_000, elem_id="fusion-plan"
            )
            draft = gr.Button(
                "Draft the plan", interactive=self.context.settings.has_model, elem_id="draft-plan"
            )
        self.inputs = [self.assistants, self.ablation, self.plan]
        self.outputs = [self.assistants]
        self.on(draft.click, self.on_draft, [self.model, self.assistants], self.plan, **MODEL)

    async def on_draft(self, person: Person, slug: str, model: str | None, chosen: list[str] | None) -> str:
        settings = RunSettings(model=(model or "").strip(), protocol="fusion", assistants=tuple(chosen or ()))
        return await helping.draft_plan(self.context, person, need_task(slug), settings)

    def update(self, person: Person, slug: str) -> Update:
        names = assistants.list_assistant_names(self.context, person, slug)
        return {self.assistants: gr.Dropdown(names)}


class StepsBox(Panel):
    """Evaluation steps (auto-CoT): written by the model once per criterion, shown, edited, stored."""

    def __init__(self, context: Context, task: gr.Dropdown, model: gr.Textbox) -> None:
        self.model = model
        super().__init__(context, task)

    def build(self) -> None:
        with gr.Accordion("Evaluation steps (auto-CoT)", open=False, elem_id="steps"):
            self.use = gr.Checkbox(label="Give the model these steps", elem_id="use-steps")
            self.criterion = gr.Dropdown([], label="Criterion", elem_id="steps-criterion")
            self.text = gr.Textbox(label="Its steps", lines=6, max_length=10_000, elem_id="steps-text")
            with gr.Row(elem_classes="actions"):
                draft = gr.Button("Draft missing steps", interactive=self.context.settings.has_model, scale=0)
                save = gr.Button("Save steps", elem_id="save-steps", scale=0)
        self.outputs = [self.criterion, self.text]
        self.on(self.criterion.input, self.on_choose, [self.criterion], self.text)
        self.on(draft.click, self.on_draft, [self.model, self.criterion], **MODEL)
        self.on(save.click, self.on_save, [self.criterion, self.text], self.text)

    def on_choose(self, person: Person, slug: str, criterion: str | None) -> str:
        return helping.list_steps(self.context, person, slug).get(criterion or "", "")

    async def on_draft(self, person: Person, slug: str, model: str | None, criterion: str | None) -> Update:
        steps = await helping.draft_steps(self.context, person, need_task(slug), (model or "").strip())
        return self._show(steps, criterion)

    def on_save(self, person: Person, slug: str, criterion: str | None, text: str | None) -> str:
        helping.save_steps(self.context, person, need_task(slug), criterion or "", text or "")
        tell_done("Saved: runs from now on use these steps.")
        return text or ""

    def update(self, person: Person, slug: str) -> Update:
        return self._show(helping.list_steps(self.context, person, slug), None)

    def _show(self, steps: Mapping[str, str], criterion: str | None) -> Update:
        chosen = criterion if criterion in steps else next(iter(steps), None)
        return {
            self.criterion: gr.Dropdown(list(steps), value=chosen),
            self.text: steps.get(chosen or "", ""),
        }
