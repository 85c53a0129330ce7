"""For Inspect: a judge as a scorer, with a mean and a standard error for each criterion.

In a task::

    from coeval.judge.adapters.inspect_scorer import judge_scorer

    Task(dataset=..., solver=generate(), scorer=judge_scorer("judge.json"))

It needs Inspect (``pip install "coeval[inspect]"``). The judge's model is asked at the endpoint that the environment
names, and not through Inspect's model, so that its questions are those of the certificate.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from coeval.domain import Instance
from coeval.errors import InputError
from coeval.judge.adapters.thresholds import read_scores
from coeval.judge.running.judge import LEDGER, Asked, Judge
from coeval.settings import load_settings

if TYPE_CHECKING:
    from inspect_ai.scorer import Scorer


def judge_scorer(judge: str | Path, ledger: str | Path = LEDGER) -> Scorer:
    """The scorer of a judge's file. A sample's metadata may name its ``document``; its target is the reference.

    Raises:
        InputError: the file is no judge, or Inspect is not installed.
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
                value={one.criterion: one.score for one in scores},
                answer=state.output.completion,
                explanation="\n".join(map(str, scores)),
                metadata={"ask_person": [one.criterion for one in scores if one.ask_person]},
            )

        return score

    scored: Scorer = build()
    return scored
