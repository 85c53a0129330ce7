"""DeepEval's test runs: the file its results folder gets (``testCases``), or ``EvaluationResult`` as JSON.

Shape: ``TestRun``, ``LLMApiTestCase``, ``MetricData`` and ``TestResult`` of deepeval 4.3.
"""

from __future__ import annotations

from pathlib import Path

from coeval.datasets.gathering import Gathering, build_instance, name_answer
from coeval.datasets.json_nodes import Node, load_node, peek
from coeval.datasets.judgments import Judgment
from coeval.datasets.tool_format import tool_format
from coeval.domain import Scale

TOOL = "DeepEval"
_CASES = ("testCases", "conversationalTestCases", "test_results", "testResults")
_CONTEXT = ("context", "retrievalContext", "retrieval_context", "scenario", "metadata", "additional_metadata")


def _is_run(path: Path) -> bool:
    head = peek(path)
    return any("metricsData" in case.value or "metrics_data" in case.value for case in _list_cases(head))


def _list_cases(file: Node) -> list[Node]:
    lists = [file] if isinstance(file.value, list) else [file.get(name) for name in _CASES]
    cases = [case for each in lists if isinstance(each.value, list) for case in each.items()]
    return [case for case in cases if isinstance(case.value, dict)]


def _read(path: Path, gathering: Gathering) -> None:
    for number, case in enumerate(_list_cases(load_node(path)), 1):
        _read_case(case, number, gathering)


def _read_case(case: Node, number: int, gathering: Gathering) -> None:
    turns = case.get("turns")
    question = case.get("input").chat() or case.get("scenario").text()
    output = turns.text() if turns.value else case.get("actualOutput", "actual_output").text()
    key = name_answer(case.get("name").name() or f"case {number}", "", output)
    context = {
        name: case.get(name).text() for name in _CONTEXT if name != "scenario" or case.get("input").value
    }
    instance = build_instance(
        key,
        question,
        output,
        reference=case.get("expectedOutput", "expected_output", "expectedOutcome", "expected_outcome").text(),
        context=context,
    )
    if not gathering.add_instance(instance, case.place):
        return
    for metric in case.get("metricsData", "metrics_data").items():
        _read_metric(metric, key, gathering)


def _read_metric(metric: Node, instance: str, gathering: Gathering) -> None:
    criterion = metric.get("name").name()
    score = metric.get("score").number()
    gathering.add(
        Judgment(
            instance=instance,
            criterion=criterion,
            by=metric.get("evaluationModel", "evaluation_model").name() or TOOL,
            score=score,
            comment=metric.get("reason").text(),
            reason=metric.get("error").text(),
        ),
        metric.place,
    )
    # DeepEval scores from 0 to 1; a metric of one's own may not
    if score is None or 0 <= score <= 1:
        gathering.scales.setdefault(criterion, Scale(0, 1))
    else:
        gathering.scales.pop(criterion, None)


FORMAT = tool_format("deepeval", "DeepEval test results (JSON)", TOOL, _is_run, _read)
