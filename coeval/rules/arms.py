"""How a study shows its drafts: arms, the distribution of work in a team, and ids as one person sees them.

A draw depends on the task's secret seed and on the order in which people come, so nobody can guess or repeat
it. People are drawn in pairs, so that scores without a draft overlap: measuring agreement requires two such
scores on one instance. The blind arm and planted errors separate the draft's influence from agreement with it
(Schroeder et al. 2025).

The ids of the tables increase as rows are added, so ``id % 2`` can reveal the system, and adjacent ids the
import. An alias is a permutation of the id with a key from the task's secret seed and the person: a Feistel
network over 48 bits with four rounds of keyed BLAKE2, enough for a strong permutation (Luby and Rackoff
1988). Aliases need no storage.
"""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum

from coeval.domain import Arm, Instance
from coeval.errors import InputError

IDLE_SECONDS = (10, 3600)

BLOCK = 20
"""The number of consecutive instances in which each pair of people gets each arm's share to within one."""


class Display(StrEnum):
    """The rendering of inputs and outputs: plain or Markdown."""

    PLAIN = "plain"
    MARKDOWN = "markdown"


class Layout(StrEnum):
    """What annotators see first: one criterion at a time, or all criteria of an instance. One key switches."""

    ONE = "one"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Design:
    """An owner's decisions about a task's screens. Shares are fractions of 1.

    ``blind_share``, ``first_share``, ``evidence_share`` and ``reasons_share`` are shares of (annotator,
    instance) pairs: without the draft, with the draft only after a first score, with only its quoted
    passages, or with only its lines of evidence. ``planted_share`` is the share of assisted (annotator,
    instance, criterion) triples with a planted error.
    """

    blind_share: float = 0.0
    first_share: float = 0.0
    planted_share: float = 0.0
    idle_seconds: int = 60
    """Seconds without activity after which the active time pauses."""
    display: Display = Display.PLAIN
    hide_systems: bool = True
    layout: Layout = Layout.ONE
    evidence_share: float = 0.0
    reasons_share: float = 0.0
    input_first: bool = False
    """True if the input is above the output even where both texts do not fit on the screen."""

    @property
    def arm_shares(self) -> dict[Arm, float]:
        """Return the share of each arm; assisted gets the remainder."""
        shares = {
            Arm.BLIND: self.blind_share,
            Arm.FIRST: self.first_share,
            Arm.EVIDENCE: self.evidence_share,
            Arm.REASONS: self.reasons_share,
        }
        return shares | {Arm.ASSISTED: 1 - sum(shares.values())}


def check_design(design: Design) -> Design:
    """Check a design and return it.

    Raises:
        InputError: a share is not from 0 to 1, the arms' shares exceed 1, or the idle time is out of range.
    """
    shares = {
        "blind": design.blind_share,
        "judge-first": design.first_share,
        "evidence-only": design.evidence_share,
        "evidence-and-reasons": design.reasons_share,
        "planted errors": design.planted_share,
    }
    for name, share in shares.items():
        if not (math.isfinite(share) and 0 <= share <= 1):
            raise InputError(f"The {name} share is {share:.0%}: choose one from 0% to 100%.")
    together = design.blind_share + design.first_share + design.evidence_share + design.reasons_share
    if together > 1 + 1e-9:
        partly = design.evidence_share or design.reasons_share
        which = (
            "blind, judge-first, evidence-only and evidence-and-reasons"
            if partly
            else "blind and judge-first"
        )
        raise InputError(
            f"The {which} shares add up to {together:.0%} of the assignments: lower one, "
            "so that they add up to at most 100%."
        )
    low, high = IDLE_SECONDS
    if not low <= design.idle_seconds <= high:
        raise InputError(f"The idle time is {design.idle_seconds} s: choose one from {low} to {high:,} s.")
    return design


def draw_share(seed: str, *parts: object) -> float:
    """Return a number from 0 to 1 that depends only on the seed and these parts.

    >>> draw_share("s", "arm", 1, 1) == draw_share("s", "arm", 1, 1)
    True
    """
    text = ":".join(str(part) for part in (seed, *parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") / 2**64


def draw_arm(seed: str, place: int, nth: int, design: Design) -> Arm:
    """Return the arm for the ``nth`` person who opens the instance at ``place``; both count from 0.

    The first two people who open an instance share an arm, the next two another, and so on. The arms of each
    pair are in a random order that meets the shares within ``BLOCK`` instances, so that few instances suffice
    (permuted blocks).

    >>> draw_arm("s", 0, 0, Design()).value, draw_arm("s", 0, 0, Design(blind_share=1)).value
    ('assisted', 'blind')
    >>> design = Design(blind_share=0.3)
    >>> all(draw_arm("s", place, 0, design) is draw_arm("s", place, 1, design) for place in range(50))
    True
    >>> sum(draw_arm("s", place, 2, design) is Arm.BLIND for place in range(BLOCK))
    6
    """
    key = ("arm", nth // 2, place // BLOCK)
    order = sorted(range(BLOCK), key=lambda at: draw_share(seed, *key, at))
    drawn = (order.index(place % BLOCK) + draw_share(seed, *key)) / BLOCK
    edge = 0.0
    for arm, share in design.arm_shares.items():
        edge += share
        if drawn < edge:
            return arm
    return Arm.ASSISTED


def draw_order(seed: str, annotator: int, instances: Iterable[int]) -> list[int]:
    """Return the order in which an annotator gets the instances: shuffled, the same for every call.

    >>> sorted(draw_order("s", 1, [3, 1, 2]))
    [1, 2, 3]
    """

    def key(instance: int) -> bytes:
        return hashlib.sha256(f"{seed}:order:{annotator}:{instance}".encode()).digest()

    return sorted(instances, key=key)


def find_telling(instances: Iterable[Instance], columns: Container[str], systems: Iterable[str]) -> set[str]:
    """Return the columns that must be hidden together with the systems, because a name or value identifies a system.

    One such value hides the whole column. If it were hidden only next to outputs of the named system, its
    absence would reveal who wrote the output.

    >>> by_two = [Instance("1", "", "", context={"by": "gpt4o"}), Instance("2", "", "", context={"by": "?"})]
    >>> find_telling(by_two, {"by", "topic"}, ["GPT-4o", "Llama"])
    {'by'}
    """
    names = frozenset(map(_letters, systems)) - {""}
    telling: set[str] = set()
    read: set[tuple[str, str]] = set()
    for instance in instances:
        for column, value in instance.context.items():
            if column not in columns or column in telling or (column, value) in read:
                continue
            read.add((column, value))
            # the bytes of an image identify nobody, whatever letters they contain
            address = "" if value.startswith("data:") else value
            if _names_any(names, column) or _names_any(names, address):
                telling.add(column)
    return telling


def _names_any(names: Set[str], text: str) -> bool:
    """Return whether a text contains the name of any of these systems, comparing only letters and digits.

    A name of up to three letters counts only as a separate word, or next to digits as in the id "1a", because
    every text contains an "A".

    >>> one = frozenset(["gpt4omini"])
    >>> _names_any(one, "made by gpt4o-mini"), _names_any(one, "GPT 4O MINI, 2024"), _names_any(one, "gpt-4o")
    (True, True, False)
    >>> short = frozenset("b")
    >>> [_names_any(short, text) for text in ("Maybe.", "model: b", "12b", "12bis")]
    [False, True, True, False]
    """
    plain = _letters(text)
    if any(len(name) > 3 and name in plain for name in names):
        return True
    folded = text.casefold()
    words = re.findall(r"[^\W_]+", folded) + re.findall(r"[^\W\d_]+", folded)
    return any(len(name) <= 3 and name in words for name in names)


def _letters(text: str) -> str:
    return "".join(re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", text).casefold()))


def group_documents(instances: Iterable[tuple[int, str]]) -> list[list[int]]:
    """Return the instances of each document from (instance, document) pairs, in the order of first appearance.

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
    """Return each person's instances such that every instance goes to ``per_instance`` people.

    All instances of a document go to the same people: those with the fewest so far, ties drawn at random.
    ``held`` has the people who already have an instance, who count; ``loads`` has the number of instances
    that each person had before.

    >>> given = share_out([[1, 2], [3], [4]], [7, 8, 9], 2, "s", held={}, loads={})
    >>> sorted(len(instances) for instances in given.values())
    [2, 3, 3]
    """
    counts = Counter(loads)
    shares: dict[int, list[int]] = {person: [] for person in people}
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
                shares[person].append(instance)
                counts[person] += 1
    return shares


# Ids as one person sees them: numbers that reveal no order, origin or type, and differ between people.

HALF = 24
MASK = (1 << HALF) - 1
ROUNDS = 4


@dataclass(frozen=True, slots=True)
class Aliases:
    """The aliases of one task for one person; without a key, ids are their own aliases.

    >>> mine, yours = Aliases.of("seed", "1"), Aliases.of("seed", "2")
    >>> mine.hide("row", 7) == mine.hide("row", 7), mine.hide("row", 7) == yours.hide("row", 7)
    (True, False)
    >>> mine.reveal("row", mine.hide("row", 7)), mine.reveal("draft", mine.hide("row", 7)) == 7
    (7, False)
    """

    key: bytes = b""

    @classmethod
    def of(cls, seed: str, person: str) -> Aliases:
        return cls(hashlib.blake2b(f"alias:{seed}:{person}".encode(), digest_size=32).digest())

    def hide(self, kind: str, number: int) -> int:
        """Return the alias, from 1 to 2**48, of an id from 1 to 2**48."""
        if not self.key:
            return number
        left, right = (number - 1) >> HALF & MASK, (number - 1) & MASK
        for step in range(ROUNDS):
            left, right = right, left ^ self._mix(kind, step, right)
        return (left << HALF | right) + 1

    def reveal(self, kind: str, alias: int) -> int:
        """Return the id of an alias; for an unknown alias, an id that does not exist."""
        if not self.key:
            return alias
        left, right = (alias - 1) >> HALF & MASK, (alias - 1) & MASK
        for step in reversed(range(ROUNDS)):
            left, right = right ^ self._mix(kind, step, left), left
        return (left << HALF | right) + 1

    def _mix(self, kind: str, step: int, half: int) -> int:
        text = f"{kind}:{step}:{half}".encode()
        return int.from_bytes(hashlib.blake2b(text, digest_size=3, key=self.key).digest(), "big")
