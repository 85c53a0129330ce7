"""Combine another tool's files into a study: answers, people's judgments, judges' scores."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from coeval.datasets.file_format import Format
from coeval.datasets.rating_rows import infer_scale, share_scale
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
    step: str = ""
    """The name of the step of a trace that was judged; empty for the whole trace."""


NONE = "none"
"""The label of an item that a person submitted without choosing an option."""

_NO_ANSWER = re.compile(
    r"n/?a|nan|null|nil|none|other|missing|skip(ped)?|idk|unknown|unsure|uncertain|unclear|undecided|not? "
    r"(applicable|sure|answer|opinion|response|rating|clear|known)|does not apply|prefer not.*"
    r"|(i )?(do not|dont|can ?not|cant|could not|unable to|impossible to|hard to) "
    r"(know|say|tell|judge|rate|decide|answer).*",
    re.I,
)
"""The options beside a scale's numbers that mean that somebody gave no score."""

_UNITS = r"stars?|points?|pts?|[★*]+"
_NUMBERED = re.compile(
    r"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?)"
    rf"(?:\s*\(.*|\s*(?:{_UNITS})?\s*(?:[:=.)–—-]\s*(?![0-9\s]).*)?)?",
    re.I | re.S,
)


def spread_labels(judgments: Iterable[Judgment]) -> Iterator[Judgment]:
    """Yield the judgments with scores instead of labels.

    Numbers are scores; yes and no are 1 and 0. An answer beside the numbers, such as "N/A", is no score and becomes a
    comment. For other choices, each option that somebody chose becomes a criterion, scored 1 if chosen and 0 if not.
    Several options can thus be chosen at once.
    """
    stated = list(judgments)
    choices = {criterion: Choice.of(labels) for criterion, labels in list_chosen(stated).items()}
    for judgment in stated:
        if judgment.labels is None:
            yield judgment
        else:
            yield from _spread(judgment, judgment.labels, choices[judgment.criterion])


def list_chosen(judgments: Iterable[Judgment]) -> dict[str, list[tuple[str, ...]]]:
    """Return the labels of each judgment that has labels, by criterion."""
    chosen: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for judgment in judgments:
        if judgment.labels is not None:
            chosen[judgment.criterion].append(judgment.labels)
    return chosen


@dataclass(frozen=True, slots=True)
class Choice:
    """The options of a choice, in order of appearance, and the score of each option if they are a scale.

    An option without a score, such as "N/A", has the score None.
    """

    options: tuple[str, ...]
    scores: Mapping[str, float | None] | None

    @classmethod
    def of(cls, chosen: Sequence[tuple[str, ...]]) -> Choice:
        """Return the choice in which people chose these options. Several options at once are not a scale."""
        options = tuple(dict.fromkeys(label for labels in chosen for label in labels))
        if any(len(labels) > 1 for labels in chosen):
            return cls(options, None)
        answers = [option for option in options if not is_no_answer(option)]
        for read in (read_number, lambda option: _YES_NO.get(option.strip().casefold())):
            scores = {option: read(option) for option in answers}
            if None not in scores.values() and (answers or not options):
                return cls(options, {**dict.fromkeys(options), **scores})
        return cls(options, None)


def is_no_answer(option: str) -> bool:
    """Return whether an option beside numbers or yes and no means that there is no score.

    >>> is_no_answer("N/A"), is_no_answer("I don't know"), is_no_answer("Not applicable."), is_no_answer("Good")
    (True, True, True, False)
    """
    words = re.sub(r"[^\w/]+", " ", option.replace("'", "").replace("’", "").replace("_", " "))
    stripped = words.strip()
    return not stripped or _NO_ANSWER.fullmatch(stripped) is not None or stripped.casefold() == "n a"


def _spread(judgment: Judgment, labels: tuple[str, ...], choice: Choice) -> Iterator[Judgment]:
    options, told = choice.options, "\n".join(filter(None, (", ".join(labels), judgment.comment)))
    if choice.scores is not None:
        score = choice.scores[labels[0]] if labels else None
        if labels and score is None:
            reason = f"“{shorten(labels[0])}” is no score"
            yield replace(judgment, labels=None, comment=told, reason=reason)
        else:
            yield replace(judgment, labels=None, score=score)
    elif len(options) > MAX_OPTIONS:
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
    """Return the number of a label, which may be followed by a unit or by its meaning.

    >>> read_number("4"), read_number("4 - good"), read_number("4x"), read_number("1e999")
    (4.0, 4.0, None, None)
    >>> [read_number(label) for label in ("5 = Excellent", "5. Good", "5 stars", "5-excellent", "2:30 pm", "3-5")]
    [5.0, 5.0, 5.0, 5.0, None, None]
    """
    match = _NUMBERED.fullmatch(text.strip())
    number = float(match[1]) if match else math.nan
    return number if math.isfinite(number) else None


NOBODY = "unnamed annotator"
MAX_CRITERIA = 200


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
    files: tuple[Path, ...] = ()
    """All files of the study."""
    submitted: list[tuple[Judgment, frozenset[str]]] = field(default_factory=list)
    """The common fields of each item that a person submitted, and the questions that this person answered."""
    choices: dict[str, None] = field(default_factory=dict)
    """The questions with options, in order of appearance."""
    empty: set[str] = field(default_factory=set)
    """The names of the answers without a text."""

    def add_instance(self, instance: Instance, place: str) -> bool:
        """Add an answer, and return whether it has a text. Answers without a text are left out.

        Raises InputError for a text that cannot be stored, or a name that already has another text.
        """
        if not instance.output.strip():
            self.left["Answers without a text, left out"] += 1
            self.empty.add(instance.external_id)
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
        stored = self.instances.setdefault(instance.external_id, instance)
        if (stored.input, stored.output) != (instance.input, instance.output):
            raise InputError(
                f"{place}: uses the id '{shorten(instance.external_id)}' for a different text than an "
                "earlier entry; give each answer its own id."
            )
        if stored.context != instance.context:
            self.left["Answers whose other fields differ from an earlier entry, left out"] += 1
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
        if judgment.instance in self.empty:
            self.left["Scores of answers without a text, left out"] += 1
            return
        if judgment.step:
            self.left["Scores of a step, kept for its trace"] += 1
        self.judgments.append(judgment)

    def open(self) -> Source:
        """Return the study as a source that names the criteria with a scale taken from their scores."""
        study = self.build()
        guessed = tuple(each.text for each in study.criteria if each.text not in self.scales)
        return replace(source_of(study), guessed=guessed)

    def build(self) -> Study:
        """Return the study; raise InputError if the files contain neither texts nor judgments."""
        if not self.instances and not self.judgments:
            raise InputError(
                f"The {self.tool} file contains no answer and no score; export the judged answers and "
                "import that file."
            )
        # content that appears in two files counts once
        self._name_steps()
        judgments = list(spread_labels(dict.fromkeys([*self.judgments, *self._list_not_chosen()])))
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

    def _name_steps(self) -> None:
        """Add the step to the criterion of a score, if somebody scored several parts of a trace by this criterion."""
        parts: dict[tuple[str, str, str], set[str]] = defaultdict(set)
        for each in self.judgments:
            parts[each.instance, each.criterion, each.by].add(each.step)
        several = {criterion for (_, criterion, _), steps in parts.items() if len(steps) > 1}
        for place, each in enumerate(self.judgments):
            if each.step and each.criterion in several:
                name = f"{each.criterion} ({each.step})"
                self.judgments[place] = replace(each, criterion=name)
                if each.criterion in self.scales:
                    self.scales.setdefault(name, self.scales[each.criterion])

    def _list_not_chosen(self) -> Iterator[Judgment]:
        """Yield a judgment with the label "none" for each choice that a person submitted without an option.

        Also count the answers that are no score, and the scales that were left empty, for the notes.
        """
        chosen = list_chosen(dict.fromkeys(self.judgments))
        choices = {criterion: Choice.of(labels) for criterion, labels in chosen.items()}
        for criterion, choice in choices.items():
            if choice.scores is not None:
                for label in (label for labels in chosen[criterion] for label in labels):
                    if choice.scores[label] is None:
                        self.left[
                            f"Answers “{shorten(label)}” to “{shorten(criterion)}”, kept without a score"
                        ] += 1
        for shared, answered in dict.fromkeys(self.submitted):
            for criterion in self.choices:
                if criterion in answered or criterion not in choices:
                    continue
                name = shorten(criterion)
                if choices[criterion].scores is None and len(choices[criterion].options) <= MAX_OPTIONS:
                    self.left[f"Items submitted with nothing chosen for “{name}”, labelled “{NONE}”"] += 1
                    yield replace(shared, criterion=criterion, labels=(NONE,))
                else:
                    self.left[f"Items submitted without an answer to “{name}”, without a score"] += 1

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
        for name, values in scores.items():
            stated = self.scales.get(name)
            scale = stated or infer_scale(values)
            if scale is None:
                self.left[f"Scores by “{shorten(name)}” reach over more than 100 steps, left out"] = len(
                    values
                )
                continue
            scales[name] = scale
            guessed += [] if stated else [f"{shorten(name)} {scale}"]
        told = f"The scales were taken from the scores: {shorten(', '.join(guessed), 300)}."
        return scales, [told] if guessed else []


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


def tool_format(
    name: str, title: str, tool: str, recognise: Recognise, read: Read, *, together: bool = False
) -> Format:
    """Return a format of one or more files. ``recognise`` tests a file, and ``read`` adds its content.

    ``together`` means that ``read`` runs once and adds all of ``Gathering.files``, because they refer to one another.
    """

    def open_files(path: Path, slug: str, columns: object) -> Source:
        gathering = Gathering(slug, tool)
        files = [file for file in sorted(path.iterdir()) if recognise(file)] if path.is_dir() else [path]
        if not files:
            raise InputError(
                f"{path.name}: contains no file of {tool}; give the path of the files that it wrote."
            )
        gathering.files = tuple(files)
        for file in files[:1] if together else files:
            read(file, gathering)
        if path.is_dir():
            rest = [file.name for file in sorted(path.iterdir()) if file not in gathering.files]
            told = f"Files and folders that are not of {tool} ({shorten(', '.join(rest), 300)}), left out"
            gathering.left[told] = len(rest)
        return gathering.open()

    return Format(name, title, fits=lambda path, columns: fits(path, recognise), open=open_files)


def fits(path: Path, recognise: Recognise) -> bool:
    """Return whether a file, or any file in a folder, is recognised."""
    return any(map(recognise, sorted(path.iterdir()))) if path.is_dir() else recognise(path)
