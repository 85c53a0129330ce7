"""Set-up, Pre-fill, what helps the judge: the plan of a fusion, and evaluation steps of the criteria."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr

from coeval.domain import Person
from coeval.errors import CoevalError
from coeval.study.access import Context
from coeval.study.drafting import assistants, helping
from coeval.study.drafting.preparing import Wish
from coeval.ui.server.identity import get_person, shown

MODEL: dict[str, Any] = {"concurrency_limit": 2, "concurrency_id": "model", "api_visibility": "private"}
QUICK: dict[str, Any] = {"concurrency_limit": None, "api_visibility": "private", "show_progress": "hidden"}


class FusionBox:
    """The plan a fusion follows, the assistants it hears, and whether it goes without (the ablation)."""

    def __init__(self, context: Context, task: gr.Dropdown, model: gr.Textbox) -> None:
        self.context = context
        with gr.Accordion("Fusion: assistants and plan", open=False, elem_id="fusion"):
            self.assistants = gr.Dropdown(
                [],
                multiselect=True,
                allow_custom_value=True,
                label="Assistant evaluators (none: every measure)",
                info="A score column of the imported file is named as column:low:high, such as bleurt:-2:1.",
                elem_id="fusion-assistants",
            )
            self.ablation = gr.Checkbox(label="Ablation: without assistants, scores and plan")
            self.plan = gr.Textbox(
                label="Plan (frozen with the run)", lines=6, max_length=20_000, elem_id="fusion-plan"
            )
            draft = gr.Button("Draft the plan", interactive=context.settings.has_model, elem_id="draft-plan")
        self.inputs = [self.assistants, self.ablation, self.plan]
        draft.click(self.on_draft, [task, model, self.assistants], self.plan, **MODEL)

    async def on_draft(self, slug: str, model: str, chosen: list[str] | None, request: gr.Request) -> str:
        try:
            person = get_person(self.context, request)
            wish = Wish(model=(model or "").strip(), protocol="fusion", assistants=tuple(chosen or ()))
            return await helping.draft_plan(self.context, person, slug, wish)
        except CoevalError as error:
            raise shown(error) from error

    def update(self, person: Person, slug: str) -> dict[Any, Any]:
        names = assistants.list_assistant_names(self.context, person, slug)
        return {self.assistants: gr.Dropdown(names)}


class StepsBox:
    """Evaluation steps (auto-CoT): written by the model once per criterion, shown, edited, stored."""

    def __init__(self, context: Context, task: gr.Dropdown, model: gr.Textbox) -> None:
        self.context = context
        with gr.Accordion("Evaluation steps (auto-CoT)", open=False, elem_id="steps"):
            self.use = gr.Checkbox(label="Give the model these steps", elem_id="use-steps")
            self.criterion = gr.Dropdown([], label="Criterion", elem_id="steps-criterion")
            self.text = gr.Textbox(label="Its steps", lines=6, max_length=10_000, elem_id="steps-text")
            with gr.Row(elem_classes="actions"):
                draft = gr.Button("Draft missing steps", interactive=context.settings.has_model, scale=0)
                save = gr.Button("Save steps", elem_id="save-steps", scale=0)
        self.criterion.input(self.on_choose, [task, self.criterion], self.text, **QUICK)
        draft.click(self.on_draft, [task, model, self.criterion], [self.criterion, self.text], **MODEL)
        save.click(self.on_save, [task, self.criterion, self.text], self.text, **QUICK)

    def on_choose(self, slug: str, criterion: str, request: gr.Request) -> str:
        return self._do(
            request, lambda person: helping.list_steps(self.context, person, slug).get(criterion, "")
        )

    async def on_draft(
        self, slug: str, model: str, criterion: str | None, request: gr.Request
    ) -> dict[Any, Any]:
        try:
            person = get_person(self.context, request)
            steps = await helping.draft_steps(self.context, person, slug, (model or "").strip())
        except CoevalError as error:
            raise shown(error) from error
        chosen = criterion if criterion in steps else next(iter(steps), None)
        return {
            self.criterion: gr.Dropdown(list(steps), value=chosen),
            self.text: steps.get(chosen or "", ""),
        }

    def on_save(self, slug: str, criterion: str, text: str, request: gr.Request) -> str:
        def save(person: Person) -> str:
            helping.save_steps(self.context, person, slug, criterion or "", text or "")
            return text or ""

        saved = self._do(request, save)
        gr.Info("Saved: runs from now on use these steps.")
        return saved

    def _do(self, request: gr.Request, step: Callable[[Person], str]) -> str:
        try:
            return step(get_person(self.context, request))
        except CoevalError as error:
            raise shown(error) from error

    def update(self, person: Person, slug: str) -> dict[Any, Any]:
        steps = helping.list_steps(self.context, person, slug)
        first = next(iter(steps), None)
        return {self.criterion: gr.Dropdown(list(steps), value=first), self.text: steps.get(first or "", "")}
