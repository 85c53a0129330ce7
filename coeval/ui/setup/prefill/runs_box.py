"""Set-up, Pre-fill: the runs there are, which of them people see, what is unscored in them, and the archive."""

from __future__ import annotations

from collections.abc import Sequence

import gradio as gr

from coeval.domain import Person, Run, UnscoredDraft
from coeval.study import task_keeping, tasks
from coeval.study.drafting.unscored import MOST, list_unscored
from coeval.ui.components.estimate_words import plural
from coeval.ui.components.tasks_picker import TaskPicker
from coeval.ui.components.view import Node, View, el, table
from coeval.ui.panel import Panel, Update, need_task, tell_done

Counted = Sequence[tuple[Run, int, int]]
"""Each run with how many drafts are ok and how many unscored."""


class RunsBox(Panel):
    """A table of the runs, and what can be done with one of them."""

    def build(self) -> None:
        with gr.Column(elem_classes="card", visible=False) as self.all:
            self.runs = View(elem_id="runs")
            self.run = gr.Dropdown([], label="Drafts that annotators see", elem_id="shown-run")
            with gr.Accordion(
                "Unscored drafts", open=False, visible=False, elem_id="unscored-box"
            ) as self.box:
                self.of = TaskPicker([], label="Of the run", elem_id="unscored-run")
                self.unscored = View(elem_id="unscored")
            with gr.Accordion(
                "Archive a run", open=False, visible=False, elem_id="run-keeping"
            ) as self.keeping:
                self.offer = View(elem_id="run-offer")
                with gr.Row():
                    self.typed = gr.Textbox(
                        label="To archive a run, type its label", max_length=120, elem_id="run-typed"
                    )
                    archive = gr.Button(
                        "Archive the run", variant="stop", elem_id="archive-run", scale=0, min_width=180
                    )
                with gr.Row(visible=False) as self.away:
                    self.archived = gr.Dropdown([], label="Archived runs", elem_id="archived-runs")
                    restore = gr.Button("Restore it", elem_id="restore-run", scale=0, min_width=180)
        kept = [self.keeping, self.offer, self.typed, self.away, self.archived]
        self.outputs = [self.all, self.runs, self.run, self.box, self.of, self.unscored, *kept]
        self.on(self.run.input, self.on_show, [self.run])
        self.on(self.of.input, self.on_choose, [self.of], self.unscored)
        self.on(archive.click, self.on_archive, [self.typed])
        self.on(restore.click, self.on_restore, [self.archived])

    def on_show(self, person: Person, slug: str, label: str) -> Update:
        tasks.show_run(self.context, person, need_task(slug), label)
        return self.update(person, slug)

    def on_choose(self, person: Person, slug: str, label: str | None) -> Node | None:
        return self._unscored_view(person, need_task(slug), label)

    def on_archive(self, person: Person, slug: str, typed: str | None) -> Update:
        task_keeping.archive_run(self.context, person, need_task(slug), typed or "")
        tell_done("Archived. You can restore it below.")
        return self.update(person, slug) | {self.typed: ""}

    def on_restore(self, person: Person, slug: str, label: str | None) -> Update:
        if label:
            task_keeping.restore_run(self.context, person, need_task(slug), label)
        return self.update(person, slug)

    def update(self, person: Person, slug: str, chosen: str | None = None) -> Update:
        """The box as it stands; ``chosen`` is the run whose unscored drafts are looked at."""
        runs = tasks.get_task_state(self.context, person, slug).runs
        away = task_keeping.list_archived_runs(self.context, person, slug)
        bad = [run.label for run, _, unscored in runs if unscored]
        chosen = chosen if chosen in bad else next(iter(bad), None)
        return {
            **self.follow(runs),
            self.all: gr.Column(visible=bool(runs or away)),
            self.run: gr.Dropdown(
                [run.label for run, _, _ in runs if run.protocol != "pairwise"],
                value=next((run.label for run, _, _ in runs if run.shown), None),
            ),
            self.box: gr.Accordion(visible=bool(bad)),
            self.of: gr.Dropdown(bad, value=chosen),
            self.unscored: self._unscored_view(person, slug, chosen),
            self.keeping: gr.Accordion(visible=bool(runs or away)),
            self.offer: _offer(slug),
            self.away: gr.Row(visible=bool(away)),
            self.archived: gr.Dropdown([run.label for run in away], value=None),
        }

    def follow(self, runs: Counted) -> Update:
        """The counts alone, which change while a run is under way."""
        return {self.runs: _runs_view(runs)}

    def _unscored_view(self, person: Person, slug: str, label: str | None) -> Node | None:
        return _table_of(list_unscored(self.context, person, slug, label)) if label else None


def _offer(slug: str) -> Node:
    return el(
        "p.note",
        "An archived run is no longer listed, shown to people or counted in Agreement. Its drafts, and what people did "
        "with them, are kept and exported. You can first ",
        el("a", "export everything as CSV", href=f"../download/{slug}/export.zip", download=""),
        ".",
    )


def _runs_view(runs: Counted) -> Node | None:
    if not runs:
        return None
    rows = [
        [run.label, run.protocol, f"{ok:,}", f"{bad:,}", "shown" if run.shown else ""]
        for run, ok, bad in runs
    ]
    return el(
        "div", el("h4", "Runs"), el("div.scroll", table(["Run", "Protocol", "Drafts", "Unscored", ""], rows))
    )


def _table_of(unscored: list[UnscoredDraft]) -> Node:
    heads = ["Instance", "Criterion", "Attempt", "Why, and the model’s answer"]
    rows = [[one.instance, one.criterion, str(one.attempt), _why(one)] for one in unscored]
    more = (
        f"The first {MOST} are listed; drafts.csv of the export holds all." if len(unscored) == MOST else ""
    )
    return el(
        "div",
        el("p.note", f"{plural(len(unscored), 'draft')} without a score. {more}".strip()),
        el("div.scroll", table(heads, rows)),
    )


def _why(one: UnscoredDraft) -> Node:
    answer = el("details", el("summary", "the model’s answer"), el("pre", one.raw))
    return el("div", el("p", one.reason), answer if one.raw else el("p.note", "The model gave no answer."))
