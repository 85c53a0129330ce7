"""Combine another tool's files into a study: answers, people's judgments, judges' scores."""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from coeval.datasets.file_format import Format
from coeval.datasets.rating_rows import MAX_STEPS
from coeval.datasets.source import Source, source_of
from coeval.datasets.tables.instances import MAX_NAME, name_document
from coeval.datasets.tables.table import MAX_COLUMNS
from coeval.datasets.text import check_text, shorten
from coeval.domain import (
    Action,
    Arm,
    Criterion,
    EvaluationRow,
    ImportedDraft,
    ImportedRun,
    ImportedSubmission,
    Instance,
    Origin,
    RowKind,
    Run,
    Scale,
    ScrutinyRow,
    Study,
    Task,
)
from coeval.domain.people import MAX_PERSON_NAME
from coeval.errors import InputError

# Other tools' judgments of an instance in the terms of a study.

MAX_OPTIONS = 30
"""The largest number of options that become criteria. Choices with more options get no scores."""

_YES_NO = {"yes": 1.0, "true": 1.0, "pass": 1.0, "correct": 1.0,
           "no": 0.0, "false": 0.0, "fail": 0.0, "incorrect": 0.0}  # fmt: skip
_ENDS = (1, 5, 10, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgment:
    """One judgment on one criterion: a score, labels chosen from a list, or neither.

    ``by`` is the person's name or the judge's label. ``marks`` are the marked passages, each with its label, which is
    empty if the passage belongs to the whole judgment.
    """

    instance: str
    criterion: str
    by: str
    person: bool = False
    score: float | None = None
    labels: tuple[str, ...] | None = None
    comment: str = ""
    marks: tuple[tuple[str, str], ...] = ()
    reason: str = ""
    """The reason that there is no score."""
    shown: str = ""
    """The label of the judge whose score was displayed."""
    opened_at: str = ""
    saved_at: str = ""
    active_ms: int | None = None


def spread_labels(judgments: Iterable[Judgment]) -> Iterator[Judgment]:
    """Yield the judgments with scores instead of labels.

    Numbers are scores; yes and no are 1 and 0. For other choices, each option that somebody chose becomes a criterion,
    scored 1 if chosen and 0 if not. Several options can thus be chosen at once.
    """
    given = list(judgments)
    options: dict[str, dict[str, None]] = defaultdict(dict)
    for judgment in given:
        options[judgment.criterion].update(dict.fromkeys(judgment.labels or ()))
    for judgment in given:
        if judgment.labels is None:
            yield judgment
        else:
            yield from _spread(judgment, judgment.labels, list(options[judgment.criterion]))


def _spread(judgment: Judgment, labels: tuple[str, ...], options: Sequence[str]) -> Iterator[Judgment]:
    numbers = [read_number(option) for option in options]
    if len(labels) <= 1 and None not in numbers:
        yield replace(judgment, labels=None, score=read_number(labels[0]) if labels else None)
    elif len(labels) <= 1 and all(option.strip().casefold() in _YES_NO for option in options):
        word = labels[0].strip().casefold() if labels else ""
        yield replace(judgment, labels=None, score=_YES_NO.get(word))
    elif len(options) > MAX_OPTIONS:
        told = "\n".join(filter(None, (", ".join(labels), judgment.comment)))
        reason = f"a choice of more than {MAX_OPTIONS} options is no score"
        yield replace(judgment, labels=None, comment=told, reason=reason)
    else:
        for option in options:
            yield replace(
                judgment,
                labels=None,
                criterion=f"{judgment.criterion}: {option}",
                score=float(option in labels),
                marks=tuple(("", passage) for label, passage in judgment.marks if label == option),
                comment=judgment.comment if option in labels else "",
            )


def read_number(text: str) -> float | None:
    """Return a label's number, which may be followed by a hyphen, a colon or a bracket.

    >>> read_number("4"), read_number("4 - good"), read_number("4x"), read_number("1e999")
    (4.0, 4.0, None, None)
    """
    head = text.strip()
    for mark in (" - ", " – ", ":", "("):
        head = head.partition(mark)[0]
    try:
        number = float(head) if head.isascii() and "_" not in head else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def infer_scale(scores: Sequence[float]) -> Scale | None:
    """Return the first usual scale that contains the scores (0-1, 1-5, 0-5, 1-10, ...), or None.

    >>> infer_scale([0.2, 1]), infer_scale([2, 4]), infer_scale([0, 7]), infer_scale([350])
    (Scale(low=0, high=1), Scale(low=1, high=5), Scale(low=0, high=10), None)
    """
    if not scores:
        return Scale()
    low, high = math.floor(min(scores)), math.ceil(max(scores))
    if low >= 0:
        end = next((end for end in _ENDS if high <= end), high)
        return Scale(0 if low < 1 or end == 1 else 1, end) if end < MAX_STEPS else None
    return Scale(low, max(high, -low)) if max(high, -low) - low < MAX_STEPS else None


NOBODY = "unnamed annotator"
MAX_CRITERIA = 200
MAX_TASK_STEPS = 11


@dataclass(slots=True)
class Gathering:
    """A study under construction. A reader adds data, and ``build`` returns the study."""

    slug: str
    tool: str
    """The name of the tool that wrote the files, for the runs' parameters."""
    fields: tuple[str, str] = ("Input", "Output")
    description: str = ""
    instances: dict[str, Instance] = field(default_factory=dict)
    judgments: list[Judgment] = field(default_factory=list)
    scales: dict[str, Scale] = field(default_factory=dict)
    """The scales stated in the files, by criterion."""
    left: Counter[str] = field(default_factory=Counter)
    """Notes on data that was left out or repaired, with counts."""

    def add_instance(self, instance: Instance, place: str) -> bool:
        """Add an answer, and return whether it has a text. Answers without a text are left out.

        Raises InputError for a text that cannot be stored, or a name that already has another text.
        """
        if not instance.output.strip():
            self.left["Answers without a text, left out"] += 1
            return False
        for text in (instance.input, instance.output, instance.reference, *instance.context.values()):
            check_text(text, place)
        for name in (instance.external_id, instance.document, instance.system):
            if len(name) > MAX_NAME:
                raise InputError(
                    f"{place}: has a name of {len(name):,} characters; shorten it to {MAX_NAME:,}."
                )
        if len(instance.context) > MAX_COLUMNS:
            raise InputError(
                f"{place}: has {len(instance.context)} further fields, and the limit is {MAX_COLUMNS}."
            )
        known = self.instances.setdefault(instance.external_id, instance)
        if (known.input, known.output) != (instance.input, instance.output):
            raise InputError(
                f"{place}: uses the id '{shorten(instance.external_id)}' for a different text than an "
                "earlier entry; give each answer its own id."
            )
        return True

    def add(self, judgment: Judgment, place: str) -> None:
        """Add a judgment; raise InputError for a name or a text that cannot be stored."""
        if not judgment.criterion.strip():
            raise InputError(f"{place}: a score has no name; name the criterion.")
        if judgment.person and len(judgment.by) > MAX_PERSON_NAME:
            raise InputError(
                f"{place}: the name of the person '{shorten(judgment.by)}' has {len(judgment.by):,} "
                f"characters; shorten it to {MAX_PERSON_NAME}."
            )
        for text in (judgment.criterion, judgment.comment, *(passage for _, passage in judgment.marks)):
            check_text(text, place)
        self.judgments.append(judgment)

    def build(self) -> Study:
        """Return the study; raise InputError if the files contain neither texts nor judgments."""
        if not self.instances and not self.judgments:
            raise InputError(
                f"The {self.tool} file contains no answer and no score; export the judged answers and "
                "import that file."
            )
        judgments = list(
            spread_labels(dict.fromkeys(self.judgments))
        )  # content that appears in two files counts once
        scales, notes = self._choose_scales(judgments)
        kept = [judgment for judgment in judgments if judgment.criterion in scales]
        runs = _Runs(self.tool)
        submissions: list[ImportedSubmission] = []
        for judgment in sorted(kept, key=lambda judgment: (judgment.person, judgment.saved_at)):
            if judgment.person:
                key = judgment.instance, judgment.criterion
                submissions.append(_build_submission(judgment, runs.drafts.get(judgment.shown, {}).get(key)))
            else:
                runs.add(judgment)
        return Study(
            task=Task(
                self.slug, self.slug, self.description, *self.fields, scale=share_scale(scales.values())
            ),
            instances=tuple(self.instances.values()),
            criteria=tuple(Criterion(name, origin=Origin.HUMAN, scale=each) for name, each in scales.items()),
            runs=tuple(runs.build()),
            submissions=tuple(submissions),
            notes=(*notes, *(f"{what}: {count:,}." for what, count in self.left.items() if count)),
        )

    def _choose_scales(self, judgments: Sequence[Judgment]) -> tuple[dict[str, Scale], list[str]]:
        scores: dict[str, list[float]] = defaultdict(list)
        for judgment in judgments:
            scores[judgment.criterion] += [] if judgment.score is None else [judgment.score]
        if len(scores) > MAX_CRITERIA:
            raise InputError(
                f"The {self.tool} file has scores for {len(scores):,} criteria, and the limit is "
                f"{MAX_CRITERIA}; import a part of it."
            )
        scales: dict[str, Scale] = {}
        guessed: list[str] = []
        for name, given in scores.items():
            stated = self.scales.get(name)
            scale = stated or infer_scale(given)
            if scale is None:
                self.left[f"Scores by “{shorten(name)}” reach over more than 100 steps, left out"] = len(
                    given
                )
                continue
            scales[name] = scale
            guessed += [] if stated else [f"{shorten(name)} {scale}"]
        told = f"The scales were taken from the scores: {shorten(', '.join(guessed), 300)}."
        return scales, [told] if guessed else []


def share_scale(scales: Iterable[Scale]) -> Scale:
    """Return the criteria's common scale for the task; the default scale if they differ or it is too long."""
    shared = set(scales)
    scale = shared.pop() if len(shared) == 1 else Scale()
    return scale if len(scale.steps) <= MAX_TASK_STEPS else Scale()


def name_answer(name: str, system: str, output: str, epoch: int = 1) -> str:
    """Return an answer's id, built from its question, repetition, author and text.

    >>> name_answer("7", "gpt", "Yes.")
    '7 · 1 · gpt · 5f9a2b7956'
    """
    digest = hashlib.sha256(output.encode("utf-8", "replace")).hexdigest()[:10]
    return " · ".join(filter(None, (name, str(epoch), system, digest)))


def build_instance(
    name: str,
    question: str,
    output: str,
    *,
    system: str = "",
    reference: str = "",
    context: Mapping[str, str] | None = None,
) -> Instance:
    """Return another tool's answer as an instance. An answer without a question becomes a separate document."""
    document = name_document(question) if question.strip() else name
    further = {key: text for key, text in (context or {}).items() if text and key.strip()}
    return Instance(name, question, output, document, system, reference, further)


def _build_submission(judgment: Judgment, draft: ImportedDraft | None) -> ImportedSubmission:
    """Build a submission from a person's judgment. ``draft`` is the draft that was displayed, if any."""
    rows = [ScrutinyRow(RowKind.CONCLUSION, Action.ADD, text=judgment.comment)] if judgment.comment else []
    if judgment.score is not None:
        rows.append(_build_score_row(judgment.score, draft))
    rows += [ScrutinyRow(RowKind.EVIDENCE, Action.ADD, text=quote(*mark)) for mark in judgment.marks]
    return ImportedSubmission(
        person=judgment.by or NOBODY,
        instance=judgment.instance,
        criterion=judgment.criterion,
        score=judgment.score,
        rows=tuple(rows),
        opened_at=judgment.opened_at,
        submitted_at=judgment.saved_at,
        arm=Arm.ASSISTED if draft else Arm.BLIND,
        run=judgment.shown if draft else "",
        active_ms=judgment.active_ms,
    )


def _build_score_row(score: float, draft: ImportedDraft | None) -> ScrutinyRow:
    kinds = [row.kind for row in draft.rows] if draft else []
    if draft is None or RowKind.SCORE not in kinds:
        return ScrutinyRow(RowKind.SCORE, Action.ADD, text=f"{score:g}")
    place = kinds.index(RowKind.SCORE)
    if score == draft.score:
        return ScrutinyRow(RowKind.SCORE, Action.APPROVE, place)
    return ScrutinyRow(RowKind.SCORE, Action.REVISE, place, text=f"{score:g}")


def quote(label: str, passage: str) -> str:
    """Return a marked passage as a line of evidence.

    >>> quote("too long", "a passage"), quote("", "so")
    ('“a passage” too long', '“so”')
    """
    return f"“{passage}” {label}".rstrip()


class _Runs:
    """The judges of a file. A second, different score from the same judge goes into a separate run."""

    def __init__(self, tool: str) -> None:
        self.tool = tool
        self.drafts: dict[str, dict[tuple[str, str], ImportedDraft]] = defaultdict(dict)
        self.judges: dict[str, str] = {}

    def add(self, judgment: Judgment) -> None:
        draft = _build_draft(judgment)
        for again in range(1, 1_000):
            label = judgment.by or self.tool
            label = label if again == 1 else f"{label} ({again})"
            if self.drafts[label].setdefault((draft.instance, draft.criterion), draft) == draft:
                self.judges.setdefault(label, judgment.by or self.tool)
                return
        raise InputError(
            f"The {self.tool} file has a thousand different scores of '{shorten(judgment.instance)}' "
            f"by '{shorten(judgment.criterion)}'; "
            "give each answer its own id."
        )

    def build(self) -> Iterator[ImportedRun]:
        for label, judge in self.judges.items():
            run = Run(protocol="imported", model=judge, label=label, params={"source": self.tool})
            yield ImportedRun(run, tuple(self.drafts[label].values()))


def _build_draft(judgment: Judgment) -> ImportedDraft:
    rows = [EvaluationRow(RowKind.CONCLUSION, judgment.comment)] if judgment.comment else []
    reason = judgment.reason or "the file gives no score"
    if judgment.score is not None:
        rows.append(EvaluationRow(RowKind.SCORE, f"{judgment.score:g}"))
        reason = ""
    rows += [EvaluationRow(RowKind.EVIDENCE, quote(*mark)) for mark in judgment.marks]
    return ImportedDraft(judgment.instance, judgment.criterion, judgment.score, tuple(rows), reason, raw="")


Recognise = Callable[[Path], bool]
Read = Callable[[Path, Gathering], None]


def tool_format(name: str, title: str, tool: str, recognise: Recognise, read: Read) -> Format:
    """Return a format of one or more files. ``recognise`` tests a file, and ``read`` adds its content."""

    def open_files(path: Path, slug: str, columns: object) -> Source:
        gathering = Gathering(slug, tool)
        files = [file for file in sorted(path.iterdir()) if recognise(file)] if path.is_dir() else [path]
        if not files:
            raise InputError(
                f"{path.name}: contains no file of {tool}; give the path of the files that it wrote."
            )
        for file in files:
            read(file, gathering)
        return source_of(gathering.build())

    return Format(name, title, fits=lambda path, columns: fits(path, recognise), open=open_files)


def fits(path: Path, recognise: Recognise) -> bool:
    """Return whether a file, or any file in a folder, is recognised."""
    return any(map(recognise, sorted(path.iterdir()))) if path.is_dir() else recognise(path)
