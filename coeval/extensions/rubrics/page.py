"""The Rubrics tab: an instance with its criteria to review and judge, and below it the figures for the team."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import gradio as gr
from fastapi import APIRouter, FastAPI, Query, Request
from fastapi.responses import JSONResponse

from coeval.domain import Arm, Person, Role
from coeval.extensions.rubrics.drafting import draft_rubrics, judge_rubrics
from coeval.extensions.rubrics.queries import Criterion, Line, Submission
from coeval.extensions.rubrics.questions import RubricsRun
from coeval.extensions.rubrics.reports import get_rubrics_report
from coeval.extensions.rubrics.reviews import (
    Sent,
    Sheet,
    count_criteria,
    get_rubrics_sheet,
    has_rubrics,
    list_rubrics_history,
    own_score,
    submit_rubrics_sheet,
)
from coeval.extensions.rubrics.scoring import instance_score, told_points
from coeval.extensions.rubrics.statistics import RubricsReport, tell_report
from coeval.language import get_spoken, later, tr
from coeval.llm.reading.quotes import find_quotes
from coeval.rules.arms import Aliases
from coeval.rules.evaluation_rows import LARGEST_ID
from coeval.ui.app.step_json import quote_json, texts_json
from coeval.ui.components.view import Node, Screen, View, el, table
from coeval.ui.server.identity import get_person
from coeval.ui.server.payloads import LIMITS, save_and_open
from coeval.ui.tabs import MODEL, StudyTab, Update, need_task, tell_done
from coeval.usecases.access import Context
from coeval.usecases.drafting.model_requests import MAX_TOKENS
from coeval.usecases.save_batching import Together
from coeval.usecases.scrutiny.steps import get_aliases

Json = dict[str, Any]
Place = Annotated[int | None, Query(ge=1, le=LARGEST_ID)]
Named = Annotated[int, Query(ge=1, le=LARGEST_ID)]
Step = Annotated[int, Query(ge=-1, le=1)]


class RubricsTab(StudyTab):
    """The tab where everybody reviews and judges, the team sees figures, and owners start the model."""

    title, id = later("Rubrics"), "rubrics"
    purpose = "Judges each instance by criteria of its own, each with points, as in HealthBench."

    @classmethod
    def is_used(cls, context: Context, person: Person, slug: str) -> bool:
        """Return whether instances have their own criteria."""
        return bool(slug) and has_rubrics(context, person, slug)

    def build(self) -> None:
        self.screen = Screen(screen="rubrics", elem_id="rubrics-screen")
        self.figures = View(elem_id="rubrics-figures")
        with gr.Accordion(
            "Draft with a model", open=False, visible=False, elem_id="rubrics-draft"
        ) as self.box:
            with gr.Row():
                self.model = gr.Textbox(label="Model", max_length=200, elem_id="rubrics-model")
                self.count = gr.Number(8, precision=0, minimum=1, maximum=30, label="Criteria per instance")
                self.way = gr.Radio(
                    [("An instance", "instance"), ("One criterion", "criterion")], value="instance",
                    label="Each question covers", elem_id="rubrics-way",
                )  # fmt: skip
            with gr.Row(elem_classes="actions"):
                write = gr.Button("Write criteria", elem_id="rubrics-write")
                judge = gr.Button("Judge every instance", variant="primary", elem_id="rubrics-judge")
        self.told = View(elem_id="rubrics-told")
        self.outputs = [self.screen, self.figures, self.box, self.told]
        asked = [self.model, self.count, self.way]
        long: dict[str, Any] = {**MODEL, "show_progress": "minimal", "show_progress_on": self.told}
        self.on(write.click, self.on_write, asked, **long)
        self.on(judge.click, self.on_judge, asked, **long)
        self.on(self.screen.submit, self.on_saved, [], [self.figures])

    def load(self, person: Person, slug: str) -> Update:
        if not slug:
            return {self.screen: None, self.figures: None, self.box: gr.Accordion(visible=False)}
        return {
            self.screen: {"task": slug, "person": person.uid, "language": get_spoken().code},
            self.figures: self._figures(person, slug),
            # if there are no criteria yet, the next step is to draft them
            self.box: gr.Accordion(
                visible=person.role is Role.OWNER, open=not has_rubrics(self.context, person, slug)
            ),
            self.told: None,
        }

    def on_saved(self, person: Person, slug: str) -> Update:
        return {self.figures: self._figures(person, need_task(slug))}

    def _figures(self, person: Person, slug: str) -> list[Node] | None:
        """Show the figures to the team, but not to annotators, so that annotators' scores stay independent."""
        if person.role is Role.ANNOTATOR:
            return None
        counts = count_criteria(self.context, person, slug)
        return report_view(get_rubrics_report(self.context, person, slug), counts)

    async def on_write(self, person: Person, slug: str, *asked: Any) -> Update:
        settings = _read_settings(*asked)
        done = await draft_rubrics(self.context, person, need_task(slug), settings)
        tell_done(f"{done.written:,} criteria were written.")
        return self.load(person, slug) | {self.told: el("p.note", str(done))}

    async def on_judge(self, person: Person, slug: str, *asked: Any) -> Update:
        settings = _read_settings(*asked)
        done = await judge_rubrics(self.context, person, need_task(slug), settings)
        tell_done(f"{done.written:,} judgments were made.")
        return self.load(person, slug) | {self.told: el("p.note", str(done))}


def _read_settings(model: str | None, count: float | None, way: str | None) -> RubricsRun:
    name, chosen = (model or "").strip(), way or "instance"
    return RubricsRun(model=name, count=int(count or 8), way=chosen, max_tokens=MAX_TOKENS)


def report_view(report: RubricsReport, counts: dict[str, int]) -> list[Node]:
    """Show the team's figures: overall, for each axis, and both scores of each instance."""
    if not report.n_instances:
        said = (
            "No instance of this task has its own criteria. Import a file with a column “rubrics” or in "
            "HealthBench’s form, or have a model write them below."
        )
        return [el("p.note", said)]
    head = el(
        "p.note",
        f"{counts['with_criteria']:,} of {counts['instances']:,} instances have their own criteria "
        f"({counts['criteria']:,} criteria).",
    )
    scores = [
        [score.name, score.system, _told(score.people), f"{score.n_people}", _told(score.judge)]
        for score in report.scores[:200]
    ]
    return [
        head,
        el("ul", *(el("li", line) for line in tell_report(report))),
        el(
            "details",
            el("summary", "Scores of the instances (not clipped)"),
            table(["Instance", "System", "People", "n", "Judge"], scores),
        ),
    ]


def _told(score: float | None) -> str:
    return "—" if score is None else f"{score:.3f}"


BLIND = later("You judge this instance without a draft.")
FIRST = later("Judge first. You see the draft’s verdicts afterwards.")
UNDRAFTED = later("There are no drafted verdicts for this instance: give your own.")
NOTHING = later("No instance of this task has its own criteria yet.")
LEVELS = {0: later("Not met"), 1: later("Met")}


def add_rubrics_api(app: FastAPI, context: Context) -> None:
    """Add the routes under /api/rubrics to the server."""
    router = APIRouter(prefix="/api/rubrics/{slug}")
    together = Together[JSONResponse](context.store)

    @router.post("/open")
    def open_sheet(request: Request, slug: str, at: Place = None, move: Step = 0) -> Json:
        person = get_person(context, request)
        sheet = get_rubrics_sheet(context, person, slug, at, move)
        return sheet_json(sheet, get_aliases(context, person, slug))

    @router.post("/sheets")
    async def post_sheet(request: Request, slug: str, payload: Sent) -> JSONResponse:
        return await together.save(lambda: _save(context, request, slug, payload))

    @router.get("/history")
    def get_history(request: Request, slug: str, position: Named, before: Named = LARGEST_ID) -> Json:
        person = get_person(context, request)
        criteria, saved = list_rubrics_history(context, person, slug, position, before)
        versions = [_version(criteria, submission) for submission in saved]
        return {"versions": versions, "more": bool(saved) and saved[0].revision > 1}

    app.include_router(router)


def _save(context: Context, request: Request, slug: str, payload: Sent) -> JSONResponse:
    person = get_person(context, request)
    aliases = get_aliases(context, person, slug)
    lines = [
        replace(line, id=aliases.reveal("rubric", line.id)) if line.id else line for line in payload.lines
    ]
    sent = replace(
        payload,
        instance=aliases.reveal("instance", payload.instance),
        run=aliases.reveal("rubrics-run", payload.run) if payload.run else None,
        lines=tuple(lines),
    )

    def show(instance: int | None) -> Json:
        return sheet_json(get_rubrics_sheet(context, person, slug, instance=instance), aliases)

    # a person who judged before seeing the draft gets the same sheet again, with the draft
    return save_and_open(
        context,
        lambda: submit_rubrics_sheet(context, person, slug, sent),
        lambda saved: show(saved.instance if (saved.arm, saved.revision) == (Arm.FIRST, 1) else None),
        lambda: show(sent.instance),
    )


def sheet_json(sheet: Sheet, aliases: Aliases) -> Json:
    """Return a sheet for the browser, with only the draft content that this person may see."""
    instance, saved = sheet.instance, sheet.saved
    lines = {line.criterion: line for line in saved.lines if line.criterion is not None} if saved else {}
    return {
        "task": {
            "slug": sheet.task.slug,
            "input_field": sheet.task.input_field,
            "output_field": sheet.task.output_field,
            "guidelines": sheet.task.guidelines,
            "display": sheet.design.display,
        },
        "limits": LIMITS,
        "reason_required": False,
        "add": {"label": tr("Add a criterion"), "key": "N", "kind": "criterion"},
        "counted": "criterion",
        "confirm": {"label": tr("Save and continue"), "keyed": True},
        "levels": [[step, tr(text)] for step, text in LEVELS.items()],
        "scale": None,
        "draft_score": None,
        "score": None,
        "scores": _scores(sheet),
        "total": sheet.total,
        "done": sheet.done,
        "position": sheet.position or None,
        "empty": tr(NOTHING) if not sheet.total else "",
        "draft": aliases.hide("rubrics-run", sheet.run.id) if sheet.run else None,
        "note": _note(sheet),
        "revision": saved.revision if saved else 0,
        "saved_at": saved.submitted_at if saved else "",
        "instance": {"id": aliases.hide("instance", instance.id), **texts_json(sheet, instance)}
        if instance
        else None,
        "rows": [
            _row(sheet, number, criterion, lines.get(criterion.id), aliases)
            for number, criterion in enumerate(sheet.criteria, 1)
        ],
        "added": [_added(line) for line in (saved.lines if saved else ()) if line.criterion is None],
    }


def _scores(sheet: Sheet) -> Json | None:
    """Return both scores of the instance after the person's own save, but never a hidden draft's score."""
    if sheet.saved is None:
        return None
    judged = [
        (criterion.rubric.points, judgment.value if judgment else None)
        for criterion in sheet.criteria
        for judgment in [sheet.judgments.get(criterion.id)]
    ]
    return {
        "people": own_score(sheet.criteria, sheet.saved),
        "judge": instance_score(judged) if sheet.run else None,
    }


def _note(sheet: Sheet) -> str:
    if sheet.instance is None:
        return ""
    if sheet.awaits_first:
        return tr(FIRST)
    if sheet.arm not in (Arm.ASSISTED, Arm.FIRST):
        return tr(BLIND)
    return "" if sheet.judgments else tr(UNDRAFTED)


def _row(sheet: Sheet, number: int, criterion: Criterion, line: Line | None, aliases: Aliases) -> Json:
    rubric, judged = criterion.rubric, sheet.judgments.get(criterion.id)
    quoted = " ".join(f"“{passage}”" for passage in judged.evidence) if judged else ""
    instance = sheet.instance
    quotes = find_quotes(quoted, instance.output, instance.input) if quoted and instance else ()
    return {
        "id": aliases.hide("rubric", criterion.id),
        "kind": "criterion",
        "label": f"{number} · {told_points(rubric.points)}",
        "text": rubric.text,
        "axis": rubric.axis,
        "points": rubric.points,
        "note": judged.explanation or judged.reason if judged else "",
        "quotes": [quote_json(quote, instance) for quote in quotes],
        "drafted": judged.value if judged else None,
        "action": line.action if line else None,
        "reason": line.reason if line else "",
        "new_text": line.text if line else "",
        "own": {
            "value": line.value if line else None,
            "evidence": line.evidence if line else "",
            "points": line.points if line and line.points is not None else rubric.points,
        },
    }


def _added(line: Line) -> Json:
    return {
        "kind": "criterion",
        "new_text": line.text,
        "reason": line.reason,
        "own": {"value": line.value, "evidence": line.evidence, "points": line.points, "axis": line.axis},
    }


def _version(criteria: list[Criterion], saved: Submission) -> Json:
    texts = {criterion.id: criterion.rubric.text for criterion in criteria}
    return {
        "revision": saved.revision,
        "saved_at": saved.submitted_at,
        "lines": [
            {
                "label": texts.get(line.criterion or 0) or tr("Added criterion"),
                "action": line.action,
                "text": " · ".join(filter(None, [line.text, _spell(line.value), line.evidence])),
                "reason": line.reason,
            }
            for line in saved.lines
        ],
    }


def _spell(value: float | None) -> str:
    return "" if value is None else f"{value:g}"
