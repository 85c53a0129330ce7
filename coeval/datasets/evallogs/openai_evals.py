"""OpenAI evals as JSON Lines: the record that ``oaieval`` writes, and the output items of the hosted evals.

Shape: ``evals/record.py`` of openai/evals (``spec``, then events of a sample), and ``OutputItemListResponse`` of the
openai package.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from coeval.datasets.gathering import Gathering, build_instance, name_answer
from coeval.datasets.json_nodes import Node, load_node, peek
from coeval.datasets.judgments import Judgment
from coeval.datasets.tool_format import tool_format
from coeval.domain import Scale

TOOL = "OpenAI evals"
_ITEM = "eval.run.output_item"
_SCORED = ("match", "metrics")
"""Kinds of event that say how good a sample is."""


def _is_record(path: Path) -> bool:
    head = peek(path)
    records = head.get("data") if isinstance(head.value, dict) else head
    if not isinstance(records.value, list):
        return False
    return any(
        isinstance(record, dict)
        and (
            record.get("object") == _ITEM
            or isinstance(record.get("spec"), dict)
            and "eval_name" in record["spec"]
        )
        for record in records.value
    )


def _read(path: Path, gathering: Gathering) -> None:
    file = load_node(path)
    records = (file.get("data") if isinstance(file.value, dict) else file).items()
    events: dict[str, list[Node]] = defaultdict(list)
    spec = Node(None, path.name)
    for record in records:
        if record.get("object").value == _ITEM:
            _read_item(record, gathering)
        elif record.get("spec").value:
            spec = record.get("spec")
        elif record.get("sample_id").value is not None:
            events[record.get("sample_id").name()].append(record)
    for sample, given in events.items():
        _read_sample(sample, given, spec, gathering)


def _read_sample(sample: str, events: list[Node], spec: Node, gathering: Gathering) -> None:
    """One sample: its first answer is the model's, those after it are the grader's."""
    models = [model.name() for model in spec.get("completion_fns").items()]
    system = models[0] if models else spec.get("completion_fn").name()
    judge = models[-1] if len(models) > 1 else spec.get("eval_name").name() or TOOL
    answers = [event.get("data") for event in events if event.get("type").value == "sampling"]
    if not answers:
        gathering.left["Samples without an answer, left out"] += 1
        return
    output = _join(answers[0].get("sampled"))
    key = name_answer(sample, system, output)
    expected = [event.path("data", "expected") for event in events if event.get("type").value == "match"]
    instance = build_instance(
        key,
        answers[0].get("prompt").chat(),
        output,
        system=system,
        reference=_join(expected[0]) if expected else "",
    )
    if not gathering.add_instance(instance, events[0].place):
        return
    told = _join(answers[-1].get("sampled")) if len(answers) > 1 else ""
    for event in events:
        if event.get("type").value in _SCORED:
            _read_scores(event, key, judge, told, gathering)


def _read_scores(event: Node, instance: str, judge: str, told: str, gathering: Gathering) -> None:
    data = event.get("data")
    if data.get("score").value is not None:  # the choice is what the score stands for
        told = "\n".join(filter(None, (told, data.get("choice").text())))
    names = ["correct"] if event.get("type").value == "match" else [name for name, _ in data.entries()]
    for name in names:
        score = data.get(name).number()
        label = data.get(name).value
        chosen = name == "choice" and isinstance(label, str) and data.get("score").value is None
        if score is None and not chosen:
            continue
        labels = None if score is not None else (str(label),)
        if isinstance(label, bool):
            gathering.scales.setdefault(name, Scale(0, 1))
        gathering.add(
            Judgment(instance=instance, criterion=name, by=judge, score=score, labels=labels, comment=told),
            event.place,
        )


def _read_item(item: Node, gathering: Gathering) -> None:
    sample = item.get("sample")
    system = sample.get("model").name()
    output = _reply(sample.get("output"))
    key = name_answer(item.get("datasource_item_id", "id").name(), system, output)
    context = {name: value.text() for name, value in item.get("datasource_item").entries()}
    instance = build_instance(key, sample.get("input").chat(), output, system=system, context=context)
    if not gathering.add_instance(instance, item.place):
        return
    for result in item.get("results").items():
        score = result.get("score").number()
        graded = (
            _reply(result.path("sample", "output")) if isinstance(result.get("sample").value, dict) else ""
        )
        gathering.add(
            Judgment(
                instance=key,
                criterion=result.get("name").name(),
                by=result.path("sample", "model").name() or TOOL,
                score=result.get("passed").number() if score is None else score,
                comment=graded,
            ),
            result.place,
        )


def _reply(messages: Node) -> str:
    """What was answered: the words of one message, or several as a conversation."""
    if isinstance(messages.value, list) and len(messages.value) == 1:
        return messages.items()[0].get("content").text()
    return messages.text()


def _join(texts: Node) -> str:
    if isinstance(texts.value, list):
        return "\n".join(text.text() for text in texts.items())
    return texts.text()


FORMAT = tool_format("openai-evals", "OpenAI evals (JSON Lines)", TOOL, _is_record, _read)
