"""What a pre-fill would take, before it is begun."""

from __future__ import annotations

from statistics import fmean

from coeval.domain import Person
from coeval.llm.running.forecast import Forecast, forecast
from coeval.store.queries.drafting import drafts
from coeval.store.queries.drafting.calls import StoredLedger
from coeval.study.access import OWNERS, Context, use_case
from coeval.study.drafting.preparing import list_left, prepare_protocol, questions_of, require_ready
from coeval.study.drafting.run_settings import RunSettings

ESTIMATED_FROM = 200


@use_case(OWNERS)
def estimate_run(context: Context, person: Person, slug: str, settings: RunSettings) -> Forecast:
    """See what a pre-fill would take: calls, tokens, cost at the prices given, time. Nothing is written.

    Judged by the questions of about ``ESTIMATED_FROM`` items, spread over the task.

    Raises:
        NotFoundError: the task has no criteria set or no instances.
    """
    settings = settings.complete(context.settings)
    with context.store.read() as db:
        task, current = require_ready(db, slug)
        stored = drafts.get_run(db, task.id, settings.label)
        pairs = list(list_left(db, task, stored, current, settings))
    protocol = prepare_protocol(context, task, current, settings)
    items = protocol.group(pairs)
    some = items[:: max(1, len(items) // ESTIMATED_FROM)]
    sample = [question for item in some for question in questions_of(context, protocol, item)]
    return forecast(
        sample,
        round(len(items) * len(sample) / len(some)) if some else 0,
        settings.prices,
        ledger=StoredLedger(context.store),
        endpoint=settings.endpoint,
        concurrency=settings.concurrency,
        answer_tokens=fmean(map(protocol.answer_length, some)) if some else protocol.answer_tokens,
    )
