"""Assistant evaluators of a task: chosen by name, computed once, told to the model with their scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from coeval.domain import Instance, Person, Task
from coeval.errors import InputError
from coeval.llm.assistants.catalogue import Assistant, imported_assistant, list_assistants
from coeval.store import Database
from coeval.store.queries import tasks
from coeval.store.queries.drafting import drafts, judge_helps
from coeval.study.access import OWNERS, TEAM, Context, require_task, use_case


def parse_column(spec: str) -> tuple[str, float, float, str, str]:
    """An imported score column: ``column:low:high[:lower][:what it measures]``.

    Raises:
        InputError: the text has not that form.

    >>> parse_column("bleurt:-2:1:learned likeness to the reference")
    ('bleurt', -2.0, 1.0, 'higher', 'learned likeness to the reference')
    """
    name, *rest = (part.strip() for part in spec.split(":"))
    try:
        low, high = float(rest[0]), float(rest[1])
    except (IndexError, ValueError):
        raise InputError(
            f"“{spec}” does not name a score column: write column:low:high, such as bleurt:-2:1, and after it "
            "“lower” if lower is better, and what it measures."
        ) from None
    direction = rest[2] if len(rest) > 2 and rest[2] in ("higher", "lower") else "higher"
    told = [part for part in rest[2:] if part != direction]
    return name, low, high, direction, ": ".join(told) or f"the column {name} of the imported file"


def choose_assistants(db: Database, task: Task, names: Sequence[str]) -> list[Assistant]:
    """The assistants of these names or column specs; none stands for every measure that the task allows.

    Measures compare the output with the reference where every instance has one, else with the input.

    Raises:
        InputError: there is no such measure or column, or a column holds what is no number in its range.
    """
    return choose_among(list(tasks.list_instances(db, task.id)), task, names)


def choose_among(instances: Sequence[Instance], task: Task, names: Sequence[str]) -> list[Assistant]:
    """As `choose_assistants`, for these instances.

    Raises:
        InputError: as there.
    """
    against = "reference" if all(instance.reference for instance in instances) else "input"
    measures = {measure.name: measure for measure in list_assistants(against)}
    return [
        measures[name] if name in measures else _column(name, instances, list(measures))
        for name in names or list(measures)
    ]


def _column(spec: str, instances: Sequence[Instance], measures: Sequence[str]) -> Assistant:
    if ":" not in spec:
        raise InputError(
            f"There is no assistant “{spec}”: choose among {', '.join(measures)}, or name a score column of the "
            "imported file as column:low:high."
        )
    name, low, high, direction, told = parse_column(spec)
    given = {instance.external_id: instance.context.get(name, "") for instance in instances}
    if not any(given.values()):
        raise InputError(f"No instance has a column “{name}”: import the scores as a column of that name.")
    scores = {instance: _number(name, instance, text) for instance, text in given.items() if text}
    return imported_assistant(name, told, low, high, scores, direction=direction)


def _number(name: str, instance: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{name} of instance {instance} is “{text[:40]}”, which is no number.") from None


def ensure_scores(
    context: Context, task: Task, assistants: Sequence[Assistant]
) -> dict[str, dict[str, float]]:
    """Every assistant's scores by its name and the instance's external id; computed where they are missing."""
    from coeval.llm.assistants.scores import score_instances

    scores: dict[str, dict[str, float]] = {}
    for assistant in assistants:
        with context.store.read() as db:
            known = judge_helps.get_assistant_scores(db, task.id, assistant.name)
            left = [row for row in tasks.list_instances(db, task.id) if row.external_id not in known]
        computed: Mapping[object, float] = (
            dict(score_instances([assistant], left)[assistant.name]) if left else {}
        )
        new = {str(key): None if math.isnan(value) else float(value) for key, value in computed.items()}
        with context.store.write() as db:
            judge_helps.record_assistant_scores(db, task.id, assistant.name, new)
        scores[assistant.name] = known | {key: value for key, value in new.items() if value is not None}
    return scores


@use_case(OWNERS)
def list_assistant_names(context: Context, person: Person, slug: str) -> list[str]:
    """See which measures can assist a fusion of this task."""
    with context.store.read() as db:
        return [assistant.name for assistant in choose_assistants(db, require_task(db, slug), [])]


@use_case(TEAM)
def correlate_run(context: Context, person: Person, slug: str, label: str) -> list[dict[str, object]]:
    """See how closely a fused run follows each assistant: a sign of over-reliance where it is too close.

    Gives rows of criterion, assistant, n, pearson, spearman, kendall (tau-b), reason (where undefined).
    """
    import pandas as pd

    from coeval.llm.assistants.scores import correlate_assistants

    with context.store.read() as db:
        task = require_task(db, slug)
        run = drafts.get_run(db, task.id, label)
        if run is None:
            raise InputError(f"The task has no run “{label}”.")
        names = [str(name) for name in run.params.get("assistants", [])]  # type: ignore[attr-defined]
        scores = {name: judge_helps.get_assistant_scores(db, task.id, name) for name in names}
        fused = pd.DataFrame(drafts.list_scores(db, run.id), columns=["instance", "criterion", "score"])
    table = fused.pivot(index="instance", columns="criterion", values="score")
    return correlate_assistants(pd.DataFrame(scores), table).to_dict("records")  # type: ignore[return-value]
