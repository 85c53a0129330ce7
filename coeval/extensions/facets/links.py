"""Check, before people score, whether they can be compared, based on the instances that they share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from coeval.domain import Person
from coeval.extensions.facets import queries
from coeval.extensions.facets.rasch import find_components
from coeval.store.queries import people, tasks
from coeval.usecases.access import OWNERS, Context, require_task, use_case


@dataclass(frozen=True)
class Part:
    """People who share instances, directly or through others, and the number of their instances."""

    people: tuple[str, ...]
    instances: int


@dataclass(frozen=True)
class Links:
    """The connected parts of a study, largest first; ``instances`` counts all instances of the task."""

    parts: tuple[Part, ...]
    instances: int


@use_case(OWNERS)
def get_links(context: Context, person: Person, slug: str) -> Links:
    """Return the groups of people who share instances in their queues or scores."""
    with context.store.read() as db:
        task = require_task(db, slug)
        given = queries.list_links(db, task.id)
        names = {one.id: one.name for one in people.list_people(db)}
        size = tasks.count_instances(db, task.id)
    if not given:
        return Links((), size)
    annotator, instance = np.unique(np.array(given), return_inverse=True, axis=0)[0].T
    part = find_components(
        np.unique(annotator, return_inverse=True)[1], np.unique(instance, return_inverse=True)[1]
    )
    found = [
        Part(
            tuple(sorted(names[one] for one in np.unique(annotator[part == k]).tolist())),
            len(set(instance[part == k].tolist())),
        )
        for k in range(int(part.max()) + 1)
    ]
    return Links(tuple(sorted(found, key=lambda one: (-one.instances, one.people))), size)


def tell_links(found: Links) -> Iterator[str]:
    """Describe whether people can be compared, and the remedy if not."""
    if not found.parts:
        yield (
            "Nobody has a queue yet: the check needs people who opened the task, or a team with "
            "assigned work."
        )
        return
    if len(found.parts) == 1:
        who = found.parts[0].people
        yield f"Connected: {len(who):,} {'person' if len(who) == 1 else 'people'} can be compared on one ruler."
        return
    yield (
        f"Not connected: {len(found.parts)} parts share no instance, so severities of different parts cannot be "
        "compared without assumptions. Give one instance of each part to a person of another part."
    )
    for k, part in enumerate(found.parts, 1):
        yield f"Part {k}: {', '.join(part.people)} ({part.instances:,} instances)"
