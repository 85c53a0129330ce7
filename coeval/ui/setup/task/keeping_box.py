"""Set-up, Tasks: copying a task's set-up, putting it away, and taking others out again."""

from __future__ import annotations

import gradio as gr

from coeval.domain import Person, Task
from coeval.study import task_keeping, tasks
from coeval.ui.components.tasks_picker import task_choices
from coeval.ui.components.view import Node, View, el
from coeval.ui.panel import Panel, Update, need_task, tell_done


class KeepingBox(Panel):
    """Copy, archive and restore."""

    def build(self) -> None:
        with gr.Accordion("Copy or archive", open=False, elem_id="keeping"):
            with gr.Row():
                self.name = gr.Textbox(
                    label="Copy its texts, design and criteria into a new task named",
                    max_length=200,
                    elem_id="copy-name",
                )
                copy = gr.Button("Copy the set-up", elem_id="copy-task", scale=0, min_width=180)
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
        self.outputs = [self.name, self.offer, self.typed, self.away, self.archived]
        changed = [*self.outputs, self.task]
        self.on(copy.click, self.on_copy, [self.name], changed)
        self.on(archive.click, self.on_archive, [self.typed], changed)
        self.on(restore.click, self.on_restore, [self.archived], changed)

    def load(self, person: Person, slug: str) -> Update:
        away = task_keeping.list_archived(self.context, person)
        # what is being typed stays: on a slow line this comes after the first words
        return {
            self.offer: _offer(tasks.get_task(self.context, person, slug)) if slug else None,
            self.away: gr.Row(visible=bool(away)),
            self.archived: gr.Dropdown([(task.name, task.slug) for task in away], value=None),
        }

    def on_copy(self, person: Person, slug: str, name: str | None) -> Update:
        task = task_keeping.copy_setup(self.context, person, need_task(slug), name or "")
        tell_done(f"{task.name} is there, without instances.")
        return self._go_to(person, task.slug)

    def on_archive(self, person: Person, slug: str, typed: str | None) -> Update:
        task_keeping.archive_task(self.context, person, need_task(slug), typed or "")
        tell_done("Archived. You can restore it below.")
        return self._go_to(person, None)

    def on_restore(self, person: Person, slug: str, chosen: str | None) -> Update:
        task = task_keeping.restore_task(self.context, person, need_task(chosen or ""))
        return self._go_to(person, task.slug)

    def _go_to(self, person: Person, slug: str | None) -> Update:
        cleared = {self.name: "", self.typed: ""}
        return {
            **self.load(person, slug or ""),
            **cleared,
            self.task: task_choices(self.context, person, slug),
        }


def _offer(task: Task) -> Node:
    export = el("a", "export everything as CSV", href=f"../download/{task.slug}/export.zip", download="")
    return el(
        "p.note",
        el("b", f"{task.name}. "),
        "An archived task is no longer listed; all its data is kept. You can first ",
        export,
        ".",
    )
