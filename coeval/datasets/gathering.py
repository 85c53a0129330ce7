"""What the files of another tool hold, gathered into a study: answers, people's judgments, judges' scores."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from coeval.datasets.judgments import Judgment, infer_scale, spread_labels
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

NOBODY = "unnamed annotator"
MAX_CRITERIA = 200
MAX_TASK_STEPS = 11


@dataclass(slots=True)
class Gathering:
    """A study on its way: a reader adds what it finds, and ``build`` gives the whole."""

    slug: str
    tool: str
    """The tool that wrote the files, as the runs' parameters name it."""
    fields: tuple[str, str] = ("Input", "Output")
    description: str = ""
    instances: dict[str, Instance] = field(default_factory=dict)
    judgments: list[Judgment] = field(default_factory=list)
    scales: dict[str, Scale] = field(default_factory=dict)
    """The scales that the files state, by criterion."""
    left: Counter[str] = field(default_factory=Counter)
    """What was left out or mended, in words, and how often."""

    def add_instance(self, instance: Instance, place: str) -> bool:
        """Take in an answer; whether it has a text, without which it is left out.

        Raises InputError for a text that cannot be stored, or a name that has another text already.
        """
        if not instance.output.strip():
            self.left["Answers without a text, left out"] += 1
            return False
        for text in (instance.input, instance.output, instance.reference, *instance.context.values()):
            check_text(text, place)
        for name in (instance.external_id, instance.document, instance.system):
            if len(name) > MAX_NAME:
                raise InputError(
                    f"{place}: has a name of {len(name):,} characters and {MAX_NAME:,} fit; shorten it."
                )
        if len(instance.context) > MAX_COLUMNS:
            raise InputError(
                f"{place}: has {len(instance.context)} further fields and {MAX_COLUMNS} are read."
            )
        known = self.instances.setdefault(instance.external_id, instance)
        if (known.input, known.output) != (instance.input, instance.output):
            raise InputError(
                f"{place}: names '{shorten(instance.external_id)}' another text than an entry before it; give each "
                "answer its own id."
            )
        return True

    def add(self, judgment: Judgment, place: str) -> None:
        """Take in a judgment; raises InputError for a name or a text that cannot be stored."""
        if not judgment.criterion.strip():
            raise InputError(f"{place}: a score has no name; name what is scored.")
        if judgment.person and len(judgment.by) > MAX_PERSON_NAME:
            raise InputError(
                f"{place}: the person '{shorten(judgment.by)}' has a name of {len(judgment.by):,} characters and "
                f"{MAX_PERSON_NAME} fit; shorten it."
            )
        for text in (judgment.criterion, judgment.comment, *(passage for _, passage in judgment.marks)):
            check_text(text, place)
        self.judgments.append(judgment)

    def build(self) -> Study:
        """The study; raises InputError where the files hold nothing to judge and no judgment."""
        if not self.instances and not self.judgments:
            raise InputError(
                f"The {self.tool} file holds no answer and no score; export what was judged, and import that."
            )
        judgments = list(spread_labels(dict.fromkeys(self.judgments)))  # what two files repeat counts once
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
                f"The {self.tool} file scores by {len(scores):,} criteria and at most {MAX_CRITERIA} are read; "
                "import a part of it."
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
    """The one scale of all criteria, as the task's; the usual one where they differ, or it is too long for a task."""
    shared = set(scales)
    scale = shared.pop() if len(shared) == 1 else Scale()
    return scale if len(scale.steps) <= MAX_TASK_STEPS else Scale()


def name_answer(name: str, system: str, output: str, epoch: int = 1) -> str:
    """The id of an answer: what was asked, which time, who answered and what; never the question alone.

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
    """An answer of another tool; where there is no question, each is a document of its own."""
    document = name_document(question) if question.strip() else name
    further = {key: text for key, text in (context or {}).items() if text and key.strip()}
    return Instance(name, question, output, document, system, reference, further)


def _build_submission(judgment: Judgment, draft: ImportedDraft | None) -> ImportedSubmission:
    """A person's judgment; what stood on the screen was ``draft``, where something did."""
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
    """A marked passage as a line of evidence.

    >>> quote("too long", "a passage"), quote("", "so")
    ('“a passage” too long', '“so”')
    """
    return f"“{passage}” {label}".rstrip()


class _Runs:
    """The judges of a file. What a judge says twice, and differently, stands in a run of its own."""

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
            f"The {self.tool} file gives '{shorten(judgment.instance)}' a thousand different scores by "
            f"'{shorten(judgment.criterion)}'; give each answer its own id."
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
