"""Import the samples of EleutherAI's evaluation harness (lm-eval).

Shape: ``samples_TASK_TIME.jsonl`` of ``--log_samples`` in lm-eval 0.4. The name of the model is in
``results_TIME.json`` in the same folder.
"""

from __future__ import annotations

import re
from pathlib import Path

from coeval.datasets.json_nodes import Node, load_node
from coeval.extensions.exchange.records import Fields, load_records, peek_records
from coeval.extensions.exchange.tool_files import (
    Gathering,
    Judgment,
    build_instance,
    name_answer,
    read_number,
    tool_format,
)

TOOL = "lm-eval"
_SAMPLE = frozenset(("doc_id", "doc", "target", "arguments", "resps"))
_FILE = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[\d.-]+)")


def _is_samples(path: Path) -> bool:
    return any(record.value.keys() >= _SAMPLE for record in peek_records(path))


def _read(path: Path, gathering: Gathering) -> None:
    named = _FILE.fullmatch(path.stem)
    task = named["task"] if named else path.stem
    results = path.with_name(f"results_{named['time']}.json") if named else path
    system = ""
    if named and results.is_file():
        system = load_node(results).get("model_name").name()
        gathering.files += (results,)
    for sample in load_records(path):
        metrics = " ".join(_list_metrics(sample))
        Fields(f"doc_id filter metrics {metrics}", "doc target arguments resps").count_others(
            gathering, [sample]
        )
        _read_sample(sample, task, system, gathering)


def _read_sample(sample: Node, task: str, system: str, gathering: Gathering) -> None:
    requests = [_list_parts(each) for each in _list_parts(sample.get("arguments"))]
    answers = [_list_parts(each) for each in _list_parts(sample.get("resps"))]
    context = {name: value.text() for name, value in sample.get("doc").entries()}
    question = requests[0][0].chat() if requests and requests[0] else ""
    first = answers[0][0] if answers and answers[0] else Node(None, sample.place)
    output = first.text()
    if isinstance(first.value, list):  # log-probabilities of choices: the most probable one is the answer
        chances = [read_number(_list_parts(each[0])[0].text()) or 0.0 for each in answers]
        choices = [request[-1].text().strip() for request in requests]
        ranked = sorted(zip(chances, choices, strict=False), reverse=True)
        output = ranked[0][1] if ranked else ""
        context["log-probabilities"] = "\n".join(f"{chance:g} {choice}" for chance, choice in ranked)
    else:
        gathering.left["Further answers to a request, left out"] += sum(map(len, answers)) - 1
        gathering.left["Settings of requests, left out"] += sum(len(request) > 1 for request in requests)
    key = name_answer(f"{task} {sample.get('doc_id').text()}", system, output)
    reference = sample.get("target").text()
    built = build_instance(key, question, output, system=system, reference=reference, context=context)
    if not gathering.add_instance(built, sample.place):
        return
    kind = sample.get("filter").name()
    for metric in _list_metrics(sample):
        score = sample.get(metric).number()
        name = metric if kind in ("", "none") else f"{metric} ({kind})"
        if score is None:
            gathering.left["Metrics that have no value for a single answer, left out"] += 1
        else:
            gathering.add(Judgment(instance=key, criterion=name, by=TOOL, score=score), sample.place)


def _list_metrics(sample: Node) -> list[str]:
    """Return the names of the metrics. Versions before 0.4.3 do not list them: they are the fields with numbers."""
    names = [name.name() for name in sample.get("metrics").items()]
    return names or [
        name for name, value in sample.entries() if name != "doc_id" and value.number() is not None
    ]


def _list_parts(node: Node) -> list[Node]:
    """Return the entries of a list, or the values of an object such as ``{"arg_0": ..., "arg_1": ...}``."""
    if isinstance(node.value, dict):
        return [value for _, value in node.entries()]
    return node.items()


FORMAT = tool_format("lm-eval", "lm-evaluation-harness samples (JSON Lines)", TOOL, _is_samples,
                             _read)  # fmt: skip
