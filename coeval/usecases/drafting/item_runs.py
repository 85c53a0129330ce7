"""A run of a model over items of an extension, such as instances: asked through the ledger, and continued by label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self, TypeVar

from coeval.datasets.text import check_text
from coeval.domain import Ask, Message, Request
from coeval.domain.runs import Parameters
from coeval.errors import InputError
from coeval.llm.running.pool import Outcome, run_all
from coeval.llm.running.progress import Progress
from coeval.rules.answer_forms import tell_forms
from coeval.store import Database
from coeval.usecases.access import Context
from coeval.usecases.drafting.model_requests import build_runner

MAX_LABEL = 200

Item = TypeVar("Item")


class Part(Protocol):
    """A part of an answer, such as a judgment; a ``reason`` means that it could not be read."""

    @property
    def reason(self) -> str: ...
    @property
    def rung(self) -> str: ...


AnyPart = TypeVar("AnyPart", bound=Part)


@dataclass(frozen=True, slots=True)
class ItemSettings(Parameters):
    """The settings of a run. A run with an existing label continues with the missing items."""

    model: str = ""
    label: str = ""
    limit: int = 0
    """The largest number of items to ask about now; 0 for all."""
    retry_unscored: bool = False
    """True to ask again about items with unreadable answers."""
    replay: bool = False
    concurrency: int = 0
    """The number of simultaneous requests; 0 for that of the server."""

    def complete(self, context: Context, suffix: str = "") -> Self:
        """Return the settings with a model and a label; the default label is the model and the suffix.

        Raises:
            ModelError: no model is set up.
            InputError: the label is too long.
        """
        build_runner(context, concurrency=1, replay=self.replay)
        model = self.model or context.settings.model
        if not model:
            raise InputError("No model is set: use --model, or set the model in the environment.")
        label = check_text(" ".join((self.label or f"{model}{suffix}").split()), "The label")
        if len(label) > MAX_LABEL:
            raise InputError(f"The label of the run needs 1 to {MAX_LABEL} characters: give a shorter one.")
        return replace(self, model=model, label=label)

    def build_request(self, question: str, schema: Mapping[str, Any]) -> Request:
        """Return a question to the model, with an answer by the schema."""
        return Request(
            model=self.model, messages=(Message("user", question),), schema=schema, **self.parameters
        )


@dataclass(frozen=True, slots=True)
class ItemReport:
    """The result of a run: the numbers of questions, of written parts, and of unreadable ones by reason."""

    label: str
    asked: int
    written: int
    unscored: int
    failed: int
    left: int
    """The number of items that have no answer, because a request failed or the run was stopped."""
    calls: int
    cached: int
    cost: float
    reasons: Mapping[str, int]
    message: str = ""
    """Why the run was stopped, or the most frequent failure."""
    forms: tuple[str, ...] = ()
    """Sentences on the form of the answers; see ``tell_forms``."""

    @property
    def complete(self) -> bool:
        return not self.failed and not self.message

    def __str__(self) -> str:
        counts = (
            f"{self.label}: {self.asked:,} questions, {self.written:,} written, {self.unscored:,} unscored, "
            f"{self.failed:,} failed, {self.left:,} left; {self.calls:,} calls, {self.cached:,} from the ledger."
        )
        return " ".join(filter(None, (counts, self.message, *self.forms)))


async def run_items(
    context: Context,
    settings: ItemSettings,
    items: Sequence[Item],
    ask_item: Callable[[Ask, Item], Awaitable[Sequence[AnyPart]]],
    keep: Callable[[Database, Sequence[AnyPart]], int],
    on_progress: Callable[[Progress], None] | None = None,
) -> ItemReport:
    """Ask about the items, and keep each answer as soon as it arrives; the settings must be complete.

    ``keep`` writes the parts of some answers in one transaction, and returns the number of things that it wrote.
    """
    items = items[: settings.limit] if settings.limit else items
    rungs: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    written = answered = 0

    def write(outcomes: Sequence[Outcome[Item, Sequence[AnyPart]]]) -> None:
        nonlocal written, answered
        answers = [outcome.result for outcome in outcomes if outcome.result is not None]
        parts = [part for answer in answers for part in answer]
        with context.store.write() as db:
            count = keep(db, parts)
        written, answered = written + count, answered + len(answers)
        rungs.update(part.rung for part in parts if not part.reason)
        reasons.update(part.reason for part in parts if part.reason)

    concurrency = settings.concurrency or context.settings.concurrency
    async with build_runner(context, concurrency=concurrency, replay=settings.replay) as runner:
        summary = await run_all(
            items,
            lambda item: ask_item(runner.ask, item),
            concurrency=runner.judgments,
            on_result=write,
            on_progress=on_progress,
            total=len(items),
            usage=runner.usage,
            unread=_find_unread,
        )
    unscored, usage = reasons.total(), runner.usage
    failures = [message for message, _ in summary.errors.most_common(1)]
    return ItemReport(
        settings.label, len(items), written, unscored, summary.failed, len(items) - answered, usage.calls,
        usage.cached, usage.cost, dict(reasons), summary.stopped or "".join(failures),
        tuple(tell_forms(rungs, unscored)),
    )  # fmt: skip


def _find_unread(answer: Sequence[Part]) -> str:
    """Return why an answer is unreadable; empty if a part of it was read."""
    return answer[0].reason if answer and all(part.reason for part in answer) else ""
