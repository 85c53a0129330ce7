"""Previews of a run: the full text of a request, and the estimated cost."""

from __future__ import annotations

import json
from dataclasses import dataclass
from statistics import fmean

from coeval.domain import Instance, Person, Request
from coeval.errors import NotFoundError
from coeval.llm.protocols.protocol import Item
from coeval.llm.running.forecast import Forecast, forecast
from coeval.store import Database
from coeval.store.queries import drafts, tasks
from coeval.store.queries.calls import StoredLedger
from coeval.usecases.access import OWNERS, Context, use_case
from coeval.usecases.drafting.preparation import list_left, prepare_protocol, questions_of, require_ready
from coeval.usecases.drafting.run_settings import RunSettings
from coeval.usecases.images import ShownImage, show_images

ESTIMATED_FROM = 200


@use_case(OWNERS)
def estimate_run(context: Context, person: Person, slug: str, settings: RunSettings) -> Forecast:
    """Return the estimated calls, tokens, cost and time of a pre-fill. Nothing is written.

    The estimate is based on about ``ESTIMATED_FROM`` items, spread over the task.

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


# The full text of a request to the judge, before anything is paid.


@dataclass(frozen=True, slots=True)
class Question:
    """One question before it is sent: its instance, its criteria, and its texts by role."""

    instance: str
    criteria: tuple[str, ...]
    request: Request
    answers: int
    """The number of answers that the run requests for it."""
    images: tuple[ShownImage, ...] = ()
    """Its images, as people see them."""

    def __str__(self) -> str:
        turns = [
            "\n".join(
                [f"--- {turn.role} ---", turn.content, *(f"[image: {one[:200]}]" for one in turn.images)]
            )
            for turn in self.request.messages
        ]
        if self.request.schema is not None:
            turns.append(
                f"--- JSON schema of the answer ---\n{json.dumps(self.request.schema, default=dict)}"
            )
        for question in self.request.questions:
            levels = [f"{label}: {meaning}" if meaning else label for label, meaning in question.levels]
            turns.append("\n".join([f"--- {question.kind} {question.id} ---", question.text, *levels]))
        return "\n\n".join(turns)


@use_case(OWNERS)
def show_question(
    context: Context,
    person: Person,
    slug: str,
    settings: RunSettings,
    *,
    instance: str = "",
    criterion: int = 1,
) -> Question:
    """Return the first prompt to a judge for an instance and a criterion. Nothing is sent.

    ``instance`` is an external id; if it is empty, the first instance is used. ``criterion`` is the number in
    the set.

    Raises:
        NotFoundError: the instance or the criterion does not exist.
    """
    settings = settings.complete(context.settings)
    with context.store.read() as db:
        task, current = require_ready(db, slug)
        chosen = _find_instance(db, task.id, instance)
        images = show_images(db, task, chosen)
    if not 1 <= criterion <= len(current.criteria):
        raise NotFoundError(f"There is no criterion {criterion}: the set has {len(current.criteria)}.")
    protocol = prepare_protocol(context, task, current, settings)
    numbers = [member.id for member in current.criteria]
    items = protocol.group((chosen.id, number) for number in numbers)
    item = next(item for item in items if numbers[criterion - 1] in item.criteria)
    calls = protocol.render_calls(Item(chosen.id, item.criteria), chosen)
    if not calls:
        raise NotFoundError(
            f"Instance “{chosen.external_id}” has no second output of its document to compare with: "
            "choose another instance."
        )
    request, _ = calls[0]
    texts = {member.id: member.text for member in current.criteria}
    return Question(
        chosen.external_id,
        tuple(texts[number] for number in item.criteria),
        request,
        protocol.answers,
        images,
    )


def _find_instance(db: Database, task: int, external_id: str) -> Instance:
    if not external_id:
        return next(iter(tasks.list_instances(db, task, limit=1)))
    known = tasks.find_instance(db, task, external_id)
    if known is None:
        raise NotFoundError(f"There is no instance “{external_id[:80]}”: use the id of the imported file.")
    return known
