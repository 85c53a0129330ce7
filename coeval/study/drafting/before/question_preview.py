"""The question that a judge would be asked, in full, before anything is paid."""

from __future__ import annotations

import json
from dataclasses import dataclass

from coeval.domain import Instance, Person, Request
from coeval.errors import NotFoundError
from coeval.llm.protocols.protocol import Item
from coeval.store import Database
from coeval.store.queries import tasks
from coeval.study.access import OWNERS, Context, use_case
from coeval.study.drafting.preparing import prepare_protocol, require_ready
from coeval.study.drafting.run_settings import RunSettings
from coeval.study.hosting.image_hosts import ShownImage, show_images


@dataclass(frozen=True, slots=True)
class Question:
    """One question as it would be sent: which instance and criteria it is about, and its texts by role."""

    instance: str
    criteria: tuple[str, ...]
    request: Request
    answers: int
    """How many answers to it the run asks for."""
    images: tuple[ShownImage, ...] = ()
    """Those that go with it, as people see them."""

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
    """See the first question that a judge would be asked about an instance by a criterion. Nothing is sent.

    ``instance`` is an external id, the first one where it is empty; ``criterion`` is the number in the set.

    Raises:
        NotFoundError: there is no such instance or criterion.
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
            f"Instance “{chosen.external_id}” has no other output of its document to compare with."
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
    known = tasks.get_instances_by_external_id(db, task, [external_id])
    if external_id not in known:
        raise NotFoundError(f"There is no instance “{external_id[:80]}”: use the id of the imported file.")
    return known[external_id]
