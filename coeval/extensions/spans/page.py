"""The Spans tab, where people edit error spans in the text, and its routes."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any, Literal

import gradio as gr
from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import JSONResponse

from coeval.domain import Person, Role
from coeval.extensions.spans import annotation
from coeval.extensions.spans.annotation import SentSheet, Sheet, Where
from coeval.extensions.spans.rows import MAX_SPANS
from coeval.extensions.spans.typology import Span, Typology, list_typologies, load_typology
from coeval.language import get_spoken, later, tr
from coeval.rules.arms import Aliases
from coeval.rules.evaluation_rows import Id
from coeval.ui.app.agreement.figures import message
from coeval.ui.components.view import Screen, View
from coeval.ui.server.identity import get_person
from coeval.ui.server.payloads import Payload, save_and_open
from coeval.ui.tabs import StudyTab, Update, need_task, tell_done
from coeval.usecases.access import Context
from coeval.usecases.save_batching import Together
from coeval.usecases.scrutiny.steps import get_aliases

Json = dict[str, Any]


class WherePayload(Payload):
    """The instance to open."""

    position: Id | None = None
    instance: Id | None = None
    step: Literal[-1, 0, 1] = 0


def add_spans_api(app: FastAPI, context: Context) -> None:
    """Add the routes under /api/spans to the server."""
    router = APIRouter(prefix="/api/spans/{slug}")
    together = Together[JSONResponse](context.store)

    @router.post("/sheet")
    def post_sheet(request: Request, slug: str, payload: WherePayload) -> Json | None:
        person, aliases = _identify(context, request, slug)
        instance = aliases.reveal("instance", payload.instance) if payload.instance else None
        return _open(context, person, slug, Where(payload.position, instance, payload.step), aliases)

    @router.post("/saves")
    async def post_save(request: Request, slug: str, payload: SentSheet) -> JSONResponse:
        return await together.save(lambda: _save(context, request, slug, payload))

    app.include_router(router)


def _identify(context: Context, request: Request, slug: str) -> tuple[Person, Aliases]:
    with context.store.read():
        person = get_person(context, request)
        return person, get_aliases(context, person, slug)


def _open(context: Context, person: Person, slug: str, where: Where, aliases: Aliases) -> Json | None:
    sheet = annotation.open_sheet(context, person, slug, where)
    return sheet_json(sheet, aliases) if sheet else None


def _save(context: Context, request: Request, slug: str, payload: SentSheet) -> JSONResponse:
    person, aliases = _identify(context, request, slug)
    sent = replace(
        payload,
        instance=aliases.reveal("instance", payload.instance),
        draft=aliases.reveal("draft", payload.draft) if payload.draft else None,
    )

    def show(step: int) -> Json | None:
        return _open(context, person, slug, Where(instance=sent.instance, step=step), aliases)

    # a person who marked spans before seeing the draft gets the same instance again, with the draft
    return save_and_open(
        context,
        lambda: annotation.save_spans(context, person, slug, sent),
        lambda saved: show(0 if saved.first else 1),
        lambda: show(0),
    )


def sheet_json(sheet: Sheet, aliases: Aliases) -> Json:
    """Return a sheet for the browser, without revealing hidden systems."""
    instance, saved = sheet.instance, sheet.saved
    shown: Json = {
        "task": {
            "slug": sheet.task.slug,
            "input_field": sheet.task.input_field,
            "output_field": sheet.task.output_field,
            "guidelines": sheet.guidelines,
            "idle_seconds": sheet.idle_seconds,
        },
        "typology": typology_json(sheet.typology),
        "total": sheet.total,
        "done": sheet.done,
        "position": sheet.position,
        "instance": None,
    }
    if instance is None:
        return shown
    lines = {row.at: row for row in saved.rows if row.at} if saved and not saved.first and sheet.draft else {}
    added = [row.span for row in saved.rows if row.at is None or saved.first] if saved else []
    return shown | {
        "instance": {
            "id": aliases.hide("instance", instance.id),
            "source": instance.input,
            "output": instance.output,
            "system": sheet.system,
        },
        "draft": aliases.hide("draft", sheet.draft.id) if sheet.draft else None,
        "awaits_first": sheet.awaits_first,
        "unread": sheet.unread,
        "revision": sheet.revision,
        "saved_at": saved.submitted_at if saved else "",
        "score": saved.score if saved else None,
        "rows": [
            {
                "at": at,
                "was": asdict(span),
                "action": str(lines[at].action) if at in lines else None,
                "span": asdict(lines[at].span if at in lines else span),
            }
            for at, span in enumerate(sheet.shown, 1)
        ],
        "added": [asdict(span) for span in added],
    }


def typology_json(typology: Typology) -> Json:
    """Return the severities and categories to choose from, with their weights."""
    offered = [severity.name for severity in typology.severities if severity.offered]

    def costs(category: str) -> list[float]:
        return [typology.weigh(Span(None, None, severity, category)) for severity in offered]

    return {
        "title": typology.title,
        "scoring": str(typology.scoring),
        "severities": offered,
        "costs": costs(""),
        "categories": [
            {"name": name, "title": category.title or name, "side": str(category.side), "costs": costs(name)}
            for category in typology.categories
            for name in [category.name]
        ],
        "most": MAX_SPANS,
    }


class SpansTab(StudyTab):
    """The tab for a task's error spans; owners choose the typology here."""

    title, id = later("Spans"), "spans"
    purpose = "Marks errors in the text, each with a category and a severity, as in MQM."

    @classmethod
    def is_used(cls, context: Context, person: Person, slug: str) -> bool:
        """Return whether people mark spans in the study."""
        return bool(slug) and annotation.get_typology(context, person, slug) is not None

    def build(self) -> None:
        self.note = View(elem_id="spans-note")
        with gr.Row(visible=False, elem_classes="actions", elem_id="spans-set-up") as self.setting:
            choices = [(typology.title, typology.name) for typology in list_typologies()]
            self.typology = gr.Dropdown(
                choices, value="mqm", label="Typology", elem_id="spans-typology", min_width=280
            )
            choose = gr.Button(
                "Mark spans in this study", variant="primary", elem_id="spans-choose", scale=0, min_width=220
            )
        self.screen = Screen(screen="spans", elem_id="spans-screen")
        self.outputs = [self.note, self.setting, self.screen]
        self.on(choose.click, self.on_choose, [self.typology])

    def on_choose(self, person: Person, slug: str, name: str) -> Update:
        annotation.set_typology(self.context, person, need_task(slug), load_typology(str(name)))
        tell_done(tr("People can mark spans now."))
        return self.load(person, slug)

    def load(self, person: Person, slug: str) -> Update:
        if not slug:
            return self._closed(tr("There is no task yet"), tr("An owner can describe one in Set-up."), False)
        if annotation.get_typology(self.context, person, slug) is None:
            said = tr(
                "People mark error spans here after an owner has chosen a typology, such as MQM or ESA."
            )
            return self._closed(tr("This study has no spans to mark"), said, person.role is Role.OWNER)
        value = {"task": slug, "person": person.uid, "language": get_spoken().code}
        return {
            self.note: None,
            self.setting: gr.Row(visible=False),
            self.screen: gr.update(value=value, visible=True),
        }

    def _closed(self, title: str, said: str, may_choose: bool) -> Update:
        return {
            self.note: message(title, said),
            self.setting: gr.Row(visible=may_choose),
            self.screen: gr.update(value=None, visible=False),
        }
