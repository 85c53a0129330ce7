"""Set-up, Pre-fill: presets, several criteria in one question, evaluation steps, runs, and fused runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import gradio as gr

from coeval.domain import Person, Run
from coeval.llm.prompting.presets import PRESETS, Preset, get_preset
from coeval.llm.prompting.template_files import PERSONAS
from coeval.ui.components.view import Node, View, el, table
from coeval.ui.tabs import MODEL, Form, Panel, TaskPicker, Update, need_task, tell_done
from coeval.usecases import tasks
from coeval.usecases.criteria_sets import establish_preset
from coeval.usecases.drafting import model_requests
from coeval.usecases.drafting.execution import describe_forms
from coeval.usecases.drafting.run_settings import RunSettings

PAPER_FIELDS = ("protocol", "samples", "temperature", "top_p", "templates", "steps", "persona")
PERSONA = "persona:"
"""The beginning of a persona's entry in the menu of papers."""


class PresetBox(Panel):
    """The box to judge as in a paper, read about it, and establish its criteria if it has any."""

    def build(self) -> None:
        papers = [(preset.title, name) for name, preset in PRESETS.items()]
        personas = [
            (f"A Closer Look, persona: {what}", PERSONA + name) for name, what in PERSONAS.items() if name
        ]
        self.preset = gr.Dropdown(
            [("None", ""), *papers, *personas], value="", label="As in a paper", elem_id="prefill-preset"
        )
        self.about = View(elem_id="preset-about")
        self.take = gr.Button(
            "Use its criteria", visible=False, elem_id="preset-criteria", scale=0, size="sm"
        )

    def fill(self, form: Form) -> None:
        """Make a choice fill the fields of ``PAPER_FIELDS``."""
        self.form = form
        self.outputs = [self.about, self.take, *(form[name] for name in PAPER_FIELDS)]
        self.on(self.preset.input, self.on_choose, [self.preset])
        self.on(self.take.click, self.on_take, [self.preset], self.about)

    def on_choose(self, person: Person, slug: str, name: str | None) -> Update:
        _, is_persona, persona = (name or "").partition(PERSONA)
        preset = get_preset(name) if name and not is_persona else None
        shown = RunSettings(**(preset.settings if preset else {"persona": persona}))  # type: ignore[arg-type]
        return {
            self.about: preset_view(preset) if preset else None,
            self.take: gr.Button(visible=bool(preset and preset.criteria)),
            **self.form.show(shown, PAPER_FIELDS),
        }

    def on_take(self, person: Person, slug: str, name: str | None) -> Node:
        established = establish_preset(self.context, person, need_task(slug), name or "")
        members = (
            el("li", f"{criterion.name}, {criterion.scale}: {criterion.text}")
            for criterion in established.criteria
        )
        return el(
            "div.notes", el("p", f"Criteria set {established.version} is in force:"), el("ul", *members)
        )


def preset_view(preset: Preset) -> Node:
    """Return the source of a preset, and the differences in our version."""
    return el(
        "div.notes",
        el("p", f"{preset.source}."),
        el("ul", *(el("li", fact) for fact in preset.facts)),
        el("p", "Different here: ", *(f"{difference} " for difference in preset.differences)),
    )


# Set-up, Pre-fill: the list of runs, the run that people see, and how scores were obtained.

Counted = Sequence[tuple[Run, int, int]]
"""Each run with its numbers of scored and unscored drafts."""


class RunsBox(Panel):
    """The box with a table of the runs, and actions on one of them."""

    def build(self) -> None:
        with gr.Column(elem_classes="card", visible=False) as self.all:
            self.runs = View(elem_id="runs")
            self.run = gr.Dropdown([], label="Drafts that annotators see", elem_id="shown-run")
            with gr.Accordion(
                "How scores were obtained",
                open=False,
                visible=False,
                elem_id="rungs-box",
                elem_classes="more",
            ) as self.box:
                self.of = TaskPicker([], label="Run", elem_id="rungs-run")
                self.forms = View(elem_id="rungs-forms")
        self.outputs = [self.all, self.runs, self.run, self.box, self.of, self.forms]
        self.on(self.run.input, self.on_show, [self.run])
        self.on(self.of.input, self.on_choose, [self.of], self.forms)

    def on_show(self, person: Person, slug: str, label: str) -> Update:
        tasks.show_run(self.context, person, need_task(slug), label)
        return self.update(person, slug)

    def on_choose(self, person: Person, slug: str, label: str | None) -> Node:
        return self._tell_forms(person, need_task(slug), label)

    def update(self, person: Person, slug: str, chosen: str | None = None) -> Update:
        """Return the current box; ``chosen`` is the run in "How scores were obtained"."""
        runs = tasks.get_task_state(self.context, person, slug).runs
        drafted = [run.label for run, ok, unscored in runs if ok or unscored]
        if chosen not in drafted:
            bad = [run.label for run, _, unscored in runs if unscored]
            chosen = next(iter([*bad, *drafted]), None)
        return {
            **self.follow(runs),
            self.all: gr.Column(visible=bool(runs)),
            self.run: gr.Dropdown(
                [run.label for run, ok, _ in runs if ok and run.protocol != "pairwise"],
                value=next((run.label for run, _, _ in runs if run.shown), None),
            ),
            self.box: gr.Accordion(visible=bool(drafted)),
            self.of: gr.Dropdown(drafted, value=chosen),
            self.forms: self._tell_forms(person, slug, chosen),
        }

    def follow(self, runs: Counted) -> Update:
        """Return the counts alone, which change while a run is under way."""
        return {self.runs: _runs_view(runs)}

    def _tell_forms(self, person: Person, slug: str, label: str | None) -> Node:
        said = describe_forms(self.context, person, slug, label) if label else []
        return el("div", *(el("p", sentence) for sentence in said))


def _runs_view(runs: Counted) -> Node | None:
    if not runs:
        return None
    rows = [
        [run.label, run.protocol, f"{ok:,}", f"{bad:,}", "shown" if run.shown else ""]
        for run, ok, bad in runs
    ]
    return el(
        "div", el("h4", "Runs"), el("div.scroll", table(["Run", "Protocol", "Scored", "Unscored", ""], rows))
    )


class StepsBox(Panel):
    """The box with evaluation steps (auto-CoT), which the model writes once per criterion and people can edit."""

    def build(self) -> None:
        with gr.Accordion("Evaluation steps (auto-CoT)", open=False, elem_id="steps"):
            self.form["steps"] = gr.Checkbox(label="Give the model these steps", elem_id="use-steps")
            self.criterion = gr.Dropdown([], label="Criterion", elem_id="steps-criterion")
            self.text = gr.Textbox(label="Steps", lines=6, max_length=10_000, elem_id="steps-text")
            with gr.Row(elem_classes="actions"):
                draft = gr.Button("Draft missing steps", interactive=self.context.settings.has_model, scale=0)
                save = gr.Button("Save steps", elem_id="save-steps", scale=0)
        self.outputs = [self.criterion, self.text]
        self.on(self.criterion.input, self.on_choose, [self.criterion], self.text)
        self.on(draft.click, self.on_draft, [self.form["model"], self.criterion], **MODEL)
        self.on(save.click, self.on_save, [self.criterion, self.text], self.text)

    def on_choose(self, person: Person, slug: str, criterion: str | None) -> str:
        return model_requests.list_steps(self.context, person, slug).get(criterion or "", "")

    async def on_draft(self, person: Person, slug: str, model: str | None, criterion: str | None) -> Update:
        steps = await model_requests.draft_steps(self.context, person, need_task(slug), (model or "").strip())
        return self._show(steps, criterion)

    def on_save(self, person: Person, slug: str, criterion: str | None, text: str | None) -> str:
        model_requests.save_steps(self.context, person, need_task(slug), criterion or "", text or "")
        tell_done("Saved. New runs use these steps.")
        return text or ""

    def update(self, person: Person, slug: str) -> Update:
        return self._show(model_requests.list_steps(self.context, person, slug), None)

    def _show(self, steps: Mapping[str, str], criterion: str | None) -> Update:
        chosen = criterion if criterion in steps else next(iter(steps), None)
        return {
            self.criterion: gr.Dropdown(list(steps), value=chosen),
            self.text: steps.get(chosen or "", ""),
        }
