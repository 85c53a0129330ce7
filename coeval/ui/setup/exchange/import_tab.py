"""Set-up, Import: look at a file, map its columns, take it in whole or not at all."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import gradio as gr

from coeval.datasets import FIELDS, FORMATS, Preview, preview
from coeval.datasets.hub.address import parse_address
from coeval.domain import Person
from coeval.errors import CoevalError, InputError
from coeval.study import tasks
from coeval.study.access import OWNERS
from coeval.study.importing.columns import list_columns
from coeval.study.importing.hub import import_hub, list_sources, look_at_hub, preview_hub, search_hub
from coeval.study.importing.import_options import ImportOptions
from coeval.study.importing.importing import ImportReport, import_file
from coeval.study.tasks import make_slug
from coeval.ui.components.tasks_picker import task_choices
from coeval.ui.components.view import Node, View, el
from coeval.ui.panel import Tab, Update, need_task
from coeval.ui.setup.exchange.hub_box import HubBox, found_note, names_data_set, sources_view
from coeval.ui.setup.exchange.import_views import (
    NONE,
    Seen,
    guess_columns,
    hint_view,
    left_columns,
    map_columns,
    preview_frame,
    preview_view,
    refused_view,
    report_view,
    title_of,
)
from coeval.ui.setup.task.columns_box import RoleMenus, read_roles, roles_view

CHOSEN, NEW = "chosen", "new"
"""Where a file goes: into the task chosen above, or into a new one."""


class ImportTab(Tab):
    """A file, the task it goes into, which column holds what, and its first rows."""

    title, id = "Import", "import"

    def build(self) -> None:
        with gr.Row(equal_height=False):
            with gr.Column(scale=2, elem_classes="card"):
                self._build_form()
            with gr.Column(scale=3):
                self.note = View(hint_view(), elem_id="import-note")
                self.sources = View(elem_id="import-sources")
                self.rows = gr.Dataframe(
                    visible=False, interactive=False, wrap=True, label="First rows", elem_id="import-preview"
                )
        self.outputs = [self.into, self.new_task, self.note, self.sources]
        chosen = [self.files, self.format]
        roles = [self.roles_box, *self.roles.outputs]
        seen = [
            self.name,
            self.mapping,
            *self.columns.values(),
            self.go,
            self.note,
            self.rows,
            self.seen,
            self.origin,
            *roles,
        ]
        for event in (self.files.change, self.format.input):
            self.on(event, self.on_file, [*chosen, self.into, self.name], seen)
        self._wire_hub(seen)
        for column in self.columns.values():
            self.on(column.input, self.on_mapping, [self.seen, *self.columns.values()], roles)
        for menu in self.roles.menus:
            named = [self.seen, *self.columns.values(), *self.roles.menus]
            self.on(menu.input, self.on_roles, named, self.roles.view)
        self.on(self.into.input, self.on_into, [self.into], self.new_task)
        texts = [self.into, self.name, self.description, self.criteria, self.empty]
        done = [*self.outputs, self.name, self.description, self.criteria, self.go, self.task]
        given = [*chosen, self.origin, *texts, self.seen, *self.columns.values(), *self.roles.menus]
        self.on(self.go.click, self.on_import, given, done)

    def _wire_hub(self, seen: list[Any]) -> None:
        listed = [*self.hub.outputs, self.note]
        for event in (self.hub.find.click, self.hub.words.submit):
            self.on(event, self.on_find, [self.hub.words], listed)
        self.on(self.hub.name.input, self.on_find, [self.hub.name], listed)
        self.on(self.hub.show.click, self.on_part, [self.hub.part, self.into, self.name], seen)

    def _build_form(self) -> None:
        self.files = gr.File(
            label="Files",
            file_count="multiple",
            type="filepath",
            height=140,
            elem_id="import-file",
        )
        self.hub = HubBox()
        self.into = gr.Radio([("A new task", NEW)], value=NEW, label="Import into", elem_id="import-into")
        with gr.Column(visible=True) as self.new_task:
            self.name = gr.Textbox(label="Name of the new task", max_length=200, elem_id="import-name")
            self.description = gr.Textbox(
                label="What was the writer of the outputs asked to do?",
                info="The description that the model and the people read.",
                lines=2,
                max_length=20_000,
                elem_id="import-description",
            )
            self.criteria = gr.Textbox(
                label="Criteria, one a line",
                info="May stay empty: you can draft or write them later, and vote on them.",
                lines=2,
                max_length=50_000,
                elem_id="import-criteria",
            )
        formats = [("recognise it", "auto"), *((each.title, each.name) for each in FORMATS)]
        self.format = gr.Dropdown(formats, value="auto", label="Format", elem_id="import-format")
        self.empty = gr.Checkbox(
            label="Empty outputs are answers too: their writer said nothing", elem_id="import-empty"
        )
        with gr.Row(visible=False) as self.mapping:
            self.columns = {
                name: gr.Dropdown([NONE], value=NONE, label=name, elem_id=f"map-{name}") for name in FIELDS
            }
        with gr.Column(visible=False) as self.roles_box:
            View(el("h4", "Further columns: who sees them"))
            self.roles = RoleMenus("import")
        self.seen = gr.State(())
        self.origin = gr.State("")
        self.go = gr.Button("Import", variant="primary", interactive=False, elem_id="import-go")

    def load(self, person: Person, slug: str) -> Update:
        listed = {task.slug: task for task in tasks.list_tasks(self.context, person)}
        own = [(f"{listed[slug].name} (the task chosen above)", CHOSEN)] if slug in listed else []
        new = not own or bool(listed[slug].origin)  # nobody means to import into the demo
        return {
            self.into: gr.Radio([*own, ("A new task", NEW)], value=NEW if new else CHOSEN),
            self.new_task: gr.Column(visible=new),
            self.sources: sources_view(list_sources(self.context, person, slug) if own else ()),
        }

    def on_into(self, person: Person, slug: str, into: str | None) -> gr.Column:
        return gr.Column(visible=into == NEW)

    def on_file(
        self,
        person: Person,
        slug: str,
        paths: list[str] | None,
        format: str | None,
        into: str | None,
        name: str | None,
    ) -> Update:
        try:
            _check_owner(person)
            if not paths:
                return self._without_preview(hint_view())
            with _gathered(paths) as path:
                seen = preview(path, format=format or "auto")
                return self._with_preview(seen, name or title_of(path), self._known(person, slug, into))
        except CoevalError as error:
            return self._without_preview(refused_view(error))

    def on_find(self, person: Person, slug: str, words: str | None) -> Update:
        asked = (words or "").strip()
        try:
            if not asked:
                raise InputError("Write the name of a data set, or words to search for.")
            if not names_data_set(asked):
                found = search_hub(self.context, person, asked)
                return {self.note: hint_view(), **self.hub.list_found(found, asked)}
            listing = look_at_hub(self.context, person, asked)
            return {self.note: found_note(listing), **self.hub.list_parts(listing)}
        except CoevalError as error:
            return {self.note: refused_view(error)}

    def on_part(
        self, person: Person, slug: str, address: str | None, into: str | None, name: str | None
    ) -> Update:
        try:
            seen = preview_hub(self.context, person, address or "")
            title = name or title_of(Path(parse_address(address or "").repo))
            return self._with_preview(seen, title, self._known(person, slug, into), address or "")
        except CoevalError as error:
            return self._without_preview(refused_view(error))

    def _known(self, person: Person, slug: str, into: str | None) -> set[str]:
        """The columns that the task has already, whose roles are chosen."""
        known = list_columns(self.context, person, slug) if into == CHOSEN and slug else []
        return {column.name for column in known}

    def on_mapping(self, person: Person, slug: str, seen: Seen, *mapped: str) -> Update:
        return self._roles_of(left_columns(seen, mapped))

    def on_roles(self, person: Person, slug: str, seen: Seen, *chosen: Any) -> list[Node]:
        mapped, menus = chosen[: len(FIELDS)], chosen[len(FIELDS) :]
        left = left_columns(seen, mapped)
        roles = read_roles([column.name for column, _ in left], menus)
        now = [replace(column, role=roles[column.name], question="") for column, _ in left]
        return roles_view(now, {column.name: value for column, value in left})

    def _roles_of(self, left: Seen) -> Update:
        values = {column.name: value for column, value in left}
        shown = self.roles.show([column for column, _ in left], values)
        return {self.roles_box: gr.Column(visible=bool(left)), **shown}

    def _with_preview(self, seen: Preview, name: str, known: Collection[str], origin: str = "") -> Update:
        """The file, or the part of a data set (``origin``); roles of ``known`` columns are chosen under Tasks."""
        guessed = guess_columns(seen) if seen.fields == FIELDS else ()
        columns = tuple((column, value) for column, value in guessed if column.name not in known)
        return {
            self.seen: columns,
            **self._roles_of(left_columns(columns, list(seen.mapping.values()))),
            **map_columns(self.columns, seen),
            self.name: name,
            self.mapping: gr.Row(visible=bool(seen.fields)),
            self.go: gr.Button(interactive=True),
            self.note: preview_view(seen, origin),
            self.origin: origin,
            self.rows: gr.Dataframe(value=preview_frame(seen), visible=True),
        }

    def _without_preview(self, note: Node) -> Update:
        return {
            self.go: gr.Button(interactive=False),
            self.note: note,
            self.rows: gr.Dataframe(visible=False),
            self.seen: (),
            self.origin: "",
            self.roles_box: gr.Column(visible=False),
        }

    def on_import(
        self,
        person: Person,
        slug: str,
        paths: list[str] | None,
        format: str | None,
        origin: str | None,
        into: str | None,
        name: str | None,
        description: str | None,
        criteria: str | None,
        empty: bool | None,
        seen: Seen,
        *chosen: Any,
    ) -> Update:
        try:
            _check_owner(person)
            if not paths and not origin:
                raise InputError("There is no file: choose one first.")
            mapped, menus = chosen[: len(FIELDS)], chosen[len(FIELDS) :]
            pairs = zip(FIELDS, mapped, strict=True)
            mapping = {field: column for field, column in pairs if column and column != NONE}
            roles = read_roles([column.name for column, _ in left_columns(seen, mapped)], menus)
            task, texts = self._target(person, slug, into, name or "", description or "")
            given = ImportOptions(
                format="auto" if origin else format or "auto",
                mapping=mapping,
                roles=roles,
                empty_outputs=bool(empty),
                name=texts.get("name", ""),
                description=texts.get("description", ""),
                criteria_lines=(criteria or "").splitlines() if texts else (),
            )
            if origin:
                report = import_hub(self.context, person, origin, task, given)
            else:
                with _gathered(paths or []) as path:
                    report = import_file(self.context, person, path, task, given)
            return self._done(person, report)
        except CoevalError as error:
            return {self.note: refused_view(error)}

    def _target(
        self, person: Person, slug: str, into: str | None, name: str, description: str
    ) -> tuple[str, dict[str, str]]:
        """The short name of the task that the file goes into, and the texts of a new one."""
        if into == CHOSEN:
            return tasks.get_task(self.context, person, need_task(slug)).slug, {}
        new = make_slug(name)
        if new in {task.slug for task in tasks.list_tasks(self.context, person)}:
            raise InputError(
                f"There is a task of the short name “{new}” already: choose it above and import into it, or give "
                "the new task another name."
            )
        if not description.strip():
            raise InputError(
                "The new task has no description: write what the writer of the outputs was asked to do. The model "
                "and the people need it."
            )
        return new, {"name": name, "description": description}

    def _done(self, person: Person, report: ImportReport) -> Update:
        return {
            **self.load(person, report.task),
            self.name: "",
            self.description: "",
            self.criteria: "",
            self.go: gr.Button(interactive=False),
            self.note: report_view(report, tasks.get_task_state(self.context, person, report.task)),
            self.task: task_choices(self.context, person, report.task),
        }


def _check_owner(person: Person) -> None:
    if person.role not in OWNERS:
        raise InputError(f"Only owners can import; {person.name} is not one.")


@contextmanager
def _gathered(paths: list[str]) -> Iterator[Path]:
    """The uploaded file, or a folder of them where there are several; a copy that is gone afterwards."""
    if len(paths) == 1:
        yield Path(paths[0])
        return
    with tempfile.TemporaryDirectory(prefix="coeval-import-") as name:
        names = [Path(path).name for path in paths]
        if twice := next((each for each in names if names.count(each) > 1), ""):
            raise InputError(
                f"Two of the files are named {twice}, and one would replace the other: rename one."
            )
        folder = Path(name) / "study"
        folder.mkdir()
        for path in map(Path, paths):
            shutil.copyfile(path, folder / path.name)
        yield folder
