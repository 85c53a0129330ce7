"""Import runs of HELM: requests with their completions, and the statistics of each.

Shape: ``ScenarioState`` and ``PerInstanceStats`` of crfm-helm 0.5, as its runs write them (``scenario_state.json`` and
``per_instance_stats.json``).
"""

from __future__ import annotations

import re
from pathlib import Path

from coeval.datasets.json_nodes import Node, load_node, peek
from coeval.extensions.exchange.records import Fields
from coeval.extensions.exchange.tool_files import (
    Gathering,
    Judgment,
    build_instance,
    name_answer,
    tool_format,
)

TOOL = "HELM"
_STATE, _STATS = (
    frozenset(("adapter_spec", "request_states")),
    frozenset(("instance_id", "stats", "train_trial_index")),
)
_USED = re.compile(
    r"num_.*|.*_(runtime|cost|tokens)|finish_reason_.*|batch_size|logprob.*|max_prob|prompt_truncated|predicted_index"
)
"""The names of measurements of tokens, time and cost, which say nothing of an answer."""
_FIELDS = Fields(
    "adapter_spec adapter_spec.model request_states instance id input text references output tags split perturbation "
    "name mean stats train_trial_index reference_index request prompt messages result completions thinking instance_id",
    kept="output_mapping annotations messages",
)
_CORRECT = "correct"


def _is_run(path: Path) -> bool:
    head = peek(path)
    first = head.items()[:1] if isinstance(head.value, list) else [head]
    return any(isinstance(each.value, dict) and (
        each.value.keys() >= _STATE or each.value.keys() >= _STATS and isinstance(each.get("stats").value, list)
    ) for each in first)  # fmt: skip


def _read(path: Path, gathering: Gathering) -> None:
    files = [load_node(file) for file in gathering.files]
    _FIELDS.count_others(gathering, files)
    keys: dict[str, str] = {}
    for file in (file for file in files if isinstance(file.value, dict)):
        model = file.path("adapter_spec", "model").name()
        for state in file.get("request_states").items():
            _read_state(state, model, keys, gathering)
    for unit in (unit for file in files if isinstance(file.value, list) for unit in file.items()):
        name = _name_unit(unit.get("instance_id"), unit)
        for stat in unit.get("stats").items():
            _read_stat(stat, keys.get(name, name), gathering)


def _name_unit(instance: Node, unit: Node) -> str:
    """Return the name of an instance in one trial, with its perturbation."""
    changed = unit.path("perturbation", "name").name() or unit.path("instance", "perturbation", "name").name()
    trial = int(unit.get("train_trial_index").number() or 0)
    return " · ".join(filter(None, (instance.name(), changed, f"trial {trial}" if trial else "")))


def _read_state(state: Node, model: str, keys: dict[str, str], gathering: Gathering) -> None:
    instance, request = state.get("instance"), state.get("request")
    completions = state.path("result", "completions").items()
    gathering.left["Further completions of a request, left out"] += max(0, len(completions) - 1)
    name = _name_unit(instance.get("id"), state)
    reference = state.get("reference_index").number()
    output = completions[0].get("text").text() if completions else ""
    system = model or request.get("model").name()
    key = name_answer(name if reference is None else f"{name} · reference {reference:g}", system, output)
    given = instance.get("input")
    question, prompt = (
        given.get("text").text() or given.get("messages").chat(),
        request.get("messages", "prompt").text(),
    )
    correct = [each for each in instance.get("references").items()
               if _CORRECT in (each.get("tags").value or ())]  # fmt: skip
    context = {
        "prompt": prompt if prompt != question else "",
        "choices": state.get("output_mapping").text(),
        "annotations": state.get("annotations").text(),
        "thinking": completions[0].path("thinking", "text").text() if completions else "",
        "split": instance.get("split").text(),
    }
    answers = "\n".join(each.path("output", "text").text() for each in correct)
    built = build_instance(key, question, output, system=system, reference=answers, context=context)
    if gathering.add_instance(built, state.place):
        keys.setdefault(name, key)


def _read_stat(stat: Node, instance: str, gathering: Gathering) -> None:
    criterion, score = stat.path("name", "name").name(), stat.get("mean").number()
    if _USED.fullmatch(criterion):
        gathering.left["Measurements of tokens, time and cost, left out"] += 1
    else:
        gathering.add(Judgment(instance=instance, criterion=criterion, by=TOOL, score=score), stat.place)


FORMAT = tool_format("helm", "HELM runs (JSON)", TOOL, _is_run, _read, together=True)
