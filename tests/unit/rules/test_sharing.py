"""Sharing a team's work out: by document, evenly, and to as many people as was said."""

from __future__ import annotations

from collections import Counter

from coeval.rules.arms import share_out

ANN, BEN, CY = 7, 8, 9


def test_who_has_some_of_a_document_is_given_the_rest_of_it() -> None:
    given = share_out([[1, 2, 3]], [ANN, BEN, CY], 2, "s", held={1: {CY}}, loads={CY: 5})
    assert given[CY] == [2, 3]  # though they have most of all
    assert sorted(given[ANN] + given[BEN]) == [1, 2, 3] and [] in (given[ANN], given[BEN])


def test_what_enough_people_have_is_given_to_nobody() -> None:
    held = {1: {ANN, BEN}, 2: {ANN, BEN, CY}, 3: {ANN}}
    given = share_out([[1], [2], [3]], [ANN, BEN, CY], 2, "s", held=held, loads={ANN: 3, BEN: 2, CY: 1})
    assert given == {ANN: [], BEN: [], CY: [3]}  # of those without it, the one who has fewest


def test_work_is_even_and_every_instance_has_its_people() -> None:
    units = [[2 * n, 2 * n + 1] for n in range(6)]
    given = share_out(units, [ANN, BEN, CY], 2, "s", held={}, loads={})
    assert {person: len(instances) for person, instances in given.items()} == {ANN: 8, BEN: 8, CY: 8}
    assert set(Counter(one for instances in given.values() for one in instances).values()) == {2}
