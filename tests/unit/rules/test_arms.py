"""What is drawn stays drawn: the arms, orders and shares of a seed are known answers, since studies rest on them."""

from __future__ import annotations

import math

import pytest

from coeval.domain import Arm
from coeval.errors import InputError
from coeval.rules.arms import Design, check_design, draw_arm, draw_order, draw_share


def test_shares_of_a_seed() -> None:
    # the first 8 bytes of SHA-256("seed:arm:1:1") over 2**64, and so on
    drawn = [
        round(draw_share("seed", "arm", person, instance), 6) for person in (1, 2) for instance in (1, 2)
    ]
    assert drawn == [0.215315, 0.828587, 0.977487, 0.655071]
    assert draw_share("other", "arm", 1, 1) != draw_share("seed", "arm", 1, 1)


def test_arms_of_a_seed() -> None:
    drawn = [draw_arm("seed", person, instance, 0.3, 0.3) for person in (1, 2, 3) for instance in (1, 2, 3)]
    blind, first, assisted = Arm.BLIND, Arm.FIRST, Arm.ASSISTED
    assert drawn == [blind, assisted, first, assisted, assisted, assisted, assisted, first, assisted]
    share = draw_share("seed", "arm", 1, 1)
    # a share that ends at the number drawn does not hold it
    assert draw_arm("seed", 1, 1, share) is assisted
    assert draw_arm("seed", 1, 1, 0.0, share) is assisted
    assert draw_arm("seed", 1, 1, math.nextafter(share, 1)) is blind


def test_order_of_a_seed() -> None:
    assert draw_order("seed", 7, range(1, 9)) == [1, 7, 6, 2, 5, 8, 3, 4]


@pytest.mark.parametrize(
    ("design", "said"),
    [
        (Design(blind_share=-0.01), "The blind share is -1%: choose one from 0% to 100%."),
        (Design(first_share=1.01), "The judge-first share is 101%: choose one from 0% to 100%."),
        (Design(planted_share=math.nan), "The planted errors share is nan%: choose one from 0% to 100%."),
        (Design(0.6, 0.5), "The blind and judge-first shares come to 110% of the assignments: lower one, so that "
                           "they come to 100% at most."),
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
