"""Import results of evaluation runs: DeepEval, promptfoo.

- DeepEval. Shape: ``TestRun``, ``LLMApiTestCase``, ``MetricData`` and ``TestResult`` of deepeval 4.3.
- promptfoo. Shape: https://www.promptfoo.dev/docs/configuration/outputs and ``EvaluateResult`` of promptfoo 0.121 to
  0.123.
"""

from __future__ import annotations

from pathlib import Path

from coeval.datasets.json_nodes import Node, load_node, peek
from coeval.datasets.text import shorten
from coeval.domain import Scale
from coeval.extensions.exchange.records import Fields
from coeval.extensions.exchange.tool_files import (
    Gathering,
    Judgment,
    build_instance,
    name_answer,
    tool_format,
)

DEEPEVAL = "DeepEval"
_DEEPEVAL_FIELDS = Fields(
    "testRunData testCases conversationalTestCases test_results testResults name input actualOutput actual_output "
    "expectedOutput expected_output expectedOutcome expected_outcome metricsData metrics_data score reason error "
    "evaluationModel evaluation_model",
    kept="turns scenario context retrievalContext retrieval_context metadata additional_metadata additionalMetadata "
    "toolsCalled tools_called expectedTools expected_tools comments tags",
)
_CASES = ("testCases", "conversationalTestCases", "test_results", "testResults")
_WRAPPED = "testRunData"
_CONTEXT = (
    "context", "retrievalContext", "retrieval_context", "scenario", "metadata", "additional_metadata",
    "additionalMetadata", "toolsCalled", "tools_called", "expectedTools", "expected_tools", "comments", "tags",
)  # fmt: skip


def _is_run(path: Path) -> bool:
    head = peek(path)
    return any("metricsData" in case.value or "metrics_data" in case.value for case in _list_cases(head))


def _list_cases(file: Node) -> list[Node]:
    file = (
        file
        if isinstance(file.value, list)
        else file.get(_WRAPPED)
        if _WRAPPED in (file.value or ())
        else file
    )
    lists = [file] if isinstance(file.value, list) else [file.get(name) for name in _CASES]
    cases = [case for each in lists if isinstance(each.value, list) for case in each.items()]
    return [case for case in cases if isinstance(case.value, dict)]


def _read_deepeval(path: Path, gathering: Gathering) -> None:
    file = load_node(path)
    _DEEPEVAL_FIELDS.count_others(gathering, [file])
    for number, case in enumerate(_list_cases(file), 1):
        _read_case(case, number, gathering)
    _state_scales(gathering)


def _state_scales(gathering: Gathering) -> None:
    """State 0-1, the scale of both tools, for each criterion without a score beyond it, as a user's metric may have."""
    beyond = {
        each.criterion for each in gathering.judgments if each.score is not None and not 0 <= each.score <= 1
    }
    names = {each.criterion for each in gathering.judgments}
    gathering.scales = dict.fromkeys(names - beyond, Scale(0, 1))


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
    score, error = metric.get("score").number(), metric.get("error").text()
    gathering.add(
        Judgment(
            instance=instance,
            criterion=criterion,
            by=metric.get("evaluationModel", "evaluation_model").name() or DEEPEVAL,
            score=score,
            comment="\n".join(
                filter(None, (metric.get("reason").text(), error if score is not None else ""))
            ),
            reason=error,
        ),
        metric.place,
    )


DEEPEVAL_FORMAT = tool_format("deepeval", "DeepEval test results (JSON)", DEEPEVAL, _is_run, _read_deepeval)


PROMPTFOO = "promptfoo"
_PROMPTFOO_FIELDS = Fields(
    "results provider provider.label provider.id testIdx promptIdx testCase options repeatIndex response output prompt "
    "prompt.raw gradingResult componentResults assertion type value metric "
    "componentResults.score componentResults.reason componentResults.comment",
    kept="results.vars .vars response.output",
)
MANUAL = "human"
"""The kind of assertion that has a rating from promptfoo's viewer."""


def _list_rows(file: Node) -> list[Node]:
    """Return the results of a file: a list of them, or under ``results``, in older versions once, in newer twice."""
    while isinstance(file.value, dict) and "results" in file.value:
        file = file.get("results")
    return file.items() if isinstance(file.value, list) else []


def _is_results(path: Path) -> bool:
    rows = [row.value for row in _list_rows(peek(path))]
    return any(isinstance(row, dict) and {"prompt", "vars", "provider"} <= row.keys() for row in rows)


def _read_promptfoo(path: Path, gathering: Gathering) -> None:
    gathering.fields = ("Prompt", "Output")
    file = load_node(path)
    _PROMPTFOO_FIELDS.count_others(gathering, [file])
    for number, row in enumerate(_list_rows(file)):
        _read_row(row, number, gathering)
    _state_scales(gathering)


def _read_row(row: Node, number: int, gathering: Gathering) -> None:
    system = _name_provider(row.get("provider"))
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


def _name_provider(provider: Node) -> str:
    if not isinstance(provider.value, dict):
        return provider.name()
    return provider.get("label").name() or provider.get("id").name()


def _read_grade(part: Node, instance: str, gathering: Gathering) -> None:
    assertion = part.get("assertion")
    kind = assertion.get("type").name()
    told = assertion.get("value")
    text = told.text() if isinstance(told.value, str) else ""
    criterion = (
        assertion.get("metric").name() or shorten(": ".join(filter(None, (kind, text))), 200) or "score"
    )
    if assertion.get("metric").value is not None:
        gathering.left["Types and values of assertions that have a metric, left out"] += 1
    judge = _name_provider(assertion.get("provider"))
    score = part.get("score").number()
    gathering.add(
        Judgment(
            instance=instance,
            criterion=criterion,
            by="" if kind == MANUAL else judge or PROMPTFOO,
            person=kind == MANUAL,
            score=part.get("pass").number() if score is None else score,
            comment="\n".join(filter(None, (part.get("reason").text(), part.get("comment").text()))),
        ),
        part.place,
    )


PROMPTFOO_FORMAT = tool_format(
    "promptfoo", "promptfoo results (JSON)", PROMPTFOO, _is_results, _read_promptfoo
)
