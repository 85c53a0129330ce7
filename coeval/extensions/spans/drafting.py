"""Have a model draft spans, with one question per instance (after GEMBA-MQM, Kocmi and Federmann 2023).

Every question goes through the ledger, so that no call is paid for twice. The model's quotations are located in the
texts. A quotation in neither text becomes a span without a place, with a note for people. An unreadable answer leaves
the instance unscored, with the reason and the raw text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coeval.domain import Answer, Ask, Instance, Person, QuotePlace, Request, Task
from coeval.errors import InputError, UnreadableAnswerError
from coeval.extensions.spans import queries
from coeval.extensions.spans.queries import SpanDraft, SpanRun
from coeval.extensions.spans.rows import MAX_SPANS
from coeval.extensions.spans.typology import Category, Side, Span, Typology
from coeval.folded_text import clean_text
from coeval.llm.prompting.questions import MAX_QUOTE, build_list, build_object, build_text
from coeval.llm.prompting.template_files import Template, load_template
from coeval.llm.protocols.ladder import ask_until_read
from coeval.llm.reading.answer_text import find_json, strip_thoughts
from coeval.llm.reading.quotes import find_quotes
from coeval.llm.running.progress import Progress
from coeval.store import Database
from coeval.store.queries import tasks
from coeval.usecases.access import OWNERS, Context, require_task, use_case
from coeval.usecases.drafting.item_runs import ItemReport, ItemSettings, run_items
from coeval.usecases.drafting.model_requests import ask_further

TEMPLATE = "spans-mqm"
FOLDER = Path(__file__).parent
NOTHING = ("no-error", "no error", "none")
FORM = '{"errors": [{"span": "...", "severity": "...", "category": "..."}]}'
MOST_DRAFTED = 25
"""Largest number of errors that the form allows in one answer."""


@dataclass(frozen=True, slots=True)
class SpanSettings(ItemSettings):
    """The settings of a run of drafts. The same label with the same settings continues the run."""

    templates: str = ""
    """A folder with a copy of the template."""


def build_request(task: Task, instance: Instance, typology: Typology, settings: SpanSettings) -> Request:
    """Return the question for the spans of one instance.

    Raises:
        InputError: the template cannot be used.
    """
    template = _load_template(settings)
    values = {
        "description": task.description or "Find the errors of the output.",
        "input_field": task.input_field,
        "output_field": task.output_field,
        "source": _fence(instance.input),
        "output": _fence(instance.output),
        "severities": "\n".join(f"- {name}" for name in _offered(typology)),
        "categories": "\n".join(map(_category_line, typology.categories)) or '- (leave "category" empty)',
    }
    return settings.build_request(template.render(values), _schema(typology))


def _offered(typology: Typology) -> list[str]:
    return [severity.name for severity in typology.severities if severity.offered]


def _schema(typology: Typology) -> dict[str, object]:
    entry = {"span": build_text(MAX_QUOTE), "severity": {"type": "string", "enum": _offered(typology)}}
    categories = [category.name for category in typology.categories] or [""]
    error = build_object(entry | {"category": {"type": "string", "enum": categories}})
    return build_object({"errors": build_list(error, MOST_DRAFTED)})


def _load_template(settings: SpanSettings) -> Template:
    folder = Path(settings.templates) if settings.templates else FOLDER
    return load_template(TEMPLATE, folder if (folder / f"{TEMPLATE}.md").is_file() else FOLDER)


def _fence(text: str) -> str:
    """Escape a text so that it cannot close the data block around it."""
    return text.replace("```", "``\u200b`")


def _category_line(category: Category) -> str:
    title = f" ({category.title})" if category.title and category.title != category.name else ""
    return f"- {category.name}{title}" + (" (words of the input)" if category.side is Side.INPUT else "")


def read_spans(answer: str, typology: Typology, source: str, output: str) -> tuple[Span, ...]:
    """Parse the spans in an answer, which is JSON in the template's form, and locate them in the texts.

    Raises:
        UnreadableAnswerError: it has another form, or an unknown severity or category.
    """
    text = strip_thoughts(clean_text(answer)).strip()
    if not text:
        raise UnreadableAnswerError("it contains no answer")
    entries = _read_json(text)
    if entries is None:
        raise UnreadableAnswerError("it has no complete list of errors")
    if len(entries) > MAX_SPANS:
        raise UnreadableAnswerError(f"it has {len(entries):,} errors, and the limit is {MAX_SPANS}")
    spans: list[Span] = []
    for entry in entries:
        span = _read_entry(entry, typology, source, output, spans)
        if span is not None and span not in spans:
            spans.append(span)
    return tuple(spans)


def _read_json(text: str) -> list[Any] | None:
    """Return the last complete list of errors. A part of a list that is cut off is no list."""
    for part in reversed(find_json(text)):
        if isinstance(part.value, dict) and isinstance(part.value.get("errors"), list) and not part.inside:
            return list(part.value["errors"])
    return None


def _read_entry(
    entry: Any, typology: Typology, source: str, output: str, earlier: Sequence[Span]
) -> Span | None:
    if not isinstance(entry, Mapping):
        raise UnreadableAnswerError("one of its errors is not an object")
    if str(entry.get("category", "")).casefold().strip() in NOTHING:
        return None
    severity = _match(entry.get("severity"), _offered(typology), "severity")
    names = [category.name for category in typology.categories]
    category = _match(entry.get("category"), names, "category") if names else ""
    words = entry.get("span", entry.get("error_span", entry.get("text")))
    if words is not None and not isinstance(words, str):
        raise UnreadableAnswerError(f"one of its spans is {str(words)[:40]}, which is not a text")
    quoted = (words or "").strip()
    if not quoted:
        return Span(None, None, severity, category)
    side = next((usual.side for usual in typology.categories if usual.name == category), Side.OUTPUT)
    place = _find(quoted, source, output, side, earlier)
    if place is None:
        note = f"The words “{quoted[:300]}” are in neither text."
        return Span(None, None, severity, category, note=note)
    return Span(place[1], place[2], severity, category, place[0])


def _match(value: Any, names: Sequence[str], what: str) -> str:
    """Return the name that an answer means by its full form or its last part ("mistranslation").

    Raises:
        UnreadableAnswerError: there is no such name, or more than one.
    """
    said = " ".join(str(value or "").replace("_", " ").casefold().split())
    exact = [name for name in names if name.casefold() == said]
    part = said.rpartition("/")[2].strip()
    close = exact or [name for name in names if part and name.casefold().rpartition("/")[2] == part]
    close = close or [
        name for name in names if part and name.casefold().rpartition("/")[2].strip("!") == part
    ]
    if len(close) != 1:
        raise UnreadableAnswerError(f"it has the {what} “{str(value)[:60]}”, which is not in the list")
    return close[0]


def _find(
    words: str, source: str, output: str, side: Side, earlier: Sequence[Span]
) -> tuple[Side, int, int] | None:
    """Locate words, preferably in the text that is usual for the category; skip places that are already used."""
    texts = {Side.OUTPUT: output, Side.INPUT: source}
    order = (side, Side.INPUT if side is Side.OUTPUT else Side.OUTPUT)
    for here in order:
        text = texts[here]
        taken = {span.edges for span in earlier if span.side is here and span.placed}
        places = [(match.start(), match.end()) for match in re.finditer(re.escape(words), text)]
        places.sort(key=lambda place: (place in taken, _cuts(text, *place), place[0]))
        if places:
            return here, *places[0]
    marked = words.replace("“", '"').replace("”", '"')
    for quote in find_quotes(f"“{marked}”", output, source)[:1]:
        if quote.start is not None and quote.end is not None and quote.start < quote.end:
            there = Side.INPUT if quote.place is QuotePlace.INPUT else Side.OUTPUT
            return there, quote.start, quote.end
    return None


def _cuts(text: str, start: int, end: int) -> bool:
    """Return whether a place begins or ends in the middle of a word."""
    before = start > 0 and text[start - 1].isalnum() and text[start].isalnum()
    return before or (end < len(text) and text[end - 1].isalnum() and text[end].isalnum())


@use_case(OWNERS)
async def draft_spans(
    context: Context,
    person: Person,
    slug: str,
    settings: SpanSettings,
    on_progress: Callable[[Progress], None] | None = None,
) -> ItemReport:
    """Have a model draft the spans of every instance that has no draft in the run.

    Raises:
        InputError: people do not mark spans in the task, or another run has the label.
        ModelError: no model is set up.
    """
    settings = settings.complete(context, ", spans")
    task, typology, run = _begin(context, person, slug, settings)
    with context.store.read() as db:
        undrafted = set(queries.list_undrafted(db, task.id, run.id, again=settings.retry_unscored))
        instances = [instance for instance in tasks.list_instances(db, task.id) if instance.id in undrafted]
        attempts = queries.count_attempts(db, run.id)

    async def ask_item(ask: Ask, instance: Instance) -> Sequence[SpanDraft]:
        further = ask_further(ask, attempts.get(instance.id, 0) + 1)
        request = build_request(task, instance, typology, settings)
        return [await ask_spans(further, request, instance, typology)]

    def keep(db: Database, drafts: Sequence[SpanDraft]) -> int:
        queries.add_drafts(db, run.id, drafts)
        return sum(len(draft.spans) for draft in drafts)

    return await run_items(context, settings, instances, ask_item, keep, on_progress)


async def ask_spans(ask: Ask, request: Request, instance: Instance, typology: Typology) -> SpanDraft:
    """Return the draft of one instance. An answer that is not in the form is asked for once more."""
    reply = await ask_until_read(ask, request, 0, lambda answer: _read(answer, instance, typology), FORM)
    return SpanDraft(instance.id, reply.value, reply.reason, reply.raw, rung=reply.rung)


def _read(answer: Answer, instance: Instance, typology: Typology) -> tuple[tuple[Span, ...], str]:
    """Return the spans in an answer, or none and the reason if it has no complete list."""
    try:
        return read_spans(answer.text, typology, instance.input, instance.output), ""
    except UnreadableAnswerError as error:
        return (), str(error)


def _begin(
    context: Context, person: Person, slug: str, settings: SpanSettings
) -> tuple[Task, Typology, SpanRun]:
    """Return the task, its typology and the run; create the run if its label is new."""
    with context.store.write() as db:
        task = require_task(db, slug)
        typology = queries.get_typology(db, task.id)
        if typology is None:
            raise InputError(f"“{slug}” has no spans to mark: choose a typology first (spans set-up).")
        stored = {
            "template": _load_template(settings).hash,
            "temperature": settings.temperature,
            "max_tokens": settings.max_tokens,
            "typology": typology.to_json(),
        }
        run = queries.get_run(db, task.id, settings.label)
        run = run or queries.add_run(
            db, task.id, SpanRun(settings.label, settings.model, stored, person.name)
        )
    if (run.model, run.settings) != (settings.model, stored):
        raise InputError(
            f"The run “{run.label}” has another model, template or typology: choose another label (--label)."
        )
    return task, typology, run
