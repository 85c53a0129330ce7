"""Figures of how people work with drafts, and the questions they raise."""

from __future__ import annotations

from coeval.rules.screening import find_habits
from tests.support.studies.draft_saves import Save, in_columns


def kept(n: int, person: str = "Ana", seconds: float | None = 30.0, **fields: bool) -> list[Save]:
    return [Save(person, True, fields.get("bulk", False), seconds, fields.get("caught")) for _ in range(n)]


def changed(n: int, person: str = "Ana", seconds: float | None = 30.0) -> list[Save]:
    return [Save(person, False, False, seconds) for _ in range(n)]


def test_figures() -> None:
    (ana,) = find_habits(in_columns([*kept(3, seconds=10), *changed(1, seconds=40), *kept(1, seconds=None)]))
    # 4 of 5 kept, the longest run of them 3; times 10, 10, 10, 40: median 10
    assert (ana.n, ana.n_timed, ana.median_seconds) == (5, 4, 10)
    assert (ana.kept_all, ana.longest_streak, ana.bulk) == (0.8, 3, 0)
    assert (ana.n_planted, ana.caught, ana.questions) == (0, None, ())


def test_order_of_names_and_of_saves() -> None:
    mixed = [save for pair in zip(kept(4, "Ben"), changed(4, "Ana"), strict=True) for save in pair]
    ana, ben = find_habits(in_columns(mixed))
    assert (ana.person, ana.longest_streak, ben.longest_streak) == ("Ana", 0, 4)
    assert find_habits(in_columns([])) == []


def asked(saves: list[Save], of: str = "Ben") -> list[str]:
    return [
        question for one in find_habits(in_columns(saves)) if one.person == of for question in one.questions
    ]


def test_questions_begin_where_they_are_said_to() -> None:
    """One save less, or a hair slower, and nothing is asked."""
    assert asked(kept(20, "Ben")) == [
        "Ben kept every line of 20 evaluations in a row. Were all of these drafts correct?"
    ]
    assert asked(kept(19, "Ben")) == []
    # everybody's median is 30 s: under 10 s is quick
    others = [save for _ in range(40) for save in (*kept(1), *changed(1))]
    hasty = [save for _ in range(10) for save in (*kept(1, "Ben", 9.9), *changed(1, "Ben", 9.9))]
    assert asked([*others, *hasty]) == [
        "Ben takes 10 s for a criterion; everybody's median is 30 s. Is that enough time to read the texts?"
    ]
    assert asked([*others, *hasty[:19]]) == []
    steady = [save for _ in range(10) for save in (*kept(1, "Ben", 10.0), *changed(1, "Ben", 10.0))]
    assert asked([*others, *steady]) == []


def test_questions_of_bulk_and_of_planted_errors() -> None:
    def some(n: int, bulk: int) -> list[Save]:
        return [Save("Ben", i % 2 == 0, i < bulk, None) for i in range(n)]

    assert asked(some(20, 11)) == [
        "Ben approved the rest at once in 55% of 20 evaluations. Were the lines read one by one before?"
    ]
    assert asked(some(20, 10)) == [] == asked(some(19, 19))

    def planted(*caught: bool) -> list[Save]:
        return [Save("Ben", i % 2 == 0, False, None, one) for i, one in enumerate(caught)]

    assert asked(planted(True, False, False, False)) == [
        "Ben noticed 25% of 4 drafts that were wrong on purpose. Is the task clear, and is there enough time for it?"
    ]
    assert asked(planted(True, True, False, False)) == [] == asked(planted(False, False, False))
