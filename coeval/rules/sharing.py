"""Which people of a team judge which instances, where each goes to some of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from coeval.rules.arms import draw_share


def group_documents(instances: Iterable[tuple[int, str]]) -> list[list[int]]:
    """(instance, document) as a list of instances for each document, in the order in which they begin.

    >>> group_documents([(1, "a"), (2, "b"), (3, "a"), (4, "")])
    [[1, 3], [2], [4]]
    """
    units: dict[object, list[int]] = defaultdict(list)
    for instance, document in instances:
        units[document or instance].append(instance)
    return list(units.values())


def share_out(
    units: Sequence[Sequence[int]],
    people: Sequence[int],
    per_instance: int,
    seed: str,
    *,
    held: Mapping[int, Collection[int]],
    loads: Mapping[int, int],
) -> dict[int, list[int]]:
    """The instances that each person is given so that every instance goes to ``per_instance`` people.

    A document's instances go to the same people, those who have fewest so far; ties are drawn. ``held`` are the
    people who have an instance already, and count; ``loads`` how many instances each person has before.

    >>> given = share_out([[1, 2], [3], [4]], [7, 8, 9], 2, "s", held={}, loads={})
    >>> sorted(len(instances) for instances in given.values())
    [2, 3, 3]
    """
    counts = Counter(loads)
    given: dict[int, list[int]] = {person: [] for person in people}
    for unit in units:
        at_it = {person for instance in unit for person in held.get(instance, ())}
        order = sorted(
            people,
            key=lambda person: (
                person not in at_it,
                counts[person],
                draw_share(seed, "share", unit[0], person),
            ),
        )
        for instance in unit:
            having = held.get(instance, ())
            free = [person for person in order if person not in having]
            for person in free[: max(0, per_instance - len(having))]:
                given[person].append(instance)
                counts[person] += 1
    return given
