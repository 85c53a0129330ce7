"""Use a judge in pytest, promptfoo and Inspect: score an output and compare the scores with thresholds.

For pytest, in a test::

    from coeval.extensions.judge.runtime.adapters import assert_judged

    def test_the_answer_is_right():
        assert_judged("judge.json", input=question, output=answer(question), at_least={"Be right.": 4})

For promptfoo, use an assertion of the type ``python``. In a file ``judged.py`` beside ``promptfooconfig.yaml``::

    from coeval.extensions.judge.runtime.adapters import get_assert

and in the configuration::

    assert:
      - type: python
        value: file://judged.py
        config:
          judge: judge.json
          input: question        # the variable that holds the input
          at_least: 3.5          # or a mapping from criteria to scores

The keys ``reference`` and ``document`` may name further variables, and ``ledger`` a file.

For Inspect, in a task::

    from coeval.extensions.judge.runtime.adapters import judge_scorer

    Task(dataset=..., solver=generate(), scorer=judge_scorer("judge.json"))

It needs Inspect (``pip install "coeval[inspect]"``). The judge asks its model at the endpoint from the environment, not
through Inspect's model, so that its questions are those of the certificate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coeval.domain import Instance
from coeval.errors import CoevalError, InputError
from coeval.extensions.judge.runtime.judge import LEDGER, Asked, Judge
from coeval.settings import load_settings

if TYPE_CHECKING:
    import pandas as pd
    from inspect_ai.scorer import Scorer


AtLeast = float | Mapping[str, float]
"""The lowest accepted score, for all criteria or for named ones."""


@dataclass(frozen=True, slots=True)
class Scored:
    """One output's score on one criterion. ``score`` is nan if it is missing, and ``reason`` then says why."""

    criterion: str
    score: float
    share: float
    """The position of the score on its scale, from 0 to 1."""
    ask_person: bool
    reason: str
    least: float | None = None

    @property
    def passed(self) -> bool:
        """Return whether the score reaches its threshold. A missing score does not."""
        return self.score >= (self.least if self.least is not None else float("-inf"))

    def __str__(self) -> str:
        if self.score != self.score:
            return f"“{self.criterion}” has no score: {self.reason}"
        wanted = "" if self.least is None else f", at least {self.least:g} asked"
        return f"“{self.criterion}”: {self.score:.2f}{wanted}{' (a person should look)' if self.ask_person else ''}"


def score_output(
    judge: Judge | str | Path,
    instance: Instance,
    at_least: AtLeast | None = None,
    *,
    ledger: str | Path = LEDGER,
) -> list[Scored]:
    """Return the scores of one output on all criteria, or on those in ``at_least``.

    Raises:
        InputError: the file is not a judge, or ``at_least`` names an unknown criterion.
        ModelError: no model is set up, or it refused.
    """
    judge = judge if isinstance(judge, Judge) else Judge.load(judge)
    least = _spread(judge, at_least)
    asked = Asked(Path(ledger), load_settings(), progress=False)
    return [
        replace(score, least=least.get(score.criterion))
        for score in read_scores(judge, judge.score_instances([instance], asked))
        if score.criterion in least or not isinstance(at_least, Mapping)
    ]


def read_scores(judge: Judge, table: pd.DataFrame) -> list[Scored]:
    """Return the scores in a table of one output."""
    scales = {each.text: each.build().scale for each in judge.file.criteria}
    scored = []
    for row in table.to_dict("records"):
        criterion, score = str(row["criterion"]), float(str(row["score"]))
        scale = scales[criterion]
        share = (score - scale.low) / (scale.high - scale.low)
        scored.append(Scored(criterion, score, share, bool(row["ask_person"]), str(row["reason"])))
    return scored


def _spread(judge: Judge, at_least: AtLeast | None) -> dict[str, float]:
    criteria = [each.text for each in judge.file.criteria]
    if not isinstance(at_least, Mapping):
        return {} if at_least is None else dict.fromkeys(criteria, float(at_least))
    for name in at_least:
        if name not in criteria:
            names = "; ".join(criteria)
            raise InputError(
                f"“{str(name)[:60]}” is not a criterion of this judge; its criteria are: {names[:500]}"
            )
    return {name: float(least) for name, least in at_least.items()}


def assert_judged(
    judge: Judge | str | Path,
    *,
    input: str,
    output: str,
    at_least: AtLeast,
    reference: str = "",
    document: str = "",
    ledger: str | Path = LEDGER,
) -> None:
    """Fail if a score is too low or missing.

    Args:
        judge: a judge, or the path of its file.
        at_least: the lowest accepted score, for all criteria or for named ones.
        document: the document's id in the study, so that no example from it is shown.

    Raises:
        AssertionError: a score is too low or missing; the message lists every such criterion.
        InputError: the file is not a judge, or ``at_least`` names an unknown criterion.
        ModelError: no model is set up, or it refused.
    """
    __tracebackhide__ = True
    instance = Instance("output", input, output, document, reference=reference)
    failed = [score for score in score_output(judge, instance, at_least, ledger=ledger) if not score.passed]
    if failed:
        raise AssertionError("\n".join(map(str, failed)))


KEYS = ("judge", "input", "at_least", "reference", "document", "ledger")


def get_assert(output: str, context: Mapping[str, Any]) -> dict[str, Any]:
    """Return promptfoo's grading result: ``pass``, ``score`` from 0 to 1, ``reason``, and a part per criterion.

    An error fails the assertion and becomes its reason.
    """
    try:
        scores = _score(output, context.get("config") or {}, context.get("vars") or {})
    except CoevalError as error:
        return {"pass": False, "score": 0.0, "reason": str(error)}
    parts = [{"pass": score.passed, "score": _share(score), "reason": str(score)} for score in scores]
    return {
        "pass": all(score.passed for score in scores),
        "score": math.fsum(map(_share, scores)) / len(scores),
        "reason": "; ".join(map(str, scores)),
        "namedScores": {score.criterion: _share(score) for score in scores},
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
            f"The test has no variable “{name[:60]}”: in the config, set “input” to the variable that "
            "holds the input."
        )
    reference, document = (str(values.get(str(config.get(key, "")), "")) for key in ("reference", "document"))
    at_least = config.get("at_least")
    if at_least is not None and not isinstance(at_least, (int, float, Mapping)):
        raise InputError(
            "The key “at_least” of the config must be a number, or a mapping from criteria to numbers."
        )
    instance = Instance("output", str(values[name]), output, document, reference=reference)
    ledger = str(config.get("ledger", LEDGER))
    return score_output(str(config.get("judge", "judge.json")), instance, at_least, ledger=ledger)


def _share(scored: Scored) -> float:
    """Return the score's share of its scale: 0 for a missing score, because JSON has no nan."""
    return 0.0 if math.isnan(scored.share) else scored.share


def judge_scorer(judge: str | Path, ledger: str | Path = LEDGER) -> Scorer:
    """Return an Inspect scorer for a judge's file, with a mean and a standard error for each criterion.

    A sample's metadata may name its ``document``. Its target is the reference.

    Raises:
        InputError: the file is not a judge, or Inspect is not installed.
    """
    try:
        from inspect_ai.scorer import Score, Target, mean, scorer, stderr
        from inspect_ai.solver import TaskState
    except ImportError as error:
        raise InputError('Inspect is not installed: pip install "coeval[inspect]".') from error
    loaded = Judge.load(judge)

    @scorer(metrics={"*": [mean(), stderr()]}, name="coeval_judge")
    def build() -> Any:
        async def score(state: TaskState, target: Target) -> Score:
            instance = Instance(
                str(state.sample_id),
                state.input_text,
                state.output.completion,
                str((state.metadata or {}).get("document", "")),
                reference=target.text,
            )
            asked = Asked(Path(ledger), load_settings(), progress=False)
            table = await loaded.score_later([instance], asked)
            scores = read_scores(loaded, table)
            return Score(
                value={item.criterion: item.score for item in scores},
                answer=state.output.completion,
                explanation="\n".join(map(str, scores)),
                metadata={"ask_person": [item.criterion for item in scores if item.ask_person]},
            )

        return score

    scored: Scorer = build()
    return scored
