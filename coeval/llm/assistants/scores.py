"""Tables of assistants' scores."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from coeval.domain import Instance
from coeval.errors import InputError
from coeval.llm.assistants.catalogue import Assistant


def score_instances(assistants: Sequence[Assistant], instances: Sequence[Instance]) -> pd.DataFrame:
    """Return the assistants' scores: one row per instance (by external id), one column per assistant. Missing
    scores are nan.

    Raises:
        InputError: two assistants share a name, or one has no scoring function.
    """
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
