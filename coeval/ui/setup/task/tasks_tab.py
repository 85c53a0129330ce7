"""Set-up, Tasks: describe a task, change its texts, see where it stands."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import gradio as gr

from coeval.domain import Person, Scale, Task
from coeval.errors import InputError
from coeval.language import SOURCE, list_languages
from coeval.study import tasks
from coeval.study.tasks import TaskState, make_slug
from coeval.ui.components.next_step import checklist_view, next_view
from coeval.ui.components.tasks_picker import task_choices
from coeval.ui.components.view import Node, View, el, markdown_view, table
from coeval.ui.panel import Event, Tab, Update, tell_done
from coeval.ui.setup.task.columns_box import ColumnsBox
from coeval.ui.setup.task.design_box import DesignBox
from coeval.ui.setup.task.keeping_box import KeepingBox

FIELDS = ("name", "slug", "description", "input_field", "output_field", "scale", "guidelines", "language")

TO_THE_NAME = "() => document.querySelector('#task-name input, #task-name textarea').focus()"


class TasksTab(Tab):
    """The card of the task that is chosen, or of a new one where none is, and below it its design."""

    title, id = "Tasks", "tasks"

    def build(self) -> None:
        with gr.Row(equal_height=False):
            with gr.Column(scale=3, elem_classes="card"):
                self.form = _build_form()
                with gr.Accordion("Preview of the guidelines", open=False, elem_id="guidelines-preview"):
                    self.preview = View()
                with gr.Row(elem_classes="actions"):
                    # nobody types into a form that is about to be filled in: the first load opens both
                    self.new = gr.Button("New task", elem_id="new-task", scale=0, interactive=False)
                    self.save = gr.Button(
                        "Save task", variant="primary", elem_id="save-task", scale=0, interactive=False
                    )
            with gr.Column(scale=2):
                self.state = View(elem_id="task-state")
        self.columns = ColumnsBox(self.context, self.task)
        self.design = DesignBox(self.context, self.task)
        self.keeping = KeepingBox(self.context, self.task)
        self.of = gr.State(None)
        self.on(self.form["guidelines"].blur, self.on_guidelines, [self.form["guidelines"]], self.preview)
        own = [*self.form.values(), self.preview, self.state, self.of, self.new, self.save]
        self.outputs = [*own, *self.columns.outputs, *self.design.outputs, *self.keeping.outputs]
        emptied = self.on(self.new.click, self.on_new, outputs=[*self.outputs, self.task])
        emptied.then(None, js=TO_THE_NAME)  # the button stands below the form that it empties
        self.on(self.save.click, self.on_save, [self.of, *self.form.values()], [*self.outputs, self.task])

    def load_on(self, *events: Event) -> None:
        # The form has one event: of two loads side by side, the answer that comes last would overwrite what was typed
        # meanwhile. The picker changes when somebody chooses a task, at the start of the page, and when a task is
        # copied, archived or imported. ``task.input`` is left out: it comes with every choice beside the change, and
        # Gradio would then run the loads of all tabs twice.
        opened, *_ = events
        self.on(partial(gr.on, [opened, self.task.change]), self.load, [self.of], trigger_mode="always_last")

    def load(self, person: Person, slug: str, of: str | None = None) -> Update:
        """The task; ``of`` is the one that the form shows ("" a new one), whose texts may be half changed."""
        if not slug and of == "":
            return {self.state: gr.skip()}  # a new task is being written
        if slug and slug == of:
            state = _state_view(tasks.get_task_state(self.context, person, slug))
            return {self.state: state, **self.columns.load(person, slug)}
        return self._show(person, slug)

    def _show(self, person: Person, slug: str) -> Update:
        stands = tasks.get_task_state(self.context, person, slug) if slug else None
        return {
            **_filled(self.form, stands.task if stands else None),
            self.preview: markdown_view(stands.task.guidelines if stands else ""),
            self.state: _state_view(stands) if stands else _welcome(),
            self.of: slug,
            self.new: gr.Button(interactive=True),
            self.save: gr.Button(interactive=True),
            **self.columns.load(person, slug),
            **self.design.load(person, slug),
            **self.keeping.load(person, slug),
        }

    def on_guidelines(self, person: Person, slug: str, text: str | None) -> Node:
        return markdown_view(text or "")

    def on_new(self, person: Person, slug: str) -> Update:
        return {**self._show(person, ""), self.task: gr.Dropdown(value=None)}

    def on_save(self, person: Person, slug: str, of: str | None, *values: str | None) -> Update:
        if slug != (of or ""):
            raise InputError(
                f"The texts on the page are those of {f'“{of}”' if of else 'a new task'}, and the task chosen above "
                f"is “{slug}”: wait until the page shows it, then save."
            )
        given = _read_form({name: value or "" for name, value in zip(FIELDS, values, strict=True)}, slug)
        stored = (tasks.update_task if slug else tasks.add_task)(self.context, person, given)
        tell_done(f"Saved: {stored.name}")
        return {
            **self._show(person, stored.slug),
            self.task: task_choices(self.context, person, stored.slug),
        }


def _build_form() -> dict[str, Any]:
    box = gr.Textbox
    names = [(language.name, language.code) for language in list_languages().values()]
    return {
        "name": box(label="Name", max_length=200, elem_id="task-name"),
        "slug": box(
            label="Short name",
            info="For addresses and commands: a-z, 0-9, hyphens. Made from the name if left empty.",
            max_length=64,
            elem_id="task-slug",
        ),
        "description": box(
            label="Description",
            info="The task that the outputs were written for. The model and the people read the same text.",
            lines=3,
            max_length=20_000,
            elem_id="task-description",
        ),
        "input_field": box(label="What the input is called", placeholder="Question", max_length=80),
        "output_field": box(label="What the output is called", placeholder="Answer", max_length=80),
        "scale": box(label="Scale", value="1-5", info="Lowest and highest score.", max_length=9),
        "guidelines": box(
            label="Guidelines for annotators",
            lines=4,
            max_length=100_000,
            info="Shown beside the work. Markdown: headings, lists, tables.",
        ),
        "language": gr.Dropdown(
            names,
            value=SOURCE,
            label="Language of the annotators' screens",
            info="What annotators and crowd workers read beside your own texts. Set-up stays English.",
            elem_id="task-language",
        ),
    }


def _filled(form: dict[str, Any], task: Task | None) -> dict[Any, Any]:
    texts = {name: str(getattr(task, name)) if task else "" for name in FIELDS}
    if task is None:
        texts |= {"scale": "1-5", "language": SOURCE}
    return {form[name]: gr.update(value=texts[name]) for name in FIELDS} | {
        form["slug"]: gr.Textbox(value=texts["slug"], interactive=task is None)
    }


def _read_form(values: dict[str, str], slug: str) -> Task:
    """What is typed, as the task of that short name; as a new one where ``slug`` is ""."""
    slug = slug or values["slug"].strip() or make_slug(values["name"])
    return Task(
        slug=slug,
        name=values["name"],
        description=values["description"],
        input_field=values["input_field"],
        output_field=values["output_field"],
        guidelines=values["guidelines"],
        scale=read_scale(values["scale"]),
        language=values["language"] or SOURCE,
    )


def read_scale(text: str) -> Scale:
    """``"1-5"`` to a scale.

    Raises:
        InputError: it is not two whole numbers, the lower one first.

    >>> read_scale(" 0 - 1 ")
    Scale(low=0, high=1)
    """
    stated = re.fullmatch(r"\s*(\d{1,4})\s*[-–]\s*(\d{1,4})\s*", text, re.ASCII)
    if stated is None or int(stated[1]) >= int(stated[2]):
        raise InputError(
            f"“{text[:20]}” is not a scale: write the lowest and the highest score, such as 1-5."
        )
    return Scale(int(stated[1]), int(stated[2]))


def _welcome() -> Node:
    return el(
        "div.card.empty",
        el("h3", "Describe your task"),
        el("p", "Then import its instances, draft criteria, vote on them, and pre-fill the evaluations."),
    )


def _state_view(stands: TaskState) -> Node:
    slug = stands.task.slug
    runs = [
        [run.label, run.protocol, f"{ok:,}", f"{unscored:,}", "shown" if run.shown else ""]
        for run, ok, unscored in stands.runs
    ]
    return el(
        "div.card",
        el("h4", "Where it stands"),
        checklist_view(stands),
        next_view(stands, in_setup=True),
        table(["Run", "Protocol", "Drafts", "Unscored", ""], [list(row) for row in runs]) if runs else None,
        el("p", el("a", "Open the task ↗", href=f"../?task={slug}")),
    )
