"""How to score by a criterion: its definition, what each score means, examples."""

from __future__ import annotations

from coeval.domain import Criterion, Person
from coeval.errors import NotFoundError
from coeval.rules.criterion_guides import build_guide
from coeval.store.queries import criteria
from coeval.study.access import OWNERS, Context, require_task, use_case


@use_case(OWNERS)
def set_guide(
    context: Context, person: Person, slug: str, text: str, *, definition: str, anchors: str, examples: str
) -> Criterion:
    """Write how to score by a criterion of the established set.

    ``text`` is the criterion's wording; ``anchors`` has a line such as "1: wrong" for each score that is described.
    People and models read it from now on; what was written before stays on record.

    Raises:
        NotFoundError: the set has no such criterion.
        InputError: a text is too long, or a line names no score of the scale.
    """
    with context.store.write() as db:
        task = require_task(db, slug)
        current = criteria.get_criteria_set(db, task.id)
        members = current.criteria if current else ()
        criterion = next((member for member in members if member.text == text), None)
        if criterion is None:
            raise NotFoundError(f"The criteria of “{slug}” have no “{text[:60]}”: choose one of the set.")
        guide = build_guide(definition, anchors, examples, criterion.scale)
        if guide != criterion.guide:
            criteria.record_guide(db, criterion.id, guide, person.name)
    return criterion
