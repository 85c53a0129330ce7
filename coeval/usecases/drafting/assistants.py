"""A task's assistant evaluators: how they are chosen, their scores, and their descriptions in prompts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coeval.domain import ColumnRole, Instance, Person, Task
from coeval.errors import InputError
from coeval.llm.assistants import (
    DIRECTIONS,
    Assistant,
    imported_assistant,
    list_assistants,
    list_plugins,
)
from coeval.store import Database
from coeval.store.queries import drafts, tasks
from coeval.usecases.access import OWNERS, Context, require_task, use_case

if TYPE_CHECKING:
    import pandas as pd

TEXTS = ("input", "output", "reference")
"""The texts that an assistant can read."""


@dataclass(frozen=True, slots=True)
class ScoreColumn:
    """An imported score column as a person describes it."""

    name: str
    low: float
    high: float
    direction: str
    inputs: tuple[str, ...]
    description: str


def parse_column(spec: str) -> ScoreColumn:
    """Return an imported score column from ``column:low:high[:lower|neither][:input+output][:what it measures]``.

    Raises:
        InputError: the text does not have this form.

    >>> column = parse_column("nli:0:1:input+output:does the source entail the answer")
    >>> column.direction, column.inputs, column.description
    ('higher', ('input', 'output'), 'does the source entail the answer')
    """
    name, *rest = (part.strip() for part in spec.split(":"))
    try:
        low, high = float(rest[0]), float(rest[1])
    except (IndexError, ValueError):
        raise InputError(
            f"“{spec}” does not name a score column: write column:low:high:what it measures, such as "
            "nli:0:1:does the source entail the answer. Put “lower” before the description if lower is better."
        ) from None
    told = rest[2:]
    direction = told.pop(0) if told and told[0] in DIRECTIONS else "higher"
    inputs = told.pop(0).split("+") if told and set(told[0].split("+")) <= set(TEXTS) else []
    return ScoreColumn(name, low, high, direction, tuple(inputs), ": ".join(filter(None, told)))


def choose_assistants(db: Database, task: Task, names: Sequence[str]) -> list[Assistant]:
    """Return the assistants with these names or column specs; without names, all of the task's.

    A task's assistants are the measures, those of installed packages, and the columns with the role
    "assistant score". A measure compares the output with the reference if every instance has one, or else
    with the input.

    Raises:
        InputError: a measure or column does not exist, or a column contains a value that is not a number in
            its range.
    """
    return choose_among(list(tasks.list_instances(db, task.id)), task, names)


def choose_among(instances: Sequence[Instance], task: Task, names: Sequence[str]) -> list[Assistant]:
    """Choose assistants for these instances, like ``choose_assistants``.

    Raises:
        InputError: as for ``choose_assistants``.
    """
    against = "reference" if all(instance.reference for instance in instances) else "input"
    assistants = {assistant.name: assistant for assistant in [*list_assistants(against), *list_plugins()]}
    columns = [name for name, role in task.columns.items() if role is ColumnRole.ASSISTANT_SCORE]
    assistants |= {name: _column(name, instances) for name in columns if name not in assistants}
    return [
        assistants[name] if name in assistants else _spec(name, instances, list(assistants))
        for name in names or list(assistants)
    ]


def _spec(spec: str, instances: Sequence[Instance], names: Sequence[str]) -> Assistant:
    """Return the column for a spec ``column:low:high``."""
    if ":" not in spec:
        raise InputError(
            f"There is no assistant “{spec}”: choose among {', '.join(names)}, or name a score column of the "
            "imported file as column:low:high:what it measures."
        )
    told = parse_column(spec)
    return imported_assistant(
        told.name,
        told.description,
        told.low,
        told.high,
        _values(told.name, instances),
        direction=told.direction,
        inputs=told.inputs,
    )


def _column(name: str, instances: Sequence[Instance]) -> Assistant:
    """Return a column of assistant scores, with the range of its values."""
    scores = _values(name, instances)
    low, high = min(scores.values()), max(scores.values())
    return imported_assistant(name, "", low, high if high > low else low + 1, scores)


def _values(name: str, instances: Sequence[Instance]) -> dict[str, float]:
    texts = {instance.external_id: instance.context.get(name, "") for instance in instances}
    if not any(text.strip() for text in texts.values()):
        raise InputError(f"No instance has a column “{name}”: import the scores as a column of that name.")
    return {instance: _number(name, instance, text) for instance, text in texts.items() if text.strip()}


def _number(name: str, instance: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(
            f"{name} of instance {instance} is “{text[:40]}”, which is not a number: correct the "
            "imported file."
        )
    return value


def ensure_scores(
    context: Context, task: Task, assistants: Sequence[Assistant]
) -> dict[str, dict[str, float]]:
    """Return all assistants' scores by name and the instance's external id; compute missing ones."""
    scores: dict[str, dict[str, float]] = {}
    for assistant in assistants:
        with context.store.read() as db:
            stored = drafts.get_assistant_scores(db, task.id, assistant.name)
            left = [row for row in tasks.list_instances(db, task.id) if row.external_id not in stored]
        computed: Mapping[object, float] = (
            dict(score_instances([assistant], left)[assistant.name]) if left else {}
        )
        new = {str(key): None if math.isnan(value) else float(value) for key, value in computed.items()}
        with context.store.write() as db:
            drafts.record_assistant_scores(db, task.id, assistant.name, new)
        scores[assistant.name] = stored | {key: value for key, value in new.items() if value is not None}
    return scores


def score_instances(assistants: Sequence[Assistant], instances: Sequence[Instance]) -> pd.DataFrame:
    """Return the assistants' scores: one row per instance (by external id), one column per assistant. Missing
    scores are nan.

    Raises:
        InputError: two assistants share a name, or one has no scoring function.
    """
    import pandas as pd

    names = [assistant.name for assistant in assistants]
    if len(set(names)) < len(names):
        raise InputError(f"Two assistants share a name among {', '.join(names)}: give each its own.")
    columns: dict[str, list[float]] = {}
    for assistant in assistants:
        if assistant.score is None:
            raise InputError(f"{assistant.name!r} has no scores: import its column, or leave it out.")
        columns[assistant.name] = _checked(assistant, list(assistant.score(instances)), len(instances))
    index = pd.Index([instance.external_id for instance in instances], name="instance")
    return pd.DataFrame(columns, index=index, dtype=float)


def _checked(assistant: Assistant, scores: Sequence[float], n: int) -> list[float]:
    """Return the scores as numbers. A plug-in's scores are checked like scores in a file."""
    try:
        values = [float(value) for value in scores]
    except (TypeError, ValueError) as error:
        raise InputError(f"{assistant.name!r} gave a score that is not a number ({error}).") from None
    if len(values) != n:
        raise InputError(
            f"{assistant.name!r} gave {len(values)} scores for {n} instances: it must give one each."
        )
    for value in values:
        if not math.isnan(value) and not assistant.low - 1e-9 <= value <= assistant.high + 1e-9:
            raise InputError(f"{assistant.name!r} gave {value:g}, outside its range {assistant.range}.")
    return values


@use_case(OWNERS)
def list_assistant_names(context: Context, person: Person, slug: str) -> list[str]:
    """Return the names of measures, columns and plug-ins that can assist a fusion of this task."""
    with context.store.read() as db:
        return [assistant.name for assistant in choose_assistants(db, require_task(db, slug), [])]
