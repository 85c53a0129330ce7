"""Judge items with a protocol. Unreadable answers become unscored drafts with a reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from coeval.domain import Ask, ImportedDraft, Instance
from coeval.llm.client.failures import ABOUT_THE_TEXT, UNREAD, CallError
from coeval.llm.protocols.protocol import Item, Judgment, Protocol
from coeval.llm.running.pool import OnResult, run_all
from coeval.llm.running.progress import Progress, Summary
from coeval.llm.running.runner import Runner
from coeval.rules.column_roles import ImageError

UNFORESEEN = (ValueError, TypeError, LookupError, ArithmeticError, RecursionError)
"""Errors that an unexpected answer may raise. They leave only that item unscored."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The result for an item: a draft for each of its criteria, scored or not."""

    judgment: Judgment
    about_the_text: bool = False
    """True if the failure concerns only this text."""

    def unread(self) -> str:
        """Return the reason why no answer could be read, or "" if one could."""
        if compared := self.judgment.comparisons:
            return compared[0].reason if all(one.preference is None for one in compared) else ""
        unscored = [draft for draft in self.judgment.drafts.values() if draft.score is None]
        if self.about_the_text or len(unscored) < len(self.judgment.drafts):
            return ""
        raw = " ".join(unscored[0].raw[:200].split())
        return f"{unscored[0].reason} What came: {raw}" if raw else unscored[0].reason


async def judge_item(protocol: Protocol, ask: Ask, item: Item, instance: Instance, remedy: str) -> Judged:
    """Return the drafts of an item. ``remedy`` is the last sentence in the reason of unscored drafts.

    Raises:
        CallError: the endpoint gave no answer, but may give one later.
    """
    try:
        return Judged(await protocol.judge(ask, item, instance))
    except CallError as error:
        if error.kind not in UNREAD:
            raise
        judgment = unscored(item, instance, f"{error} {remedy}", error.received)
        return Judged(judgment, error.kind in ABOUT_THE_TEXT)
    except ImageError as error:
        return Judged(unscored(item, instance, f"{error} {remedy}"), about_the_text=True)
    except UNFORESEEN as error:
        said = f"The answer could not be read ({type(error).__name__}: {str(error)[:200]}). {remedy}"
        return Judged(unscored(item, instance, said))


def unscored(item: Item, instance: Instance, reason: str, raw: str = "") -> Judgment:
    """Return an unscored draft for every criterion of an item."""
    blank = ImportedDraft(instance.external_id, "", None, reason=reason, raw=raw)
    return Judgment(dict.fromkeys(item.criteria, blank))


async def judge_all(
    protocol: Protocol,
    runner: Runner,
    instances: Mapping[int, Instance],
    remedy: str,
    *,
    on_result: OnResult[Item, Judged],
    protocol_of: Callable[[Instance], Protocol] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    on_progress: Callable[[Progress], None] | None = None,
) -> Summary:
    """Judge every instance on every criterion of the protocol's brief; see ``run_all``.

    ``protocol_of`` returns the protocol for an instance, if they differ.
    """

    async def judge(item: Item) -> Judged:
        instance = instances[item.instance]
        own = protocol_of(instance) if protocol_of else protocol
        return await judge_item(own, runner.ask, item, instance, remedy)

    items = protocol.group((instance, by) for instance in instances for by in protocol.brief.criteria)
    return await run_all(
        items,
        judge,
        concurrency=runner.judgments,
        on_result=on_result,
        should_stop=should_stop,
        on_progress=on_progress,
        total=len(items),
        usage=runner.usage,
        unread=Judged.unread,
    )
