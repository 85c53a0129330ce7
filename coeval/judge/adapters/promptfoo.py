"""For promptfoo: an assertion of the type ``python``. In a file ``judged.py`` beside ``promptfooconfig.yaml``::

    from coeval.judge.adapters.promptfoo import get_assert

and in the configuration::

    assert:
      - type: python
        value: file://judged.py
        config:
          judge: judge.json
          input: question        # the variable that holds the input
          at_least: 3.5          # or a mapping from criteria to scores

The keys ``reference`` and ``document`` may name further variables, and ``ledger`` a file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from coeval.domain import Instance
from coeval.errors import CoevalError, InputError
from coeval.judge.adapters.thresholds import Scored, score_output
from coeval.judge.running.judge import LEDGER

KEYS = ("judge", "input", "at_least", "reference", "document", "ledger")


def get_assert(output: str, context: Mapping[str, Any]) -> dict[str, Any]:
    """The grading result that promptfoo takes: ``pass``, ``score`` from 0 to 1, ``reason``, a part for each criterion.

    What goes wrong fails the assertion, with the reason.
    """
    try:
        scores = _score(output, context.get("config") or {}, context.get("vars") or {})
    except CoevalError as error:
        return {"pass": False, "score": 0.0, "reason": str(error)}
    parts = [{"pass": one.passed, "score": _share(one), "reason": str(one)} for one in scores]
    return {
        "pass": all(one.passed for one in scores),
        "score": math.fsum(map(_share, scores)) / len(scores),
        "reason": "; ".join(map(str, scores)),
        "namedScores": {one.criterion: _share(one) for one in scores},
        "componentResults": parts,
    }


def _score(output: str, config: Mapping[str, Any], values: Mapping[str, Any]) -> list[Scored]:
    if unknown := sorted(set(map(str, config)) - set(KEYS)):
        raise InputError(
            f"The assertion's config has no key “{unknown[0][:60]}”; the keys are {', '.join(KEYS)}."
        )
    name = str(config.get("input", "input"))
    if name not in values:
        raise InputError(
            f"The test has no variable “{name[:60]}”: name the one that holds the input as “input” in the config."
        )
    reference, document = (str(values.get(str(config.get(key, "")), "")) for key in ("reference", "document"))
    at_least = config.get("at_least")
    if at_least is not None and not isinstance(at_least, (int, float, Mapping)):
        raise InputError(
            "The key “at_least” of the config is a number, or a mapping from criteria to numbers."
        )
    instance = Instance("output", str(values[name]), output, document, reference=reference)
    ledger = str(config.get("ledger", LEDGER))
    return score_output(str(config.get("judge", "judge.json")), instance, at_least, ledger=ledger)


def _share(one: Scored) -> float:
    """JSON has no nan: what has no score counts as nothing, and its part says why."""
    return 0.0 if math.isnan(one.share) else one.share
