"""Two ways to judge: criterion by criterion, or (fusion) all criteria of an instance at once.

Both say which questions an item takes, so that a run can be estimated or written to a batch file, and both
turn answers into drafts, so that everything around them is the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

from coeval.domain import Ask, Criterion, ImportedDraft, Instance, Request, Task
from coeval.llm.assistants.catalogue import Assistant
from coeval.llm.prompting.options import JudgeOptions
from coeval.llm.protocols import by_criterion, fusion

Questions = list[tuple[Request, int]]


@dataclass(frozen=True, slots=True)
class Item:
    """What one judgment covers: an instance, and the criteria it is still to be drafted by."""

    instance: int
    criteria: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Made:
    """What came of an item: a draft by each criterion's id, and with fusion a rating of the whole."""

    drafts: Mapping[int, ImportedDraft]
    overall: ImportedDraft | None = None


class Judge(Protocol):
    """How the items of a run are judged."""

    @property
    def options(self) -> JudgeOptions: ...

    def group(self, pairs: Iterable[tuple[int, int]]) -> list[Item]:
        """Items of (instance, criterion) pairs that come instance by instance."""

    def questions(self, item: Item, instance: Instance) -> Questions:
        """The first questions of an item, each with the number of its sample."""

    async def judge(self, ask: Ask, item: Item, instance: Instance) -> Made:
        """The drafts of an item; raises ModelError where no answer could be had."""


@dataclass(frozen=True, slots=True)
class ByCriterion:
    """Every protocol but fusion: one instance by one criterion is one judgment."""

    task: Task
    criteria: Mapping[int, Criterion]
    options: JudgeOptions

    def group(self, pairs: Iterable[tuple[int, int]]) -> list[Item]:
        return [Item(instance, (criterion,)) for instance, criterion in pairs]

    def questions(self, item: Item, instance: Instance) -> Questions:
        return by_criterion.render_calls(self.task, self.criteria[item.criteria[0]], instance, self.options)

    async def judge(self, ask: Ask, item: Item, instance: Instance) -> Made:
        (criterion,) = item.criteria
        made = await by_criterion.judge(ask, self.task, self.criteria[criterion], instance, self.options)
        return Made({criterion: made})


@dataclass(frozen=True, slots=True)
class Fused:
    """Fusion-Eval: one instance by all criteria, with a frozen plan and the assistants' scores."""

    task: Task
    criteria: Mapping[int, Criterion]
    options: JudgeOptions
    plan: str
    assistants: Sequence[Assistant]
    scores: Mapping[str, Mapping[str, float]]
    """Each assistant's scores by the instance's external id; without assistants it is the ablation."""

    def group(self, pairs: Iterable[tuple[int, int]]) -> list[Item]:
        by_instance = groupby(pairs, key=lambda pair: pair[0])
        return [Item(instance, tuple(criterion for _, criterion in some)) for instance, some in by_instance]

    def _given(self, instance: Instance) -> dict[str, float | None]:
        return {one.name: self.scores.get(one.name, {}).get(instance.external_id) for one in self.assistants}

    def questions(self, item: Item, instance: Instance) -> Questions:
        judged, given = list(self.criteria.values()), self._given(instance)
        return fusion.render_fusion_calls(
            self.task, judged, instance, self.plan, self.assistants, given, self.options
        )

    async def judge(self, ask: Ask, item: Item, instance: Instance) -> Made:
        judged, given = list(self.criteria.values()), self._given(instance)
        made = await fusion.fuse(
            ask, self.task, judged, instance, self.plan, self.assistants, given, self.options
        )
        drafts = {criterion: made.drafts[self.criteria[criterion].text] for criterion in item.criteria}
        return Made(drafts, made.overall_rating)
