"""Studies with texts that files get wrong: new lines, NA, leading zeros, emoji, right-to-left, very long ones."""

from __future__ import annotations

import random
from collections.abc import Iterator

from coeval.domain import (
    MAX_TEXT,
    Action,
    Arm,
    Criterion,
    EvaluationRow,
    Group,
    Guide,
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
from coeval.folded_text import compose
from coeval.llm.reading.quotes import find_quotes

ODD = (
    "NA", "null", "007", "1e5", "TRUE", "=1+1", "-", "a,b;c\t\"d\" 'e'", "one\ntwo\r\nthree\rfour", "  blanks  ",
    "🌱 grows 👩‍🌾 well", "שלום עולם, this is mixed", "مرحبا بالعالم", "e\u0301 and é", "\u200f\u200b",
    "<b>no</b> &amp;",
    "── user ──\nHi\n\n── assistant ──\nHello", "naïve façade", "𝔘𝔫𝔦", "{\"a\": [1]}", "\ufeffmark", "日本語の文章です",
)  # fmt: skip


def _name(text: str) -> str:
    """A text as a name may be: in the one form, without what nobody sees."""
    return compose("".join(character for character in text if character not in "\u200f\u200b\ufeff"))


class _Draw:
    """Everything is drawn from one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def text(self, label: str) -> str:
        """A text that has words, told from others by its label."""
        return f"{label} {' '.join(self.random.choices(ODD, k=self.random.randint(1, 4)))}"

    def time(self) -> str:
        day, ms = self.random.randint(1, 28), self.random.randint(0, 999)
        return f"2026-{self.random.randint(1, 12):02}-{day:02}T{self.random.randint(0, 23):02}:30:05.{ms:03}Z"


def build_odd_study(seed: int) -> Study:
    """A study of that seed; every tenth has one text as long as a text may be."""
    draw = _Draw(seed)
    criteria = tuple(_build_criterion(draw, n) for n in range(draw.random.randint(1, 3)))
    instances = tuple(
        _build_instance(draw, n, seed % 10 == 0 and n == 0) for n in range(draw.random.randint(1, 4))
    )
    runs = tuple(_build_run(draw, n, instances, criteria) for n in range(draw.random.randint(0, 2)))
    work = tuple(_build_work(draw, instances, criteria, runs))
    scales = {criterion.scale for criterion in criteria} - {Scale(0, 100), Scale(1, 101)}
    alike = len(scales) == 1 == len({criterion.scale for criterion in criteria})
    task = Task("odd", "odd", "Answer the question.", scale=scales.pop() if alike else Scale())
    return Study(task, instances, criteria, runs, work)


def _build_criterion(draw: _Draw, number: int) -> Criterion:
    low = draw.random.choice((0, 1))
    guide = Guide(draw.text("guide"), ((low, draw.text("low")),), draw.text("examples"))
    return Criterion(
        _name(draw.text(f"criterion {number}")),
        draw.random.choice(("", "0042", draw.text("name"))),
        draw.random.choice(list(Origin)),
        Scale(low, low + draw.random.choice((1, 4, 100))),
        draw.random.choice(("", draw.text("question"))),
        draw.random.choice((Guide(), guide)),
    )


def _build_instance(draw: _Draw, number: int, long: bool) -> Instance:
    output = draw.text(f"output {number}")
    output = (output + " word" * MAX_TEXT)[:MAX_TEXT] if long else output
    context = {name: draw.text(name) for name in ("topic", "NA", "007")[: draw.random.randint(0, 3)]}
    return Instance(
        _name(f"0{number} {draw.random.choice(ODD)}"),
        draw.random.choice(("", draw.text("input"))),
        output,
        draw.random.choice(("doc", f"00{number}")),
        draw.random.choice(("", "NA", "system 🌱")),
        draw.random.choice(("", draw.text("reference"))),
        context,
    )


def _build_run(
    draw: _Draw, number: int, instances: tuple[Instance, ...], criteria: tuple[Criterion, ...]
) -> ImportedRun:
    run = Run(
        "imported", draw.text("model"), f"run {number} {draw.random.choice(ODD)}", "h", {"n": 3, "t": "NA"}
    )
    drafts = tuple(
        _build_draft(draw, instance, criterion)
        for place, (instance, criterion) in enumerate((i, c) for i in instances for c in criteria)
        if place == 0 or draw.random.random() < 0.7
    )
    return ImportedRun(run, drafts)


def _quote(draw: _Draw, output: str) -> str:
    start = draw.random.randrange(min(len(output), 200))
    return f"“{output[start : start + 20]}” {draw.text('says')}"


def _build_draft(draw: _Draw, instance: Instance, criterion: Criterion) -> ImportedDraft:
    score = draw.random.choice((None, float(criterion.scale.low), criterion.scale.low + 0.25))
    rows = [EvaluationRow(RowKind.CONCLUSION, draw.text("conclusion"))]
    if score is not None:
        rows.append(EvaluationRow(RowKind.SCORE, f"{score:g}"))
    for _ in range(draw.random.randint(0, 2)):
        line = _quote(draw, instance.output)
        rows.append(EvaluationRow(RowKind.EVIDENCE, line, find_quotes(line, instance.output, instance.input)))
    reason = "" if score is not None else draw.text("no score")
    samples = () if score is None else (score, score)
    rung = "" if score is None else "asked again"
    return ImportedDraft(
        instance.external_id, criterion.text, score, tuple(rows), reason, draw.text("raw"), samples, rung=rung
    )


def _build_work(
    draw: _Draw,
    instances: tuple[Instance, ...],
    criteria: tuple[Criterion, ...],
    runs: tuple[ImportedRun, ...],
) -> Iterator[ImportedSubmission]:
    groups = dict(zip(("Ann", "007", "נועה 🌱", "NA"), draw.random.choices([None, *Group], k=4), strict=True))
    for instance in instances:
        for criterion in criteria:
            for person, group in groups.items():
                if draw.random.random() < 0.6:
                    key = instance.external_id, criterion.text
                    drafts = {
                        run.run.label: draft
                        for run in runs
                        for draft in run.drafts
                        if (draft.instance, draft.criterion) == key
                    }
                    yield _build_submission(draw, person, group, instance, criterion, drafts)


def _build_submission(
    draw: _Draw,
    person: str,
    group: Group | None,
    instance: Instance,
    criterion: Criterion,
    drafts: dict[str, ImportedDraft],
) -> ImportedSubmission:
    label = draw.random.choice(["", *drafts])
    drafted = drafts[label].rows if label else ()
    rows = [_act(draw, place, row, instance) for place, row in enumerate(drafted)]
    for kind in draw.random.choices(list(RowKind), k=draw.random.randint(0, 2)):
        text = _quote(draw, instance.output) if kind is RowKind.EVIDENCE else draw.text("added")
        rows.append(ScrutinyRow(kind, Action.ADD, None, draw.random.choice(("", draw.text("why"))), text))
    arm = draw.random.choice((Arm.ASSISTED, Arm.FIRST)) if label else Arm.BLIND
    return ImportedSubmission(
        person,
        instance.external_id,
        criterion.text,
        draw.random.choice((None, float(criterion.scale.low), float(criterion.scale.high))),
        tuple(rows),
        draw.random.choice(("", draw.time())),
        draw.random.choice(("", draw.time())),
        arm,
        label,
        draw.random.choice((None, float(criterion.scale.high))) if label else None,
        draw.random.choice(("", "score")) if arm is Arm.ASSISTED else "",
        draw.random.choice((None, 0, 12_345)),
        float(criterion.scale.low) if arm is Arm.FIRST else None,
        group,
    )


def _act(draw: _Draw, place: int, row: EvaluationRow, instance: Instance) -> ScrutinyRow:
    action = draw.random.choice((Action.APPROVE, Action.DELETE, Action.REVISE))
    text = _quote(draw, instance.output) if action is Action.REVISE else ""
    return ScrutinyRow(row.kind, action, place, draw.random.choice(("", draw.text("reason"))), text)
