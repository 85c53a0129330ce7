"""Set-up, Tasks: describe, design, export and archive a task."""

from __future__ import annotations

from functools import partial

import gradio as gr

from coeval.domain import Person, Scale, Task
from coeval.errors import InputError
from coeval.language import SOURCE, list_languages
from coeval.ui.components.next_step import checklist_view, next_view
from coeval.ui.components.view import Node, View, el, markdown_view
from coeval.ui.setup.design_box import ColumnsBox, DesignBox
from coeval.ui.tabs import Event, Form, Panel, Tab, Update, more_settings, need_task, task_choices, tell_done
from coeval.usecases import tasks
from coeval.usecases.study_import import read_scale
from coeval.usecases.tasks import TaskState, make_slug

# Set-up, Tasks: archive a task, and restore archived tasks.


class KeepingBox(Panel):
    """Export, archive or restore a task."""

    def build(self) -> None:
        with gr.Accordion("Export or archive", open=False, elem_id="keeping"):
            self.offer = View(elem_id="archive-offer")
            with gr.Row():
                self.typed = gr.Textbox(
                    label="To archive it, type its name", max_length=200, elem_id="archive-typed"
                )
                archive = gr.Button(
                    "Archive the task", variant="stop", elem_id="archive-task", scale=0, min_width=180
                )
            with gr.Row(visible=False) as self.away:
                self.archived = gr.Dropdown([], label="Archived tasks", elem_id="archived")
                restore = gr.Button("Restore it", elem_id="restore-task", scale=0, min_width=180)
        self.outputs = [self.offer, self.typed, self.away, self.archived]
        changed = [*self.outputs, self.task]
        self.on(archive.click, self.on_archive, [self.typed], changed)
        self.on(restore.click, self.on_restore, [self.archived], changed)

    def load(self, person: Person, slug: str) -> Update:
        away = tasks.list_archived(self.context, person)
        # typed text stays: on a slow connection, this arrives after the first words
        return {
            self.offer: _offer(tasks.get_task(self.context, person, slug)) if slug else None,
            self.away: gr.Row(visible=bool(away)),
            self.archived: gr.Dropdown([(task.name, task.slug) for task in away], value=None),
        }

    def on_archive(self, person: Person, slug: str, typed: str | None) -> Update:
        tasks.archive_task(self.context, person, need_task(slug), typed or "")
        tell_done("Archived. You can restore it below.")
        return self._go_to(person, None)

    def on_restore(self, person: Person, slug: str, chosen: str | None) -> Update:
        task = tasks.restore_task(self.context, person, need_task(chosen or ""))
        return self._go_to(person, task.slug)

    def _go_to(self, person: Person, slug: str | None) -> Update:
        return {
            **self.load(person, slug or ""),
            self.typed: "",
            self.task: task_choices(self.context, person, slug),
        }


def _offer(task: Task) -> Node:
    export = el("a", "export everything as CSV", href=f"../download/{task.slug}/export.zip", download="")
    outline = el("a", "Download the study outline", href=f"../download/{task.slug}/outline.zip", download="")
    return el(
        "div",
        el("p.note", outline, ": task, columns, criteria, design and people, with the table of outputs. "
           "“python -m coeval serve study.yaml” starts the same study again, without anybody's work."),
        el("p.note", el("b", f"{task.name}. "),
           "An archived task is no longer listed; all its data is kept. You can first ", export, "."),
    )  # fmt: skip


# Set-up, Tasks: describe a task, change its texts, and see its progress.

NEW = Task(slug="", name="", input_field="", output_field="")
"""The form for a new task."""

TO_THE_NAME = "() => document.querySelector('#task-name input, #task-name textarea').focus()"


class TasksTab(Tab):
    """The tab with the form of the chosen task or a new one, and the task's design."""

    title, id = "Tasks", "tasks"

    def build(self) -> None:
        with gr.Row(equal_height=False):
            with gr.Column(scale=3, elem_classes="card"):
                self.form = Form()
                _build_texts(self.form)
                with more_settings("task-more"):
                    _build_more(self.form)
                    View(el("h4", "Preview of the guidelines"))
                    self.preview = View(elem_id="guidelines-preview")
                with gr.Row(elem_classes="actions"):
                    # the first load enables both, so that nobody types into a form before it is filled in
                    self.new = gr.Button("New task", elem_id="new-task", scale=0, interactive=False)
                    self.save = gr.Button(
                        "Save task", variant="primary", elem_id="save-task", scale=0, interactive=False
                    )
            with gr.Column(scale=2):
                self.state = View(elem_id="task-state")
        self.columns = ColumnsBox(self.context, self.task)
        with more_settings("design-more", "Study design"):
            self.design = DesignBox(self.context, self.task)
        self.keeping = KeepingBox(self.context, self.task)
        self.of = gr.State(None)
        self.on(self.form["guidelines"].blur, self.on_guidelines, [self.form["guidelines"]], self.preview)
        parts = [*self.form.inputs, self.preview, self.state, self.of, self.new, self.save]
        self.outputs = [*parts, *self.columns.outputs, *self.design.outputs, *self.keeping.outputs]
        emptied = self.on(self.new.click, self.on_new, outputs=[*self.outputs, self.task])
        emptied.then(None, js=TO_THE_NAME)  # the button is below the form that it empties
        self.on(self.save.click, self.on_save, [self.of, *self.form.inputs], [*self.outputs, self.task])

    def load_on(self, *events: Event) -> None:
        # The form has one event: with two loads in parallel, the later answer would overwrite typed
        # text. The picker changes when somebody chooses a task, at the start of the page, and when a task is
        # archived or imported. ``task.input`` is not used: every choice fires it too, so Gradio
        # would run the loads of all tabs twice.
        opened, *_ = events
        self.on(partial(gr.on, [opened, self.task.change]), self.load, [self.of], trigger_mode="always_last")

    def load(self, person: Person, slug: str, of: str | None = None) -> Update:
        """Return the task; ``of`` is the task in the form, perhaps with unsaved changes ("" for a new one)."""
        if not slug and of == "":
            return {self.state: gr.skip()}  # a new task is being written
        if slug and slug == of:
            state = _state_view(tasks.get_task_state(self.context, person, slug))
            return {self.state: state, **self.columns.load(person, slug)}
        return self._show(person, slug)

    def _show(self, person: Person, slug: str) -> Update:
        stands = tasks.get_task_state(self.context, person, slug) if slug else None
        return {
            **self.form.show(stands.task if stands else NEW),
            self.form["slug"]: gr.Textbox(slug, interactive=not slug),
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
                f"This page still shows {f'“{of}”' if of else 'a new task'}, but the task chosen above is "
                f"“{slug}”: wait until the page changes, then save."
            )
        task = _read_task(self.form.read(values), slug)
        stored = (tasks.update_task if slug else tasks.add_task)(self.context, person, task)
        tell_done(f"Saved: {stored.name}")
        return {
            **self._show(person, stored.slug),
            self.task: task_choices(self.context, person, stored.slug),
        }


def _build_texts(form: Form) -> None:
    form["name"] = gr.Textbox(label="Name", max_length=200, elem_id="task-name")
    form["description"] = gr.Textbox(
        label="Description",
        placeholder="The task that the outputs were written for",
        lines=3,
        max_length=20_000,
        elem_id="task-description",
    )
    with gr.Row():
        form["input_field"] = gr.Textbox(
            label="Label of the input", placeholder="Question", max_length=80, min_width=120
        )
        form["output_field"] = gr.Textbox(
            label="Label of the output", placeholder="Answer", max_length=80, min_width=120
        )
        form["scale"] = gr.Textbox(
            label="Scale", value="1-5", max_length=9, min_width=120, elem_id="task-scale"
        )
    form["guidelines"] = gr.Textbox(
        label="Guidelines for annotators",
        lines=4,
        max_length=100_000,
        placeholder="Shown beside the work. Markdown: headings, lists, tables.",
    )


def _build_more(form: Form) -> None:
    names = [(language.name, language.code) for language in list_languages().values()]
    form["slug"] = gr.Textbox(
        label="Short name",
        info="For addresses and commands: a-z, 0-9, hyphens. If blank, it comes from the name.",
        max_length=64,
        elem_id="task-slug",
    )
    form["language"] = gr.Dropdown(
        names,
        value=SOURCE,
        label="Language of the annotators' screens",
        info="Sets the language for annotators and crowd workers. Your own texts and Set-up do not change.",
        elem_id="task-language",
    )


def _read_task(fields: dict[str, str], slug: str) -> Task:
    """Return the form as the task with that short name; as a new task if ``slug`` is ""."""
    slug = slug or fields["slug"].strip() or make_slug(fields["name"])
    scale, language = read_scale(fields["scale"]) or Scale(), fields["language"] or SOURCE
    return Task(**fields | {"slug": slug, "scale": scale, "language": language})  # type: ignore[arg-type]


def _welcome() -> Node:
    return el(
        "div.card.empty",
        el("h3", "Describe your task"),
        el("p", "Or import a file to create a task."),
    )


def _state_view(stands: TaskState) -> Node:
    return el(
        "div.card",
        el("h4", "Progress"),
        checklist_view(stands),
        next_view(stands, in_setup=True),
    )
