"""Set-up, Pre-fill: the assistants and the plan of a fusion."""

from __future__ import annotations

import gradio as gr

from coeval.domain import Person
from coeval.extensions.fusion.correlations import correlate_run
from coeval.extensions.fusion.protocol import draft_plan, list_assistant_names
from coeval.ui.app.agreement.figures import show_table
from coeval.ui.components.view import Node, View, el
from coeval.ui.tabs import MODEL, Panel, Update, need_task, read_line
from coeval.usecases import tasks
from coeval.usecases.drafting.run_settings import RunSettings


class FusionBox(Panel):
    """The box with the fusion's plan and assistants, and the option to use neither (the ablation)."""

    def build(self) -> None:
        with gr.Accordion("Fusion: assistants and plan", open=False, elem_id="fusion"):
            self.form["assistants"] = gr.Dropdown(
                [],
                multiselect=True,
                allow_custom_value=True,
                label="Assistant evaluators",
                info="Select none to use all. Write a score column of the imported file as column:low:high:what it "
                "measures, such as nli:0:1:does the source entail the answer.",
                elem_id="fusion-assistants",
            )
            self.form["ablation"] = gr.Checkbox(label="Ablation: without assistants, scores and plan")
            self.form.reads["plan"] = read_line
            self.form["plan"] = gr.Textbox(
                label="Plan",
                info="It is frozen with the run.",
                lines=6,
                max_length=20_000,
                elem_id="fusion-plan",
            )
            draft = gr.Button(
                "Draft the plan", interactive=self.context.settings.has_model, elem_id="draft-plan"
            )
            self.run = gr.Dropdown(
                [],
                value=None,
                label="Compare with people and assistants",
                info="A fused run, once people have scored its outputs.",
                visible=False,
                elem_id="fused-run",
            )
            self.tables = View(elem_id="fused-tables")
        self.outputs = [self.form["assistants"], self.run]
        asked = [self.form["model"], self.form["assistants"]]
        self.on(draft.click, self.on_draft, asked, self.form["plan"], **MODEL)
        self.on(self.run.input, self.on_compare, [self.run], self.tables)

    async def on_draft(self, person: Person, slug: str, model: str | None, chosen: list[str] | None) -> str:
        settings = RunSettings(model=read_line(model), protocol="fusion", assistants=tuple(chosen or ()))
        return await draft_plan(self.context, person, need_task(slug), settings)

    def update(self, person: Person, slug: str) -> Update:
        names = list_assistant_names(self.context, person, slug)
        runs = tasks.get_task_state(self.context, person, slug).runs
        fused = [run.label for run, _, _ in runs if run.params.get("assistants")]
        return {
            self.form["assistants"]: gr.Dropdown(names),
            self.run: gr.Dropdown(fused, value=None, visible=bool(fused)),
        }

    def on_compare(self, person: Person, slug: str, label: str | None) -> Node | None:
        """Return the tables of a fused run; nothing if none is chosen."""
        if not label:
            return None
        return el("div", *map(show_table, correlate_run(self.context, person, need_task(slug), label)))
