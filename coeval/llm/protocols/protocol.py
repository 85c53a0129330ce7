"""What every protocol is: how items are grouped, which questions they take, and what answers come to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import ClassVar, overload

from coeval.domain import Ask, Comparison, Criterion, ImportedDraft, Instance, Request, Task
from coeval.errors import InputError
from coeval.llm.assistants.catalogue import Assistant
from coeval.llm.prompting.options import JudgeOptions
from coeval.llm.prompting.template_files import hash_templates

Questions = list[tuple[Request, int]]
"""Requests, each with the number of its sample."""

MAX_SAMPLES = 100


@dataclass(frozen=True, slots=True)
class Item:
    """What one judgment covers: an instance, and the criteria it is still to be drafted by, by their ids."""

    instance: int
    criteria: tuple[int, ...]


class Items(Sequence[Item]):
    """Items in their order, a few bytes each: a run may have a million."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._instances, self._groups = array("q"), array("l")
        numbers: dict[tuple[int, ...], int] = {}
        for item in items:
            self._instances.append(item.instance)
            self._groups.append(numbers.setdefault(item.criteria, len(numbers)))
        self._criteria = tuple(numbers)

    def __len__(self) -> int:
        return len(self._instances)

    @overload
    def __getitem__(self, at: int) -> Item: ...
    @overload
    def __getitem__(self, at: slice) -> list[Item]: ...
    def __getitem__(self, at: int | slice) -> Item | list[Item]:
        if isinstance(at, slice):
            return [self[n] for n in range(len(self))[at]]
        return Item(self._instances[at], self._criteria[self._groups[at]])


@dataclass(frozen=True, slots=True)
class Judgment:
    """What came of an item: a draft by each criterion's id, and a rating of the whole where one was asked for."""

    drafts: Mapping[int, ImportedDraft]
    overall: ImportedDraft | None = None
    comparisons: tuple[Comparison, ...] = ()
    """What came of comparing the instance, shown first, with others of its document."""


@dataclass(frozen=True, slots=True)
class Brief:
    """Everything that a run gives a protocol; ``plan`` to ``scores`` are for those that use assistants.

    ``criteria`` by their ids; ``scores`` holds each assistant's scores by its name and the instance's external
    id; without assistants it is the ablation.
    """

    task: Task
    criteria: Mapping[int, Criterion]
    options: JudgeOptions
    plan: str = ""
    assistants: Sequence[Assistant] = ()
    scores: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    rivals: Callable[[Instance], Sequence[Instance]] = lambda instance: ()
    """The other outputs of an instance's document, for protocols that compare."""


class Protocol(ABC):
    """One way to judge. Subclasses give the class attributes and the two abstract methods."""

    name: ClassVar[str]
    summary: ClassVar[str]
    """One line that says what the model is asked for."""
    answer_tokens: ClassVar[float]
    """Tokens of a usual answer to one question: a rough figure for an estimate, not a limit."""
    samples: ClassVar[int] = 1
    """Answers that are asked for and averaged where the user does not say how many."""
    fewest_samples: ClassVar[int] = 1
    templates: ClassVar[tuple[str, ...]]
    """The templates that its questions are rendered from, personas aside."""
    takes_several: ClassVar[bool] = False
    """Whether it can ask by several criteria in one question, where the options say so."""
    compares: ClassVar[bool] = False
    """Whether it makes comparisons of outputs rather than drafts."""
    uses_assistants: ClassVar[bool] = False
    """Whether it takes a plan and the scores of assistant evaluators."""

    def __init__(self, brief: Brief) -> None:
        self.brief, self.task, self.options = brief, brief.task, brief.options
        if not self.fewest_samples <= self.answers <= MAX_SAMPLES:
            raise InputError(
                f"{self.options.samples} samples cannot be asked for with {self.name}: use {self.fewest_samples} "
                f"to {MAX_SAMPLES}."
            )
        if self.options.criteria_per_call < 0:
            raise InputError(
                f"{self.options.criteria_per_call} criteria a question cannot be asked for: use 1 or more, or 0 "
                "for all."
            )
        if self.options.criteria_per_call != 1 and not self.takes_several:
            raise InputError(
                f"{self.name} does not ask by several criteria in one question: leave the criteria a question at 1, "
                "or use the protocol coeval."
            )

    @property
    def answers(self) -> int:
        """How many answers each question is asked for."""
        return self.samples if self.options.samples is None else self.options.samples

    @property
    def prompt_hash(self) -> str:
        """SHA-256 over the templates: what a run records as the prompt it was made with."""
        return hash_templates(self.prompt_templates, self.options.templates)

    @property
    def prompt_templates(self) -> tuple[str, ...]:
        """Every template that its requests are made from, the persona's among them."""
        persona = (f"persona-{self.options.persona}",) if self.options.persona else ()
        return (*persona, *self.used_templates)

    @property
    def used_templates(self) -> tuple[str, ...]:
        """The templates of its questions, those that ask again among them."""
        return (*self.templates, "reask")

    def answer_length(self, item: Item) -> float:
        """Tokens of a usual answer to one question of an item."""
        return self.answer_tokens

    def group(self, pairs: Iterable[tuple[int, int]]) -> Items:
        """Items of (instance, criterion) pairs that come instance by instance: here one for each pair."""
        return Items(Item(instance, (criterion,)) for instance, criterion in pairs)

    @abstractmethod
    def render_calls(self, item: Item, instance: Instance) -> Questions:
        """The first questions of an item: what a run or a batch file will send.

        Raises:
            InputError: a template is missing or broken.
        """

    @abstractmethod
    async def judge(self, ask: Ask, item: Item, instance: Instance) -> Judgment:
        """The drafts of an item; a draft's score is None where no answer could be read.

        Raises:
            ModelError: an answer could not be had.
            InputError: a template is missing or broken.
        """


def group_by_instance(pairs: Iterable[tuple[int, int]], most: int = 0) -> Items:
    """One item for each instance, or several of at most ``most`` criteria each.

    >>> group_by_instance([(1, 7), (1, 8), (1, 9), (2, 7)], most=2)[0]
    Item(instance=1, criteria=(7, 8))
    """

    def grouped() -> Iterator[Item]:
        for instance, some in groupby(pairs, key=lambda pair: pair[0]):
            criteria = tuple(criterion for _, criterion in some)
            step = most or len(criteria)
            yield from (Item(instance, criteria[at : at + step]) for at in range(0, len(criteria), step))

    return Items(grouped())
