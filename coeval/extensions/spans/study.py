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
from coeval.extensions.spans.annotations import MODEL, Annotation, Collection, collect
from coeval.extensions.spans.queries import SpanDraft, SpanRun, SpanSubmission
from coeval.extensions.spans.reading import Further, SpanFormat
from coeval.extensions.spans.rows import arrange, match_spans
from coeval.extensions.spans.typology import Span, Typology, load_typology
from coeval.store import Database
from coeval.store.engines.database import chunks
from coeval.store.queries import people, tasks
from coeval.usecases.access import OWNERS, TEAM, Context, require_task, use_case
from coeval.usecases.import_staging import item_form, person_form
from coeval.usecases.study_import import USUAL, import_checked

PORTION = 500
"""The number of saves in one transaction; people can save between transactions."""


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
        said = f"{self.instances:,} instances, {self.drafts:,} drafts, {self.saves:,} saves"
        more = [
            f"{self.unchanged:,} already existed" if self.unchanged else "",
            f"{self.without_text:,} segments without a text were left out" if self.without_text else "",
        ]
        return "; ".join(filter(None, [said, *more]))


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
        known = tasks.get_task(db, slug)
    clean = [
        replace(one, annotator=person_form(one.annotator), system=item_form(one.system))
        for one in collection.annotations
    ]
    texts = _gather_texts(clean)
    usable = [one for one in clean if one.key in texts]
    if not usable:
        raise InputError("No annotation has a text: give the file with the items (--items).")
    names = {key: item_form(f"{key[0]}:{key[1] + 1}") for key in texts}
    instances = tuple(
        Instance(names[key], text.source, text.output, text.document, key[0]) for key, text in texts.items()
    )
    task = known or Task(slug, slug, "", "Source", "Target")
    done = import_checked(context, person, source_of(Study(task, instances)), USUAL)
    set_typology(context, person, slug, typology)
    drafted = {one.key: tuple(arrange(one.spans)) for one in usable if one.annotator == MODEL}
    run, drafts = _write_drafts(context, person, slug, label, drafted, names)
    saves, unchanged = 0, 0
    for portion in chunks([one for one in usable if one.annotator != MODEL], PORTION):
        with context.store.write() as db:
            for one in portion:
                added = _write_save(db, require_task(db, slug), one, names[one.key], run, texts[one.key])
                saves += added
                unchanged += not added
    without = len({one.key for one in clean} - texts.keys())
    return SpanImport(done.instances, drafts, saves, unchanged, without, collection.notes)


def _gather_texts(annotations: Iterable[Annotation]) -> dict[tuple[str, int], Annotation]:
    """Return, for each segment, an annotation that contains the texts.

    Raises:
        InputError: two annotations of a segment have different texts.
    """
    texts: dict[tuple[str, int], Annotation] = {}
    for one in annotations:
        if not one.output:
            continue
        known = texts.setdefault(one.key, one)
        if known.output != one.output:
            raise InputError(
                f"System “{one.key[0][:60]}”, segment {one.key[1] + 1:,}: two annotations have different "
                "texts."
            )
    return texts


def _write_drafts(
    context: Context,
    person: Person,
    slug: str,
    label: str,
    drafted: Mapping[tuple[str, int], tuple[Span, ...]],
    names: Mapping[tuple[str, int], str],
) -> tuple[dict[int, SpanDraft], int]:
    """Store the drafts that the run lacks; return all drafts by instance, and the number of new ones."""
    if not drafted:
        return {}, 0
    with context.store.write() as db:
        task = require_task(db, slug)
        run = queries.get_run(db, task.id, label)
        run = run or queries.add_run(db, task.id, SpanRun(label, MODEL, {"imported": True}, person.name))
        ids = tasks.get_instance_ids(db, task.id, list(names.values()))
        before = {one.instance for one in queries.list_drafts(db, run.id)}
        new = [
            SpanDraft(ids[names[key]], spans)
            for key, spans in drafted.items()
            if key in names and ids[names[key]] not in before
        ]
        queries.add_drafts(db, run.id, new)
        return {one.instance: one for one in queries.list_drafts(db, run.id)}, len(new)


def _write_save(
    db: Database, task: Task, one: Annotation, name: str, drafts: Mapping[int, SpanDraft], text: Annotation
) -> bool:
    """Store one person's spans, compared with the draft; return False if they are already stored."""
    uid = f"import-spans {task.id} {name} {one.annotator} {one.saved_at}"[:200]
    if queries.get_by_uid(db, uid) is not None:
        return False
    for span in one.spans:
        if span.placed and not 0 <= span.edges[0] < span.edges[1] <= len(text.text(span.side)):
            raise InputError(f"{name}, by {one.annotator}: the span at {span.edges} is not in the text.")
    who = people.ensure_person(db, one.annotator)
    instance = tasks.get_instance_ids(db, task.id, [name])[name]
    assisted = one.arm == "assisted"
    draft = drafts.get(instance) if assisted else None
    last = queries.get_submission(db, who.id, instance)
    queries.record_submission(
        db,
        SpanSubmission(
            uid=uid,
            annotator=who.id,
            instance=instance,
            draft=draft.id if draft else None,
            arm=Arm.ASSISTED if assisted else Arm.BLIND,
            revision=last.revision + 1 if last else 1,
            rows=tuple(match_spans(draft.spans if draft else (), one.spans)),
            score=one.score,
            submitted_at=one.saved_at,
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
        instances = {one.id: one for one in tasks.list_instances(db, task.id)}
        saves = list(queries.list_submissions(db, task.id))
        run = queries.get_run(db, task.id)
        drafts = list(queries.list_drafts(db, run.id)) if run else []
    segments = _number(instances.values())
    marked = [_build(instances[one.instance], segments, name, one) for name, one in saves]
    drafted = [
        replace(
            _describe(instances[one.instance], segments, run.label if run else MODEL),
            spans=one.spans,
            unscored=one.reason,
        )
        for one in drafts
    ]
    return collect(marked), collect(drafted), typology


def _number(instances: Iterable[Instance]) -> dict[int, int]:
    """Return the segment of each instance, from an imported name or else from its document and input."""
    listed = list(instances)
    named: dict[int, int] = {}
    for one in listed:
        system, _, number = one.external_id.rpartition(":")
        if system == one.system and number.isdecimal() and number.isascii():
            named[one.id] = int(number) - 1
    if len(named) == len(listed):
        return named
    order: dict[Any, int] = {}
    seen: dict[tuple[Any, str], int] = {}
    numbers = {}
    for one in listed:
        key: Any = (one.document, one.input)
        again = seen[key, one.system] = seen.get((key, one.system), -1) + 1
        numbers[one.id] = order.setdefault((key, again), len(order))
    return numbers


def _describe(instance: Instance, segments: Mapping[int, int], annotator: str) -> Annotation:
    return Annotation(
        system=instance.system or "output", segment=segments[instance.id], annotator=annotator,
        document=instance.document, source=instance.input, output=instance.output, name=instance.external_id,
    )  # fmt: skip


def _build(instance: Instance, segments: Mapping[int, int], name: str, one: SpanSubmission) -> Annotation:
    stay = [row for row in one.rows if row.stays]
    shown = tuple(row.was for row in one.rows if row.was is not None)
    return replace(
        _describe(instance, segments, name),
        spans=tuple(row.span for row in stay),
        score=one.score,
        arm=str(one.arm),
        draft=shown if one.draft is not None else None,
        seconds=None if one.active_ms is None else one.active_ms / 1000,
        saved_at=one.submitted_at,
    )


# Files of spans: the formats by name, and several files as one collection.


FORMATS = (mqm_tsv.FORMAT, esa_csv.FORMAT)
ENDINGS = {".tsv": "mqm-tsv", ".csv": "esa-csv"}
TYPOLOGIES = {"mqm-tsv": "wmt", "esa-csv": "esa"}


def get_format(name: str) -> SpanFormat:
    """Return the format with that name.

    Raises:
        InputError: there is none.
    """
    for one in FORMATS:
        if one.name == name:
            return one
    raise InputError(
        f"“{name[:60]}” is not a format for spans: use {', '.join(one.name for one in FORMATS)}."
    )


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
    kind = load_typology(typology or TYPOLOGIES.get(name, "mqm"))
    found = [chosen.read(path, kind, further) for path in paths]
    if len(found) == 1:
        return found[0], kind
    annotations = (
        replace(one, annotator=f"{path.stem} {one.annotator}")
        for path, each in zip(paths, found, strict=True)
        for one in each.annotations
    )
    return collect(annotations, dict.fromkeys(note for each in found for note in each.notes)), kind


def write_file(collection: Collection, typology: Typology, format: str) -> str:
    """Render annotations as a file in that format.

    Raises:
        InputError: there is no such format.
    """
    return get_format(format).write(collection, typology)
