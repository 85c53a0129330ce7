"""The base class of protocols, and the registry of protocols by name."""

from __future__ import annotations

import pkgutil
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from itertools import groupby
from typing import Any, ClassVar, TypeVar, overload
from typing import Protocol as TypingProtocol

import coeval.llm.protocols
from coeval.domain import Ask, Comparison, Criterion, ImportedDraft, Instance, Request, Task
from coeval.errors import InputError
from coeval.extending import load_parts
from coeval.llm.prompting.template_files import JudgeOptions, hash_templates

Questions = list[tuple[Request, int]]
"""Requests with their sample numbers."""

MAX_SAMPLES = 100

EXPLAIN = ("", "uncertain", "all")
"""The decisions that a chat model explains."""


@dataclass(frozen=True, slots=True)
class Item:
    """The scope of one judgment: an instance, and the ids of the criteria that remain."""

    instance: int
    criteria: tuple[int, ...]


class Items(Sequence[Item]):
    """A sequence of items. It stores each item in a few bytes, because a run may have a million items."""

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
    """The result for an item: a draft per criterion id, and an overall rating if one was requested."""

    drafts: Mapping[int, ImportedDraft]
    overall: ImportedDraft | None = None
    comparisons: tuple[Comparison, ...] = ()
    """Comparisons of the instance, shown first, with other outputs of its document."""


class Assistant(TypingProtocol):
    """An assistant evaluator; the protocol that uses it knows its scores and its description."""

    @property
    def name(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Brief:
    """The inputs of a protocol. ``plan`` to ``scores`` are for protocols with assistants.

    ``criteria`` are keyed by id. ``scores`` holds each assistant's scores by its name and the instance's external id.
    Without assistants, the protocol runs as its own ablation.
    """

    task: Task
    criteria: Mapping[int, Criterion]
    options: JudgeOptions
    plan: str = ""
    assistants: Sequence[Any] = ()
    scores: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    rivals: Callable[[Instance], Sequence[Instance]] = lambda instance: ()
    """The other outputs of an instance's document, for protocols that compare."""


class Protocol(ABC):
    """One way to judge. Subclasses define the class attributes and the two abstract methods."""

    name: ClassVar[str]
    summary: ClassVar[str]
    """A one-line description of the question to the model."""
    answer_tokens: ClassVar[float]
    """Typical length of an answer to one question, in tokens: a rough figure for estimates, not a limit."""
    samples: ClassVar[int] = 1
    """The default number of answers to average."""
    templates: ClassVar[tuple[str, ...]]
    """The templates of its questions, without personas."""
    takes_several: ClassVar[bool] = False
    """True if one question can cover several criteria."""
    compares: ClassVar[bool] = False
    """True if the protocol compares outputs and makes no drafts."""
    explains: ClassVar[bool] = False
    """True if a chat model can explain its scores (the option ``explain``)."""
    uses_assistants: ClassVar[bool] = False
    """True if the protocol needs a plan and the scores of assistant evaluators."""

    def __init__(self, brief: Brief) -> None:
        self.brief, self.task, self.options = brief, brief.task, brief.options
        if not 1 <= self.answers <= MAX_SAMPLES:
            raise InputError(
                f"The number of samples is {self.options.samples}: for {self.name}, use 1 to {MAX_SAMPLES}."
            )
        if self.options.explain not in EXPLAIN or self.options.explain and not self.explains:
            raise InputError(
                f"The explanations are “{self.options.explain:.40}”: use uncertain or all with the protocol decision, "
                "and none with other protocols."
            )
        if self.options.criteria_per_call < 0:
            raise InputError(
                f"The number of criteria in one question is {self.options.criteria_per_call}: use 1 or "
                "more, or 0 for all."
            )
        if self.options.criteria_per_call != 1 and not self.takes_several:
            raise InputError(
                f"{self.name} asks about one criterion at a time: set the criteria in one question to 1, "
                "or use the protocol coeval."
            )

    @property
    def answers(self) -> int:
        """The number of answers to each question."""
        return self.samples if self.options.samples is None else self.options.samples

    @property
    def asks_together(self) -> bool:
        """True if one question covers several criteria of an instance."""
        return self.options.criteria_per_call != 1

    @property
    def prompt_hash(self) -> str:
        """SHA-256 over the templates, recorded with a run as its prompt."""
        return hash_templates(self.prompt_templates, self.options.templates)

    @property
    def prompt_templates(self) -> tuple[str, ...]:
        """Every template of its requests, including the persona's."""
        persona = (f"persona-{self.options.persona}",) if self.options.persona else ()
        return (*persona, *self.used_templates)

    @property
    def used_templates(self) -> tuple[str, ...]:
        """The templates of its questions, including repeated questions."""
        return (*self.templates, "reask")

    def answer_length(self, item: Item) -> float:
        """Return the typical length of an answer to one of an item's questions, in tokens."""
        return self.answer_tokens

    def group(self, pairs: Iterable[tuple[int, int]]) -> Items:
        """Group (instance, criterion) pairs, sorted by instance, into items: by default one per pair."""
        return Items(Item(instance, (criterion,)) for instance, criterion in pairs)

    @staticmethod
    def choose_assistants(
        instances: Sequence[Instance], task: Task, names: Sequence[str]
    ) -> Sequence[Assistant]:
        """Return the assistants with these names, by default all that fit the instances.

        Raises:
            InputError: there is no such assistant, or the protocol uses none.
        """
        raise InputError("This protocol uses no assistants: choose another, such as fusion.")

    @staticmethod
    def score_assistants(
        assistants: Sequence[Any], instances: Sequence[Instance]
    ) -> Mapping[str, Sequence[float]]:
        """Return each assistant's scores by its name, in the order of the instances. Missing scores are nan."""
        return {}

    @staticmethod
    async def draft_plan(
        ask: Ask,
        task: Task,
        criteria: Sequence[Criterion],
        assistants: Sequence[Any],
        options: JudgeOptions,
    ) -> str:
        """Return a plan for using the assistants, which a person can edit before a run freezes it.

        Raises:
            InputError: the protocol uses no plan, or there is nothing to plan.
            ModelError: a request failed.
            UnreadableAnswerError: no answer contains a plan.
        """
        raise InputError("This protocol uses no plan: choose a protocol with assistants, such as fusion.")

    @abstractmethod
    def render_calls(self, item: Item, instance: Instance) -> Questions:
        """Return the first questions of an item, for a run or a batch file.

        Raises:
            InputError: a template is missing or broken.
        """

    @abstractmethod
    async def judge(self, ask: Ask, item: Item, instance: Instance) -> Judgment:
        """Return the drafts of an item. A draft's score is None if no answer could be read.

        Raises:
            ModelError: a request failed.
            InputError: a template is missing or broken.
        """


def group_by_instance(pairs: Iterable[tuple[int, int]], most: int = 0) -> Items:
    """Return one item per instance, or several items with at most ``most`` criteria each.

    >>> group_by_instance([(1, 7), (1, 8), (1, 9), (2, 7)], most=2)[0]
    Item(instance=1, criteria=(7, 8))
    """

    def grouped() -> Iterator[Item]:
        for instance, some in groupby(pairs, key=lambda pair: pair[0]):
            criteria = tuple(criterion for _, criterion in some)
            step = most or len(criteria)
            yield from (Item(instance, criteria[at : at + step]) for at in range(0, len(criteria), step))

    return Items(grouped())


ENTRY_POINTS = "coeval.protocols"
"""The entry point group for modules of installed packages that register protocols."""

FIRST = "coeval"
"""The first protocol in lists, and the default."""

P = TypeVar("P", bound=type[Protocol])
_REGISTERED: dict[str, type[Protocol]] = {}


def register(protocol: P) -> P:
    """Register a protocol under its name. This is a class decorator."""
    _REGISTERED[protocol.name] = protocol
    return protocol


def list_protocols() -> Mapping[str, type[Protocol]]:
    """Return every protocol by name: the default first, then the others in alphabetical order."""
    _load()
    return dict(sorted(_REGISTERED.items(), key=lambda pair: (pair[0] != FIRST, pair[0])))


def get_protocol(name: str) -> type[Protocol]:
    """Return the protocol with this name.

    Raises:
        InputError: there is no such protocol; the message lists the names.
    """
    protocols = list_protocols()
    if name not in protocols:
        raise InputError(f"There is no protocol {name!r}: use one of {', '.join(protocols)}.")
    return protocols[name]


def build_protocol(brief: Brief) -> Protocol:
    """Return the protocol that the brief's options name.

    Raises:
        InputError: there is no such protocol, or it does not support this number of samples.
    """
    return get_protocol(brief.options.protocol)(brief)


@cache
def _load() -> None:
    """Import every file in this folder and its subfolders, and the modules that installed packages register."""
    for module in pkgutil.walk_packages(coeval.llm.protocols.__path__, f"{coeval.llm.protocols.__name__}."):
        import_module(module.name)
    load_parts("protocols")
    for entry in entry_points(group=ENTRY_POINTS):
        entry.load()
