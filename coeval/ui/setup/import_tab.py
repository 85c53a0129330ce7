"""Set-up, Import: preview a file, map its columns, and import all of it or nothing."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import MappingProxyType

import gradio as gr

from coeval.datasets import FIELDS, Preview, list_formats, list_sheets, on_sheet, preview
from coeval.datasets.tables.table import MAX_COLUMNS
from coeval.domain import Column, ColumnRole, Person
from coeval.errors import CoevalError, InputError
from coeval.extending import load_parts
from coeval.ui.components.view import Node, View, el
from coeval.ui.setup.design_box import QUESTION, RoleTable, design_hint
from coeval.ui.setup.import_views import (
    LABELS,
    examples_view,
    further_columns,
    hint_view,
    preview_view,
    read_mapping,
    refused_view,
    report_view,
    role_rows,
    rows_view,
    sources_view,
    title_of,
)
from coeval.ui.tabs import Tab, Update, more_settings, need_task, task_choices
from coeval.usecases import tasks
from coeval.usecases.access import OWNERS
from coeval.usecases.scrutiny.design import get_design, list_columns
from coeval.usecases.study_import import (
    USUAL_DESCRIPTION,
    ImportOptions,
    ImportReport,
    import_file,
    list_sources,
    read_scale,
)
from coeval.usecases.study_outlines import describe_usual
from coeval.usecases.tasks import make_slug

CHOSEN, NEW = "chosen", "new"
"""The target of a file: the task chosen above, or a new one."""

GO_ON = """async () => {
  for (let tries = 0; tries < 40; tries++) {
    const report = document.querySelector('#import-note [role]');
    if (report) return report.querySelector('a[href*="tab=scrutiny"]')?.click();
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}"""
"""Follows the report's link to judge; a refusal or a report without criteria has none, and stays."""


class ImportTab(Tab):
    """The tab to import a file: the target task, the meaning of its columns, and its first rows."""

    title, id = "Import", "import"

    def build(self) -> None:
        with gr.Row(equal_height=False):
            with gr.Column(scale=2, elem_classes="card"):
                self._build_form()
            with gr.Column(scale=3):
                self.note = View(hint_view(), elem_id="import-note")
                self.sources = View(elem_id="import-sources")
                with gr.Column(visible=False, elem_classes="card") as self.roles_box:
                    View(el("div", el("h4", "Columns"), el("p.note", QUESTION)))
                    self.roles = RoleTable(LABELS, "Use of", elem_id="import-roles")
                self.rows = View(elem_id="import-preview")
        self.outputs = [self.into, self.new_task, self.note, self.sources]
        chosen = [self.files, self.sheet, self.format]
        listed = [self.roles_box, self.roles]
        seen = [
            self.name,
            self.go,
            self.judge,
            self.note,
            self.rows,
            self.seen,
            self.origin,
            self.sheet,
            self.format,
            *listed,
        ]
        for event in (self.files.change, self.sheet.input, self.format.input):
            self.on(event, self.on_file, [*chosen, self.into, self.name], seen)
        for place in self.places:
            place.wire(seen)
        # the list is rebuilt when any of its inputs changes
        choices = [self.seen, self.into, self.roles]
        for event in (self.into.change, self.task.change):
            self.on(event, self.on_choice, choices, [self.new_task, *listed], trigger_mode="always_last")
        texts = [self.into, self.name, self.description, self.criteria, self.empty, self.scale]
        done = [*self.outputs, self.name, self.description, self.criteria, self.go, self.judge, self.task]
        inputs = [*chosen, self.origin, *texts, self.seen, self.roles]
        self.on(self.go.click, self.on_import, inputs, done)
        imported = self.on(self.judge.click, partial(self.on_import, judging=True), inputs, done)
        imported.then(None, js=GO_ON)

    def _build_form(self) -> None:
        self.files = gr.File(
            label="Files",
            file_count="multiple",
            type="filepath",
            height=140,
            elem_id="import-file",
        )
        self.format = gr.Dropdown(list_choices(), value="auto", label="Read as", elem_id="import-format")
        self.sheet = gr.Dropdown([], label="Sheet", visible=False, elem_id="import-sheet")
        self.places = [place(self) for place in load_parts("boxes", self.id)]
        self.into = gr.Radio([("A new task", NEW)], value=NEW, label="Import into", elem_id="import-into")
        with gr.Column(visible=True) as self.new_task:
            self.name = gr.Textbox(label="Name of the new task", max_length=200, elem_id="import-name")
            self.description = gr.Textbox(
                label="Task given to the systems",
                placeholder="Optional: the description that the model and the people read",
                lines=2,
                max_length=20_000,
                elem_id="import-description",
            )
            self.criteria = gr.Textbox(
                label="Criteria, one per line",
                info="Optional, and final without a vote. For a vote, leave this empty and write them under Criteria.",
                lines=2,
                max_length=50_000,
                elem_id="import-criteria",
            )
        with more_settings("import-more"):
            self.scale = gr.Textbox(
                label="Scale", placeholder="1-5", max_length=20, elem_id="import-scale",
                info="For criteria whose scale the file does not state. By default, the scores give it.",
            )  # fmt: skip
            self.empty = gr.Checkbox(label="Keep rows with an empty output", elem_id="import-empty")
        self.seen = gr.State(None)
        self.origin = gr.State("")
        with gr.Row(elem_id="import-actions", elem_classes="actions"):
            self.go = gr.Button("Import", variant="primary", interactive=False, elem_id="import-go", scale=0)
            self.judge = gr.Button("Import and judge", interactive=False, elem_id="import-judge", scale=0)

    def load(self, person: Person, slug: str) -> Update:
        listed = {task.slug: task for task in tasks.list_tasks(self.context, person)}
        current = [(f"{listed[slug].name} (the task chosen above)", CHOSEN)] if slug in listed else []
        new = not current or bool(listed[slug].origin)  # nobody wants to import into the demo
        only_examples = bool(listed) and all(task.origin for task in listed.values())
        sources = list_sources(self.context, person, slug) if current else ()
        return {
            self.into: gr.Radio([*current, ("A new task", NEW)], value=NEW if new else CHOSEN),
            self.new_task: gr.Column(visible=new),
            self.sources: examples_view() if only_examples else sources_view(sources),
        }

    def on_choice(
        self,
        person: Person,
        slug: str,
        seen: Preview | None,
        into: str | None,
        chosen: dict[str, str],
    ) -> Update:
        update: Update = {self.new_task: gr.Column(visible=into == NEW)}
        if seen is None:  # a late answer must not empty the list of a file that was read in the meantime
            return update
        return {**update, **self.list_roles(person, slug, into, seen, read_mapping(seen, chosen), chosen)}

    def on_file(
        self,
        person: Person,
        slug: str,
        paths: list[str] | None,
        sheet: str | None,
        format: str | None,
        into: str | None,
        name: str | None,
    ) -> Update:
        menu: Update = {}
        try:
            _check_owner(person)
            if not paths:
                return self.without_preview(hint_view())
            with _gathered(paths) as gathered:
                sheets = list_sheets(gathered)
                sheet = sheet if sheet in sheets else next(iter(sheets), None)
                # stays if this sheet is refused, so that another can be chosen
                menu = {self.sheet: gr.Dropdown(list(sheets), value=sheet, visible=len(sheets) > 1)}
                with on_sheet(gathered, sheet if sheet and sheet != sheets[0] else "") as path:
                    seen = preview(path, format=format or "auto")
                listed = self.list_roles(person, slug, into, seen, seen.mapping)
                return {**self.with_preview(seen, name or title_of(gathered)), **listed, **menu}
        except CoevalError as error:
            return {**self.without_preview(refused_view(error)), **menu}

    def _known(self, person: Person, slug: str, into: str | None) -> dict[str, Column]:
        """Return the columns that the task already has, with chosen roles."""
        columns = list_columns(self.context, person, slug) if into == CHOSEN and slug else []
        return {column.name: column for column in columns if not column.is_open}

    def list_roles(
        self,
        person: Person,
        slug: str,
        into: str | None,
        seen: Preview | None,
        mapping: Mapping[str, str],
        chosen: Mapping[str, str] = MappingProxyType({}),
    ) -> Update:
        """Return every column of the file, with its field or its role."""
        rows = role_rows(seen, mapping, self._known(person, slug, into), chosen)
        return {self.roles_box: gr.Column(visible=bool(rows)), self.roles: rows}

    def with_preview(self, seen: Preview, name: str, origin: str = "") -> Update:
        """Return the tab with a preview of the file, or of a part of the data set ``origin``."""
        return {
            self.seen: seen,
            self.name: name,
            self.go: gr.Button(interactive=True),
            self.judge: gr.Button(interactive=True),
            self.note: preview_view(seen, origin),
            self.origin: origin,
            self.rows: rows_view(seen),
            self.sheet: gr.Dropdown(visible=False),
            self.format: gr.Dropdown(list_choices(seen.format)),
        }

    def without_preview(self, note: Node) -> Update:
        return {
            self.go: gr.Button(interactive=False),
            self.judge: gr.Button(interactive=False),
            self.note: note,
            self.rows: "",
            self.seen: None,
            self.origin: "",
            self.sheet: gr.Dropdown([], value=None, visible=False),
            self.format: gr.Dropdown(list_choices()),
            self.roles_box: gr.Column(visible=False),
            self.roles: [],
        }

    def on_import(
        self,
        person: Person,
        slug: str,
        paths: list[str] | None,
        sheet: str | None,
        format: str | None,
        origin: str | None,
        into: str | None,
        name: str | None,
        description: str | None,
        criteria: str | None,
        empty: bool | None,
        scale: str | None,
        seen: Preview | None,
        chosen: dict[str, str],
        *,
        judging: bool = False,
    ) -> Update:
        try:
            _check_owner(person)
            if not paths and not origin:
                raise InputError("There is no file: choose one first.")
            mapping, roles = _read_columns(seen, chosen, self._known(person, slug, into))
            task, texts = self._target(person, slug, into, name or "", description or "")
            stated = read_scale(scale or "")
            options = ImportOptions(
                format="auto" if origin or "scores" in mapping else format or "auto",
                mapping=mapping,
                roles=roles,
                empty_outputs=bool(empty),
                scale=stated,
                name=texts.get("name", ""),
                description=texts.get("description", ""),
                usual_description=USUAL_DESCRIPTION if texts else "",
                criteria_lines=(criteria or "").splitlines() if texts else (),
                usual_criteria=(describe_usual(stated),) if texts and judging else (),
            )
            if origin:
                place = next(place for place in self.places if place.fits(origin))
                report = place.import_from(person, origin, task, options)
            else:
                with _gathered(paths or []) as gathered, on_sheet(gathered, sheet or "") as path:
                    report = import_file(self.context, person, path, task, options)
            return self._done(person, report)
        except CoevalError as error:
            return {self.note: refused_view(error, "Nothing was imported")}

    def _target(
        self, person: Person, slug: str, into: str | None, name: str, description: str
    ) -> tuple[str, dict[str, str]]:
        """Return the short name of the target task, and the texts of a new one."""
        if into == CHOSEN:
            return tasks.get_task(self.context, person, need_task(slug)).slug, {}
        new = make_slug(name)
        if new in {task.slug for task in tasks.list_tasks(self.context, person)}:
            raise InputError(
                f"There is already a task with the short name “{new}”: choose it above and import into it, or give "
                "the new task another name."
            )
        return new, {"name": name, "description": description}

    def _done(self, person: Person, report: ImportReport) -> Update:
        stands = tasks.get_task_state(self.context, person, report.task)
        return {
            **self.load(person, report.task),
            self.name: "",
            self.description: "",
            self.criteria: "",
            self.go: gr.Button(interactive=False),
            self.judge: gr.Button(interactive=False),
            self.note: report_view(
                report,
                stands,
                list_columns(self.context, person, report.task),
                design_hint(report.task, get_design(self.context, person, report.task).design)
                if stands.runs
                else None,
            ),
            self.task: task_choices(self.context, person, report.task),
        }


def list_choices(detected: str = "") -> list[tuple[str, str]]:
    """Return the menu of formats; its first entry names the format that the content of the file showed."""
    titles = {each.name: each.title for each in list_formats()}
    detected_title = f"{titles[detected]} (detected)" if detected in titles else "Detected from the content"
    return [(detected_title, "auto"), *((title, name) for name, title in titles.items())]


def _read_columns(
    seen: Preview | None, chosen: Mapping[str, str], columns: Mapping[str, Column]
) -> tuple[dict[str, str], dict[str, ColumnRole]]:
    """Return the column of each field, and the roles of further columns that are not among the task's ``columns``."""
    mapped = read_mapping(seen, chosen)
    mapping = {field: mapped.get(field, "") for field in FIELDS if seen and field in seen.fields}
    if mapped.get("scores"):
        mapping |= {field: mapped[field] for field in ("annotator", "scores") if field in mapped}
    further = [column for column in further_columns(seen, mapped) if column.name not in columns]
    roles = {column.name: _role(column, mapped, chosen) for column in further}
    if seen and (len(seen.columns) > MAX_COLUMNS or "scores" in mapping):  # the rest is left out
        roles = {name: role for name, role in roles.items() if role is not ColumnRole.HIDDEN}
        mapping |= {"context": "\n".join(roles)} if roles else {}
    return mapping, roles


def _role(column: Column, mapped: Mapping[str, str], chosen: Mapping[str, str]) -> ColumnRole:
    """Return the role of a further column: hidden unless listed; a source id with texts keeps its role."""
    if column.name == mapped.get("document"):
        return column.role
    return ColumnRole(chosen.get(column.name, ColumnRole.HIDDEN))


def _check_owner(person: Person) -> None:
    if person.role not in OWNERS:
        raise InputError(f"Only owners can import; {person.name} is not one.")


@contextmanager
def _gathered(paths: list[str]) -> Iterator[Path]:
    """Yield the uploaded file, or a folder for several files; a temporary copy is deleted afterwards."""
    if len(paths) == 1:
        yield Path(paths[0])
        return
    with tempfile.TemporaryDirectory(prefix="coeval-import-") as name:
        names = [Path(path).name for path in paths]
        if twice := next((each for each in names if names.count(each) > 1), ""):
            raise InputError(f"Two files are named {twice}: rename one of them.")
        folder = Path(name) / "study"
        folder.mkdir()
        for path in map(Path, paths):
            shutil.copyfile(path, folder / path.name)
        yield folder
