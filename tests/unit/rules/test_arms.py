"""What is drawn stays drawn: the arms, orders and shares of a seed are known answers, since studies rest on them."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coeval.domain import Arm, Instance
from coeval.errors import InputError
from coeval.rules.arms import (
    BLOCK,
    Design,
    check_design,
    draw_arm,
    draw_order,
    draw_share,
    find_telling,
)


def test_shares_of_a_seed() -> None:
    # the first 8 bytes of SHA-256("seed:arm:1:1") over 2**64, and so on
    drawn = [
        round(draw_share("seed", "arm", person, instance), 6) for person in (1, 2) for instance in (1, 2)
    ]
    assert drawn == [0.215315, 0.828587, 0.977487, 0.655071]
    assert draw_share("other", "arm", 1, 1) != draw_share("seed", "arm", 1, 1)


def test_arms_of_a_seed() -> None:
    drawn = [draw_arm("seed", place, nth, Design(0.3, 0.3)) for nth in (0, 2, 4) for place in (0, 1, 2)]
    blind, first, assisted = Arm.BLIND, Arm.FIRST, Arm.ASSISTED
    assert drawn == [
        assisted, assisted, blind, assisted, assisted, blind, blind, blind, first,
    ]  # fmt: skip
    assert draw_arm("seed", 0, 0, Design(math.nextafter(1, 0))) is blind
    assert {draw_arm("seed", 0, 0, Design()), draw_arm("seed", 0, 0, Design(0.0, 1.0))} == {assisted, first}


@given(st.text(max_size=8), st.integers(0, 40), st.floats(0.05, 0.95))
def test_pairs_share_their_arms_and_every_block_holds_the_share(seed: str, block: int, share: float) -> None:
    places = range(block * BLOCK, (block + 1) * BLOCK)
    people = [[draw_arm(seed, place, nth, Design(share)) for place in places] for nth in range(6)]
    assert people[0] == people[1] and people[2] == people[3] and people[4] == people[5]
    for arms in people:
        assert math.floor(BLOCK * share) <= arms.count(Arm.BLIND) <= math.ceil(BLOCK * share)


@given(st.text(max_size=8), st.permutations([n for n in range(24) for _ in range(2)]))
def test_two_people_have_blind_instances_in_common_whatever_their_order(seed: str, way: list[int]) -> None:
    """The trial that brought this: 20% blind, two people, 24 instances, and no instance blind for both."""
    opened: Counter[int] = Counter()
    blind: Counter[int] = Counter()
    for place in way:
        blind[place] += draw_arm(seed, place, opened[place], Design(0.2)) is Arm.BLIND
        opened[place] += 1
    # a whole block of 20 holds four, the four that follow up to four more, and none stands alone
    assert 4 <= len([n for n in blind.values() if n == 2]) <= 8
    assert 1 not in blind.values()


def test_order_of_a_seed() -> None:
    assert draw_order("seed", 7, range(1, 9)) == [1, 7, 6, 2, 5, 8, 3, 4]


@pytest.mark.parametrize(
    ("design", "said"),
    [
        (Design(blind_share=-0.01), "The blind share is -1%: choose one from 0% to 100%."),
        (Design(first_share=1.01), "The judge-first share is 101%: choose one from 0% to 100%."),
        (Design(planted_share=math.nan), "The planted errors share is nan%: choose one from 0% to 100%."),
        (Design(0.6, 0.5), "The blind and judge-first shares add up to 110% of the assignments: lower one, so that "
                           "they add up to at most 100%."),
        (Design(idle_seconds=9), "The idle time is 9 s: choose one from 10 to 3,600 s."),
        (Design(idle_seconds=3601), "The idle time is 3601 s: choose one from 10 to 3,600 s."),
    ],
)  # fmt: skip
def test_a_design_that_cannot_be(design: Design, said: str) -> None:
    with pytest.raises(InputError) as caught:
        check_design(design)
    assert str(caught.value) == said


@pytest.mark.parametrize(
    "design",
    [Design(), Design(1.0), Design(0.5, 0.5, 1.0), Design(idle_seconds=10), Design(idle_seconds=3600)],
)
def test_a_design_at_its_ends(design: Design) -> None:
    assert check_design(design) == design


def test_a_name_of_three_letters_counts_by_itself_and_a_longer_one_everywhere() -> None:
    context = {"by": "made by Abc", "topic": "abcdef", "note": "xabcdx"}
    instances = [Instance("1", "", "", context=context)]
    assert find_telling(instances, {*context}, ["abc"]) == {"by"}
    assert find_telling(instances, {*context}, ["abcd"]) == {"topic", "note"}
