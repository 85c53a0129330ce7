"""The scores of one output, and what they have to reach: shared by assertions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from coeval.domain import Instance
from coeval.errors import InputError
from coeval.judge.running.judge import LEDGER, Asked, Judge
from coeval.settings import Settings, load_settings

if TYPE_CHECKING:
    import pandas as pd

AtLeast = float | Mapping[str, float]
"""The least score by every criterion, or by those that are named."""


@dataclass(frozen=True, slots=True)
class Scored:
    """One output by one criterion; ``score`` is nan where there is none, and ``reason`` then says why."""

    criterion: str
    score: float
    share: float
    """Where the score lies on its scale, from 0 to 1."""
    ask_person: bool
    reason: str
    least: float | None = None

    @property
    def passed(self) -> bool:
        """Whether it reaches what it has to; without a score it does not."""
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
    settings: Settings | None = None,
) -> list[Scored]:
    """The scores of one output by every criterion, or by those that ``at_least`` names.

    Raises:
        InputError: the file is no judge, or ``at_least`` names no criterion of it.
        ModelError: no model is set up, or it refused.
    """
    judge = judge if isinstance(judge, Judge) else Judge.load(judge)
    least = _spread(judge, at_least)
    asked = Asked(Path(ledger), settings or load_settings(), progress=False)
    return [
        replace(one, least=least.get(one.criterion))
        for one in read_scores(judge, judge.score_instances([instance], asked))
        if one.criterion in least or not isinstance(at_least, Mapping)
    ]


def read_scores(judge: Judge, table: pd.DataFrame) -> list[Scored]:
    """What a table of one output's scores says."""
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
            known = "; ".join(criteria)
            raise InputError(f"“{str(name)[:60]}” is no criterion of this judge; they are: {known[:500]}")
    return {name: float(least) for name, least in at_least.items()}
