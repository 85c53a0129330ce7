"""promptfoo's results as JSON (``promptfoo eval --output results.json``), versions 2 and 3 of its summary.

Shape: https://www.promptfoo.dev/docs/configuration/outputs and ``EvaluateResult`` of promptfoo 0.121 to 0.123.
"""

from __future__ import annotations

from pathlib import Path

from coeval.datasets.gathering import Gathering, build_instance, name_answer
from coeval.datasets.json_nodes import Node, load_node, peek
from coeval.datasets.judgments import Judgment
from coeval.datasets.text import shorten
from coeval.datasets.tool_format import tool_format
from coeval.domain import Scale

TOOL = "promptfoo"
MANUAL = "human"
"""The kind of assertion that a rating given in the viewer is."""


def _is_results(path: Path) -> bool:
    summary = peek(path).get("results")
    rows = summary.get("results").value if isinstance(summary.value, dict) else None
    return isinstance(rows, list) and any(isinstance(row, dict) and "prompt" in row for row in rows)


def _read(path: Path, gathering: Gathering) -> None:
    gathering.fields = ("Prompt", "Output")
    rows = load_node(path).path("results", "results").items()
    for number, row in enumerate(rows):
        _read_row(row, number, gathering)


def _read_row(row: Node, number: int, gathering: Gathering) -> None:
    provider = row.get("provider")
    system = (provider.get("label", "id") if isinstance(provider.value, dict) else provider).name()
    output = row.path("response", "output").text()
    test = row.get("testIdx").number()
    name = f"test {number if test is None else int(test)}, prompt {int(row.get('promptIdx').number() or 0)}"
    repeat = int(row.path("testCase", "options", "repeatIndex").number() or 0)
    key = name_answer(name, system, output, repeat + 1)
    context = {label: value.text() for label, value in row.get("vars").entries()}
    instance = build_instance(key, row.path("prompt", "raw").chat(), output, system=system, context=context)
    if not gathering.add_instance(instance, row.place):
        return
    grading = row.get("gradingResult")
    parts = grading.get("componentResults").items()
    for part in parts or ([grading] if grading.value else [row]):
        _read_grade(part, key, gathering)


def _read_grade(part: Node, instance: str, gathering: Gathering) -> None:
    assertion = part.get("assertion")
    kind = assertion.get("type").name()
    told = assertion.get("value")
    text = told.text() if isinstance(told.value, str) else ""
    criterion = (
        assertion.get("metric").name() or shorten(": ".join(filter(None, (kind, text))), 200) or "score"
    )
    provider = assertion.get("provider")
    judge = (provider.get("label", "id") if isinstance(provider.value, dict) else provider).name()
    score = part.get("score").number()
    gathering.add(
        Judgment(
            instance=instance,
            criterion=criterion,
            by="" if kind == MANUAL else judge or TOOL,
            person=kind == MANUAL,
            score=part.get("pass").number() if score is None else score,
            comment="\n".join(filter(None, (part.get("reason").text(), part.get("comment").text()))),
        ),
        part.place,
    )
    if score is None or 0 <= score <= 1:
        gathering.scales.setdefault(criterion, Scale(0, 1))
    else:
        gathering.scales.pop(criterion, None)


FORMAT = tool_format("promptfoo", "promptfoo results (JSON)", TOOL, _is_results, _read)
