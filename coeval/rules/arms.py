"""How a study shows its drafts: the shares of the arms, and what is drawn from them by a salted hash.

A draw depends on the task's secret seed and on who came when: nobody can guess it, or have it drawn again. People
are drawn in pairs, so that scores without a draft overlap: agreement needs two of them on one instance. The blind
arm and the drafts with a planted error are what tell the pull of the draft from agreement with it (Schroeder et al.
2025).
"""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from coeval.domain import Arm, Instance
from coeval.errors import InputError

IDLE_SECONDS = (10, 3600)

BLOCK = 20
"""Instances in a row of the file among which each pair of people has the shares met to within one."""


class Display(StrEnum):
    """How inputs and outputs are set: as they are, or as Markdown."""

    PLAIN = "plain"
    MARKDOWN = "markdown"


class Layout(StrEnum):
    """What annotators work at: one criterion at a time, all of an instance in one sheet, or as each of them likes."""

    CHOICE = "choice"
    ONE = "one"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Design:
    """What an owner decides about a task's screens. Shares are of 1.

    ``blind_share`` and ``first_share`` are of (annotator, instance): no draft, or the draft only after a first
    score. ``planted_share`` is of the assisted (annotator, instance, criterion): something wrong on purpose.
    """

    blind_share: float = 0.0
    first_share: float = 0.0
    planted_share: float = 0.0
    idle_seconds: int = 60
    """Without a sign of life for this long, the active time stands still."""
    display: Display = Display.PLAIN
    hide_systems: bool = True
    wait_for_drafts: bool = False
    """Whether an evaluation that is to be shown with its draft is held back until there is one."""
    layout: Layout = Layout.CHOICE


def check_design(design: Design) -> Design:
    """The design as given.

    Raises:
        InputError: a share is not from 0 to 1, the arms come to more than 1, or the idle time is odd.
    """
    shares = {
        "blind": design.blind_share,
        "judge-first": design.first_share,
        "planted errors": design.planted_share,
    }
    for name, share in shares.items():
        if not (math.isfinite(share) and 0 <= share <= 1):
            raise InputError(f"The {name} share is {share:.0%}: choose one from 0% to 100%.")
    together = design.blind_share + design.first_share
    if together > 1:
        raise InputError(
            f"The blind and judge-first shares come to {together:.0%} of the assignments: lower one, so that they "
            "come to 100% at most."
        )
    low, high = IDLE_SECONDS
    if not low <= design.idle_seconds <= high:
        raise InputError(f"The idle time is {design.idle_seconds} s: choose one from {low} to {high:,} s.")
    return design


def draw_share(seed: str, *parts: object) -> float:
    """A number from 0 to 1 that these parts always draw.

    >>> draw_share("s", "arm", 1, 1) == draw_share("s", "arm", 1, 1)
    True
    """
    text = ":".join(str(part) for part in (seed, *parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") / 2**64


def draw_arm(seed: str, place: int, nth: int, blind_share: float, first_share: float = 0.0) -> Arm:
    """The arm in which the ``nth`` person to open an instance sees it; both count from 0.

    The first two to open an instance share an arm, the next two another, and so on. Each pair's arms are a random
    order of the shares within ``BLOCK`` instances, so that even a few instances hold the share (permuted blocks).

    >>> draw_arm("s", 0, 0, 0.0).value, draw_arm("s", 0, 0, 1.0).value, draw_arm("s", 0, 0, 0.0, 1.0).value
    ('assisted', 'blind', 'first')
    >>> all(draw_arm("s", place, 0, 0.3) is draw_arm("s", place, 1, 0.3) for place in range(50))
    True
    >>> sum(draw_arm("s", place, 2, 0.3) is Arm.BLIND for place in range(BLOCK))
    6
    """
    key = ("arm", nth // 2, place // BLOCK)
    order = sorted(range(BLOCK), key=lambda at: draw_share(seed, *key, at))
    drawn = (order.index(place % BLOCK) + draw_share(seed, *key)) / BLOCK
    if drawn < blind_share:
        return Arm.BLIND
    return Arm.FIRST if drawn < blind_share + first_share else Arm.ASSISTED


def describe_overlap(design: Design, n_instances: int, n_people: int) -> tuple[str, bool]:
    """What agreement without the draft will rest on, and whether that is a warning; ("", False) without such arms.

    Args:
        n_people: how many people each instance goes to.
    """
    share = design.blind_share + design.first_share
    if not share or not n_instances:
        return "", False
    if n_people < 2:
        return (
            "Each instance goes to one person so far, so no instance will be scored by two people without the "
            "draft, and their agreement stays undefined: have two people or more on each instance.",
            True,
        )
    n_shared = round(share * n_instances)
    if n_shared < 2:
        return (
            f"{share:.0%} of {n_instances:,} instance{'s' if n_instances > 1 else ''} is about {n_shared}: agreement "
            "without the draft needs two instances or more. Choose larger shares or import more instances.",
            True,
        )
    return (
        f"About {n_shared:,} of {n_instances:,} instances will be scored without the draft by the same two people: "
        "agreement without the draft rests on these.",
        False,
    )


def draw_order(seed: str, annotator: int, instances: Iterable[int]) -> list[int]:
    """The order in which an annotator meets the instances: shuffled, the same at every call.

    >>> sorted(draw_order("s", 1, [3, 1, 2]))
    [1, 2, 3]
    """

    def key(instance: int) -> bytes:
        return hashlib.sha256(f"{seed}:order:{annotator}:{instance}".encode()).digest()

    return sorted(instances, key=key)


def tells_system(instance: Instance, text: str) -> bool:
    """Whether a text beside the instance's own gives away who wrote its output: by letters and digits alone.

    A name of up to three letters counts only where it stands by itself, or beside digits as in the id "1a": an "A" is
    in every text.

    >>> from dataclasses import replace
    >>> one = Instance("q1", "Why?", "So.", system="GPT-4o mini")
    >>> tells_system(one, "made by gpt4o-mini"), tells_system(one, "GPT 4O MINI, 2024"), tells_system(one, "gpt-4o")
    (True, True, False)
    >>> tells_system(replace(one, system="B"), "Maybe."), tells_system(replace(one, system="B"), "model: b")
    (False, True)
    >>> tells_system(replace(one, system="b"), "12b"), tells_system(replace(one, system="b"), "12bis")
    (True, False)
    """
    name = _letters(instance.system)
    if len(name) > 3:
        return name in _letters(text)
    folded = text.casefold()
    return bool(name) and name in re.findall(r"[^\W_]+", folded) + re.findall(r"[^\W\d_]+", folded)


def _letters(text: str) -> str:
    return "".join(re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", text).casefold()))
