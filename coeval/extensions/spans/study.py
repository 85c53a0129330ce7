"""Import files of spans into a study, read people's spans, and write files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from coeval.datasets import source_of
from coeval.domain import Arm, Instance, Person, Study, Task
from coeval.errors import InputError
from coeval.extensions.spans import esa_csv, mqm_tsv, queries
from coeval.extensions.spans.annotation import set_typology
from coeval.extensions.spans.annotations import MODEL, Annotation, Collection, Further, SpanFormat, collect
from coeval.extensions.spans.queries import SpanDraft, SpanRun, SpanSubmission
from coeval.extensions.spans.rows import arrange, match_spans
from coeval.extensions.spans.typology import Typology, load_typology
from coeval.store import Database
from coeval.store.engines.database import chunks
from coeval.store.queries import people, tasks
from coeval.usecases.access import OWNERS, TEAM, Context, require_task, use_case
from coeval.usecases.import_staging import item_form, person_form
from coeval.usecases.study_import import USUAL, import_checked

PORTION = 500
"""The number of saves in one transaction; people can save between transactions."""

Key = tuple[str, int]
"""A system and the number of a segment."""


@dataclass(frozen=True, slots=True)
class SpanImport:
    """The result of an import of spans; ``unchanged`` counts saves and drafts that already existed."""

    instances: int
    drafts: int
    saves: int
    unchanged: int
    without_text: int
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        counts = f"{self.instances:,} instances, {self.drafts:,} drafts, {self.saves:,} saves"
        if self.unchanged:
            counts += f"; {self.unchanged:,} already existed"
        if self.without_text:
            counts += f"; {self.without_text:,} segments without a text were left out"
        return counts


@use_case(OWNERS)
def import_spans(
    context: Context,
    person: Person,
    slug: str,
    collection: Collection,
    typology: Typology,
    *,
    label: str = "imported spans",
) -> SpanImport:
    """Import annotations into a task, which is created if needed; importing the same file again adds nothing.

    Annotations of the annotator ``model`` become the drafts of a run with this label.

    Raises:
        InputError: the task uses another typology, or a span is not in its text.
    """
    with context.store.read() as db:
        task = tasks.get_task(db, slug) or Task(slug, slug, "", "Source", "Target")
    annotations = [
        replace(each, annotator=person_form(each.annotator), system=item_form(each.system))
        for each in collection.annotations
    ]
    texts = _gather_texts(annotations)
    usable = [annotation for annotation in annotations if annotation.key in texts]
    if not usable:
        raise InputError("No annotation has a text: give the file with the items (--items).")
    names = {key: item_form(f"{key[0]}:{key[1] + 1}") for key in texts}
    instances = tuple(
        Instance(names[key], text.source, text.output, text.document, key[0]) for key, text in texts.items()
    )
    imported = import_checked(context, person, source_of(Study(task, instances)), USUAL)
    set_typology(context, person, slug, typology)
    drafted = [annotation for annotation in usable if annotation.annotator == MODEL]
    drafts, n_drafts = _write_drafts(context, person, slug, label, drafted, names)
    saves, unchanged = 0, 0
    for portion in chunks([annotation for annotation in usable if annotation.annotator != MODEL], PORTION):
        with context.store.write() as db:
            task = require_task(db, slug)
            for annotation in portion:
                text = texts[annotation.key]
                added = _write_save(db, task, annotation, names[annotation.key], drafts, text)
                saves += added
                unchanged += not added
    without_text = len({annotation.key for annotation in annotations} - texts.keys())
    return SpanImport(imported.instances, n_drafts, saves, unchanged, without_text, collection.notes)


def _gather_texts(annotations: Iterable[Annotation]) -> dict[Key, Annotation]:
    """Return, for each segment, an annotation that contains the texts.

    Raises:
        InputError: two annotations of a segment have different texts.
    """
    texts: dict[Key, Annotation] = {}
    for annotation in annotations:
        system, segment = annotation.key
        if annotation.output and texts.setdefault(annotation.key, annotation).output != annotation.output:
            raise InputError(
                f"System “{system[:60]}”, segment {segment + 1:,}: two annotations have different texts."
            )
    return texts


def _write_drafts(
    context: Context,
    person: Person,
    slug: str,
    label: str,
    drafted: Sequence[Annotation],
    names: Mapping[Key, str],
) -> tuple[dict[int, SpanDraft], int]:
    """Store the drafts that the run lacks; return all drafts by instance, and the number of new ones."""
    if not drafted:
        return {}, 0
    with context.store.write() as db:
        task = require_task(db, slug)
        run = queries.get_run(db, task.id, label)
        run = run or queries.add_run(db, task.id, SpanRun(label, MODEL, {"imported": True}, person.name))
        ids = tasks.get_instance_ids(db, task.id, list(names.values()))
        stored = {draft.instance for draft in queries.list_drafts(db, run.id)}
        spans = {ids[names[annotation.key]]: annotation.spans for annotation in drafted}
        new = [SpanDraft(number, tuple(arrange(spans[number]))) for number in spans if number not in stored]
        queries.add_drafts(db, run.id, new)
        return {draft.instance: draft for draft in queries.list_drafts(db, run.id)}, len(new)


def _write_save(
    db: Database,
    task: Task,
    annotation: Annotation,
    name: str,
    drafts: Mapping[int, SpanDraft],
    text: Annotation,
) -> bool:
    """Store one person's spans, compared with the draft; return False if they are already stored."""
    uid = f"import-spans {task.id} {name} {annotation.annotator} {annotation.saved_at}"[:200]
    if queries.get_by_uid(db, uid) is not None:
        return False
    for span in annotation.spans:
        if span.placed and not 0 <= span.edges[0] < span.edges[1] <= len(text.text(span.side)):
            raise InputError(
                f"{name}, by {annotation.annotator}: the span at {span.edges} is not in the text."
            )
    annotator = people.ensure_person(db, annotation.annotator)
    instance = tasks.get_instance_ids(db, task.id, [name])[name]
    assisted = annotation.arm == "assisted"
    draft = drafts.get(instance) if assisted else None
    last = queries.get_submission(db, annotator.id, instance)
    queries.record_submission(
        db,
        SpanSubmission(
            uid=uid,
            annotator=annotator.id,
            instance=instance,
            draft=draft.id if draft else None,
            arm=Arm.ASSISTED if assisted else Arm.BLIND,
            revision=last.revision + 1 if last else 1,
            rows=tuple(match_spans(draft.spans if draft else (), annotation.spans)),
            score=annotation.score,
            submitted_at=annotation.saved_at,
        ),
    )
    return True


@use_case(TEAM)
def read_study(context: Context, person: Person, slug: str) -> tuple[Collection, Collection, Typology]:
    """Return people's spans in a task, the newest run's drafts, and the typology.

    Segments are numbered by document and input, so that the outputs of several systems share a number.

    Raises:
        InputError: people do not mark spans in the task.
    """
    with context.store.read() as db:
        task = require_task(db, slug)
        typology = queries.get_typology(db, task.id)
        if typology is None:
            raise InputError(f"“{slug}” has no spans to mark: choose a typology first (spans set-up).")
        instances = {instance.id: instance for instance in tasks.list_instances(db, task.id)}
        saves = list(queries.list_submissions(db, task.id))
        run = queries.get_run(db, task.id)
        drafts = list(queries.list_drafts(db, run.id)) if run else []
    segments = _number(instances.values())

    def describe(number: int, annotator: str) -> Annotation:
        instance = instances[number]
        return Annotation(
            system=instance.system or "output", segment=segments[number], annotator=annotator,
            document=instance.document, source=instance.input, output=instance.output, name=instance.external_id,
        )  # fmt: skip

    marked = [_with_save(describe(save.instance, annotator), save) for annotator, save in saves]
    label = run.label if run else MODEL
    drafted = [
        replace(describe(draft.instance, label), spans=draft.spans, unscored=draft.reason) for draft in drafts
    ]
    return collect(marked), collect(drafted), typology


def _number(instances: Iterable[Instance]) -> dict[int, int]:
    """Return the segment of each instance, from an imported name or else from its document and input."""
    listed = list(instances)
    named: dict[int, int] = {}
    for instance in listed:
        system, _, number = instance.external_id.rpartition(":")
        if system == instance.system and number.isdecimal() and number.isascii():
            named[instance.id] = int(number) - 1
    if len(named) == len(listed):
        return named
    order: dict[Any, int] = {}
    seen: dict[tuple[Any, str], int] = {}
    numbers = {}
    for instance in listed:
        key: Any = (instance.document, instance.input)
        repeat = seen[key, instance.system] = seen.get((key, instance.system), -1) + 1
        numbers[instance.id] = order.setdefault((key, repeat), len(order))
    return numbers


def _with_save(annotation: Annotation, save: SpanSubmission) -> Annotation:
    return replace(
        annotation,
        spans=save.spans,
        score=save.score,
        arm=str(save.arm),
        draft=None if save.draft is None else tuple(row.was for row in save.rows if row.was is not None),
        seconds=None if save.active_ms is None else save.active_ms / 1000,
        saved_at=save.submitted_at,
    )


# Files of spans: the formats by name, and several files as one collection.


FORMATS = {"mqm-tsv": mqm_tsv.FORMAT, "esa-csv": esa_csv.FORMAT}
ENDINGS = {".tsv": "mqm-tsv", ".csv": "esa-csv"}
TYPOLOGIES = {"mqm-tsv": "wmt", "esa-csv": "esa"}


def get_format(name: str) -> SpanFormat:
    """Return the format with that name.

    Raises:
        InputError: there is none.
    """
    if name not in FORMATS:
        raise InputError(f"“{name[:60]}” is not a format for spans: use {', '.join(FORMATS)}.")
    return FORMATS[name]


def read_files(
    paths: Sequence[Path], further: Further, *, format: str = "", typology: str = ""
) -> tuple[Collection, Typology]:
    """Return the annotations in files of one format, and their typology.

    The default format comes from the extension of the first file. An annotator in several files counts as a different
    person in each, because each file is a separate campaign.

    Raises:
        InputError: a file cannot be read, or its format is unknown.
    """
    name = format or ENDINGS.get(Path(paths[0].name.removesuffix(".gz")).suffix, "")
    if not name:
        raise InputError(f"The format of {paths[0].name} is not clear from its name: give it with --format.")
    chosen = get_format(name)
    kind = load_typology(typology or TYPOLOGIES[name])
    collections = [chosen.read(path, kind, further) for path in paths]
    if len(collections) == 1:
        return collections[0], kind
    annotations = (
        replace(annotation, annotator=f"{path.stem} {annotation.annotator}")
        for path, collection in zip(paths, collections, strict=True)
        for annotation in collection.annotations
    )
    return collect(annotations, dict.fromkeys(note for each in collections for note in each.notes)), kind
