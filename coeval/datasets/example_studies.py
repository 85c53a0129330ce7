"""Studies that come with CoEval: the demo task, and a finished study with simulated people.

The finished study is generated with a fixed seed, so it is always the same. It contains data for each section
of Agreement: five annotators with different habits, three systems, every arm, planted errors, and two judges.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from coeval.clock import write_time
from coeval.datasets.file_format import Columns, Format
from coeval.datasets.source import Source, source_of
from coeval.datasets.text import check_text, find_json, load_json
from coeval.domain import (
    Action,
    Arm,
    Criterion,
    EvaluationRow,
    Guide,
    ImportedDraft,
    ImportedRun,
    ImportedSubmission,
    Instance,
    Proposal,
    RowKind,
    Run,
    ScrutinyRow,
    Study,
    Task,
)
from coeval.errors import InputError
from coeval.llm.reading.quotes import find_quotes

# The demo task: a JSON file, written for this project, with instances, criteria, proposals and drafts.

MARK = "coeval-demo"
"""The value of ``format`` in a demo file."""

RUN = Run(protocol="written", model="written for the demo", label="written for the demo", shown=True)


def is_demo(value: object) -> bool:
    """Return whether a JSON value is from a demo file."""
    return isinstance(value, dict) and value.get("format") == MARK


def load_demo(path: Path) -> tuple[Study, tuple[Proposal, ...]]:
    """Return the demo's study and the proposals of its first ballot; raise InputError for another file."""
    value: Any = load_json(path)
    if not is_demo(value):
        raise InputError(f"{path.name}: is not a file of the demo; import your own data as CSV or JSONL.")
    try:
        return _build_study(value), tuple(_build_proposal(entry) for entry in value["proposals"])
    except (KeyError, TypeError, ValueError, AttributeError) as exc:
        raise InputError(f"{path.name}: lacks a part of the demo ({exc!r}); restore it.") from exc


def _build_study(value: Mapping[str, Any]) -> Study:
    instances = tuple(_build_instance(entry, value["documents"]) for entry in value["instances"])
    outputs = {instance.external_id: instance.output for instance in instances}
    criteria = tuple(Criterion(text=entry["text"], name=entry["name"]) for entry in value["criteria"])
    texts = {criterion.name: criterion.text for criterion in criteria}
    drafts = tuple(_build_draft(entry, texts, outputs) for entry in value["drafts"])
    return Study(
        task=Task(slug="demo", origin=value["origin"], **value["task"]),
        instances=instances,
        criteria=criteria,
        runs=(ImportedRun(RUN, drafts),),
        notes=(value["note"],),
    )


def _build_instance(entry: Mapping[str, str], documents: Mapping[str, str]) -> Instance:
    return Instance(
        external_id=entry["id"],
        input=check_text(documents[entry["document"]], entry["id"]),
        output=check_text(entry["output"], entry["id"]),
        document=entry["document"],
        system=entry["system"],
    )


def _build_draft(
    entry: Mapping[str, Any], texts: Mapping[str, str], outputs: Mapping[str, str]
) -> ImportedDraft:
    output = outputs[entry["instance"]]
    rows = (
        EvaluationRow(RowKind.CONCLUSION, entry["conclusion"]),
        EvaluationRow(RowKind.SCORE, f"{entry['score']:g}"),
        *(EvaluationRow(RowKind.EVIDENCE, line, find_quotes(line, output)) for line in entry["evidence"]),
    )
    return ImportedDraft(entry["instance"], texts[entry["criterion"]], float(entry["score"]), rows)


def _build_proposal(entry: Mapping[str, Any]) -> Proposal:
    return Proposal(
        text=entry["text"],
        support=entry["support"],
        samples=entry["samples"],
        members=tuple(entry["members"]),
    )


def _is_demo_file(path: Path, columns: Columns) -> bool:
    return find_json(path) == "json" and is_demo(load_json(path))


def _open(path: Path, slug: str, columns: Columns) -> Source:
    study, _ = load_demo(path)
    return source_of(replace(study, task=replace(study.task, slug=slug)))


FORMAT = Format("demo", "The demo study", fits=_is_demo_file, open=_open)


# The finished study: texts written for this project, judged by simulated people.

SLUG = "finished-example"
ORIGIN = "simulated"
SEED = 20_260_101
BEGAN = datetime(2026, 1, 12, 9, 0, tzinfo=UTC)
TRUE_SCORES = {"gardener": (5, 5, 5), "handbook": (2, 4, 4), "hasty": (4, 1, 2)}
"""The true score of each system's answers on each criterion, before noise is added."""

SHOWN, OTHER = "judge A (simulated)", "judge B (simulated)"
BLIND_SHARE, FIRST_SHARE, PLANTED_SHARE = 0.3, 0.3, 0.15
JUDGES_ONLY = 2
"""The number of documents at the end that only judges scored."""


@dataclass(frozen=True, slots=True)
class _Annotator:
    """The habits of a simulated person: bias in points, noise, influence of the displayed score, and seconds
    per judgment.
    """

    name: str
    leniency: float
    noise: float
    pull: float
    seconds: float


ANNOTATORS = (
    _Annotator("Simulated annotator 1", 0.0, 0.35, 0.3, 38),
    _Annotator("Simulated annotator 2", 0.3, 0.5, 0.5, 29),
    _Annotator("Simulated annotator 3", -0.3, 0.4, 0.2, 52),
    _Annotator("Simulated annotator 4", 0.1, 0.6, 0.7, 21),
    _Annotator("Simulated annotator 5", -0.1, 0.9, 0.6, 16),
)


def build_finished_example(path: Path) -> Study:
    """Return the finished study; ``path`` is the file with its texts."""
    value: Any = load_json(path)
    draw = random.Random(SEED)
    criteria = tuple(_build_criterion(entry) for entry in value["criteria"])
    instances = tuple(_build_instances(value["documents"]))
    shown = {(one.external_id, c.text): _true_score(draw, one, n, 0.5)
             for one in instances for n, c in enumerate(criteria)}  # fmt: skip
    samples = {
        key: tuple(float(_clip(draw.gauss(score + 0.4, 0.9))) for _ in range(3))
        for key, score in shown.items()
    }
    judges: dict[str, Mapping[tuple[str, str], tuple[float, ...]]] = {
        SHOWN: {key: (float(score),) for key, score in shown.items()},
        OTHER: samples,
    }
    runs = tuple(
        ImportedRun(Run("simulated", label, label, shown=label == SHOWN), tuple(_drafts(instances, scores)))
        for label, scores in judges.items()
    )
    judged = instances[: -JUDGES_ONLY * len(TRUE_SCORES)]
    work = tuple(_judge_all(draw, judged, criteria, {(d.instance, d.criterion): d for d in runs[0].drafts}))
    return Study(
        Task(slug=SLUG, origin=ORIGIN, **value["task"]), instances, criteria, runs, work, (value["note"],)
    )


def _build_criterion(entry: Mapping[str, Any]) -> Criterion:
    anchors = tuple((int(score), str(meaning)) for score, meaning in entry["anchors"].items())
    return Criterion(entry["text"], entry["name"], guide=Guide(anchors=anchors))


def _build_instances(documents: list[Mapping[str, str]]) -> Iterator[Instance]:
    for number, entry in enumerate(documents, 1):
        texts = {
            "gardener": f"{entry['why']} {entry['do']}",
            "handbook": f"{entry['jargon']} {entry['do']}",
            "hasty": entry["wrong"] if number % 3 else f"{entry['wrong']} {entry['do']}",
        }
        for system, output in texts.items():
            yield Instance(f"{entry['id']}-{system}", entry["question"], output, entry["id"], system)


def _clip(score: float) -> int:
    return min(5, max(1, round(score)))


def _true_score(draw: random.Random, instance: Instance, criterion: int, noise: float) -> int:
    return _clip(draw.gauss(TRUE_SCORES[instance.system][criterion], noise))


def _drafts(
    instances: tuple[Instance, ...], samples: Mapping[tuple[str, str], tuple[float, ...]]
) -> Iterator[ImportedDraft]:
    by_id = {instance.external_id: instance for instance in instances}
    words = {1: "fails", 2: "hardly meets", 3: "partly meets", 4: "largely meets", 5: "fully meets"}
    for (name, criterion), sampled in samples.items():
        score = round(sum(sampled) / len(sampled), 2)
        output = by_id[name].output
        first, last = (
            f"“{output[: output.find(' ', 20)]}” supports this.",
            f"“{output.split()[-1]}” ends the answer.",
        )
        rows = (
            EvaluationRow(RowKind.CONCLUSION, f"The answer {words[_clip(score)]} the criterion."),
            EvaluationRow(RowKind.SCORE, f"{score:g}"),
            *(EvaluationRow(RowKind.EVIDENCE, line, find_quotes(line, output)) for line in (first, last)),
        )
        yield ImportedDraft(name, criterion, score, rows, samples=sampled)


def _judge_all(
    draw: random.Random,
    instances: tuple[Instance, ...],
    criteria: tuple[Criterion, ...],
    drafts: Mapping[tuple[str, str], ImportedDraft],
) -> Iterator[ImportedSubmission]:
    """Return the work of all people, one person after another.

    Every instance is judged by three people without its draft (blind, or before they see it) and by two with it.
    """
    for nth, annotator in enumerate(ANNOTATORS):
        at = BEGAN + timedelta(days=nth)
        for number, instance in enumerate(instances):
            place = (nth - number) % len(ANNOTATORS)
            arm = Arm.ASSISTED if place > 2 else Arm.FIRST if number % 2 else Arm.BLIND
            for n, criterion in enumerate(criteria):
                own = (
                    _true_score(draw, instance, n, 0.3) + annotator.leniency + draw.gauss(0, annotator.noise)
                )
                seconds = annotator.seconds * draw.lognormvariate(0, 0.4) * (1.5 if arm is Arm.BLIND else 1)
                opened, at = at, at + timedelta(seconds=seconds + 2)
                draft = drafts[instance.external_id, criterion.text]
                yield _Judgment(draw, annotator, arm, own, draft).build(opened, at, int(seconds * 1000))


@dataclass(frozen=True, slots=True)
class _Judgment:
    """One person's judgment of one draft; ``own`` is the score that the person would give without the draft."""

    draw: random.Random
    annotator: _Annotator
    arm: Arm
    own: float
    draft: ImportedDraft

    def build(self, opened: datetime, saved: datetime, active_ms: int) -> ImportedSubmission:
        blind = self.arm is Arm.BLIND
        planted = ""
        if self.arm is Arm.ASSISTED and self.draw.random() < PLANTED_SHARE:
            planted = "score"
        drafted = int(self.draft.score or 1)
        shown = (drafted + 2 if drafted <= 3 else drafted - 2) if planted == "score" else drafted
        score = _clip(self.own if blind else self.own + self.annotator.pull * (shown - self.own))
        return ImportedSubmission(
            person=self.annotator.name,
            instance=self.draft.instance,
            criterion=self.draft.criterion,
            score=float(score),
            rows=self._blind_rows(score) if blind else self._rows(score, shown),
            opened_at=write_time(opened),
            submitted_at=write_time(saved),
            arm=self.arm,
            run=SHOWN,
            shown_score=None if blind else float(shown),
            planted=planted,
            active_ms=active_ms,
            first_score=float(_clip(self.own)) if self.arm is Arm.FIRST else None,
        )

    def _blind_rows(self, score: int) -> tuple[ScrutinyRow, ...]:
        said = ScrutinyRow(RowKind.CONCLUSION, Action.ADD, text=f"I would give it {score}.")
        return ScrutinyRow(RowKind.SCORE, Action.ADD, text=str(score)), said

    def _rows(self, score: int, shown: int) -> tuple[ScrutinyRow, ...]:
        kept = score == shown
        rows = [
            ScrutinyRow(RowKind.CONCLUSION, Action.APPROVE, 0)
            if kept or self.draw.random() < 0.4
            else ScrutinyRow(RowKind.CONCLUSION, Action.REVISE, 0, "too kind" if score < shown else "too strict",
                             f"The answer deserves {score}."),
            ScrutinyRow(RowKind.SCORE, Action.APPROVE, 1)
            if kept
            else ScrutinyRow(RowKind.SCORE, Action.REVISE, 1, text=str(score)),
        ]  # fmt: skip
        for line in (2, 3):
            # the second line is vague, so more people delete it
            if self.draw.random() < (0.1 if line == 2 else 0.25):
                rows.append(ScrutinyRow(RowKind.EVIDENCE, Action.DELETE, line, "does not support it"))
            else:
                rows.append(ScrutinyRow(RowKind.EVIDENCE, Action.APPROVE, line))
        if self.draw.random() < 0.08:
            rows.append(ScrutinyRow(RowKind.EVIDENCE, Action.ADD, text="The advice comes at the end."))
        return tuple(rows)
