"""A study with drafted spans, and a browser page with the Spans tab alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coeval.domain import Instance, Person, Role, Study, Task
from coeval.extensions.spans import annotation, queries
from coeval.extensions.spans.queries import SpanDraft, SpanRun
from coeval.extensions.spans.typology import Span, Typology, load_typology
from coeval.store.queries import people, tasks
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.study_import import import_study

SLUG = "mt"
SOURCE = "The red house is on the hill."
OUTPUT = "Das rote Haus steht auf dem Berg 🙂 und leuchtet."


def find(
    text: str, words: str, severity: str = "major", category: str = "Accuracy/Mistranslation", **more: Any
) -> Span:
    """Return the span of some words of a text."""
    start = text.index(words)
    return Span(start, start + len(words), severity, category, **more)


DRAFT = (
    find(OUTPUT, "rote Haus", "minor", "Style/Awkward"),
    find(OUTPUT, "Berg"),
    find(OUTPUT, "leuchtet", "minor", "Accuracy/Addition"),
)


def make_span_study(
    context: Context,
    *,
    slug: str = SLUG,
    typology: Typology | None = None,
    texts: Sequence[tuple[str, str]] = ((SOURCE, OUTPUT), ("Two.", "Zwei Dinge.")),
    drafts: Sequence[Sequence[Span]] = (DRAFT, ()),
) -> Task:
    """Make a study of pairs of texts, with a run that drafted their spans."""
    instances = tuple(
        Instance(f"s{n}", source, output, f"d{n}", "A") for n, (source, output) in enumerate(texts, 1)
    )
    import_study(
        context, OPERATOR, Study(Task(slug, "Translation", "Translate.", "Source", "Translation"), instances)
    )
    annotation.set_typology(context, OPERATOR, slug, typology or load_typology("wmt"))
    with context.store.write() as db:
        task = tasks.get_task(db, slug)
        run = queries.add_run(db, task.id, SpanRun("gemba", "m", {}, "Olu"))
        known = tasks.get_instance_ids(db, task.id, [one.external_id for one in instances])
        queries.add_drafts(
            db,
            run.id,
            [SpanDraft(known[f"s{n}"], tuple(spans)) for n, spans in enumerate(drafts, 1)],
        )
    return task


def add_annotator(context: Context, name: str) -> Person:
    with context.store.write() as db:
        return people.ensure_person(db, name, Role.ANNOTATOR)
