"""Saves that share a transaction: each is all or nothing, and none is answered before the commit."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from coeval.errors import InputError, StorageError
from coeval.language import get_spoken, speaking
from coeval.usecases.access import Context
from coeval.usecases.save_batching import Together

pytestmark = pytest.mark.parametrize("engine", ["sqlite", "postgres"], indirect=True)

Make = Callable[[], Any]


@pytest.fixture
def context(context: Context) -> Context:
    with context.store.write() as db:
        db.conn.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
    return context


def note(context: Context, text: str) -> Make:
    """A save of a text under the next number."""

    def make() -> str:
        with context.store.write() as db:
            last = db.conn.execute("SELECT coalesce(max(id), 0) FROM note").fetchone()[0]
            db.conn.execute("INSERT INTO note (id, text) VALUES (?, ?)", [last + 1, text])
        return text

    return make


def failing(context: Context, text: str, error: Exception) -> Make:
    """A save that has written its text when it fails."""

    def make() -> None:
        note(context, text)()
        raise error

    return make


def list_notes(context: Context) -> list[str]:
    with context.store.read() as db:
        return [text for (text,) in db.conn.execute("SELECT text FROM note ORDER BY id")]


@contextmanager
def counted(context: Context) -> Iterator[list[int]]:
    """How many transactions have begun that write."""
    begun: list[int] = []
    context.store.guard = lambda: begun.append(1)
    yield begun
    context.store.guard = lambda: None


def save_behind_one(context: Context, saves: Sequence[Make], **limits: int) -> list[Any]:
    """What becomes of saves that come while another is made; errors in the place of answers."""
    under_way, released = threading.Event(), threading.Event()

    def wait() -> None:
        under_way.set()
        assert released.wait(30)

    async def run() -> list[Any]:
        together: Together[Any] = Together(context.store, **limits)
        first = asyncio.create_task(together.save(wait))
        await asyncio.to_thread(under_way.wait, 30)
        others = [asyncio.create_task(together.save(make)) for make in saves]
        await asyncio.sleep(0)  # each is in line
        released.set()
        await first
        return await asyncio.gather(*others, return_exceptions=True)

    return asyncio.run(run())


def test_saves_that_wait_share_a_commit(context: Context) -> None:
    texts = [f"save {n}" for n in range(7)]
    with counted(context) as begun:
        assert save_behind_one(context, [note(context, text) for text in texts]) == texts
    assert list_notes(context) == texts
    assert len(begun) == 2  # that of the first, and theirs


def test_one_that_is_refused_is_undone_by_itself(context: Context) -> None:
    refused = failing(context, "undone", InputError("No score."))
    with counted(context) as begun:
        answers = save_behind_one(context, [note(context, "a"), refused, note(context, "b")])
    assert (answers[0], answers[2]) == ("a", "b")
    assert isinstance(answers[1], InputError) and str(answers[1]) == "No score."
    assert list_notes(context) == ["a", "b"]
    assert len(begun) == 2


@pytest.mark.parametrize("error", [ValueError("a fault"), StorageError("The disk is full.")])
def test_one_that_fails_spoils_nothing_of_the_others(context: Context, error: Exception) -> None:
    answers = save_behind_one(
        context, [note(context, "a"), failing(context, "undone", error), note(context, "b")]
    )
    assert (answers[0], answers[2]) == ("a", "b")
    assert answers[1] is error
    assert list_notes(context) == ["a", "b"]  # each once, though the transaction was made anew


def test_a_broken_rule_of_the_tables_is_the_fault_of_one(context: Context) -> None:
    def break_rule() -> None:
        with context.store.write() as db:
            db.conn.execute("INSERT INTO note (id, text) VALUES (?, ?)", [1_000, None])

    answers = save_behind_one(context, [note(context, "a"), break_rule, note(context, "b")])
    assert type(answers[1]).__name__ == "IntegrityError"
    assert list_notes(context) == ["a", "b"]


def test_none_is_answered_before_the_commit(context: Context) -> None:
    """Where the commit itself fails, those that it would have held are told so."""
    lost = StorageError("The connection ended.")
    write, open_now = context.store.write, [0]

    @contextmanager
    def write_and_lose(**how: bool) -> Iterator[Any]:
        with write(**how) as db:
            open_now[0] += 1
            try:
                yield db
            finally:
                open_now[0] -= 1
            if not open_now[0]:
                raise lost

    context.store.write = write_and_lose  # type: ignore[method-assign]
    with pytest.raises(StorageError):
        asyncio.run(Together(context.store).save(note(context, "a")))
    assert list_notes(context) == []


def test_each_is_answered_in_its_own_language(context: Context) -> None:
    async def run() -> list[str]:
        together: Together[str] = Together(context.store)

        async def ask(code: str) -> str:
            with speaking(code):
                return await together.save(lambda: get_spoken().code)

        return list(await asyncio.gather(*(ask(code) for code in ("en", "ar", "en", "ar"))))

    assert asyncio.run(run()) == ["en", "ar", "en", "ar"]


def test_loops_may_come_and_go(context: Context) -> None:
    """Whoever asks next may do so in another event loop, as test clients do."""
    together: Together[str] = Together(context.store)
    for n in range(10):
        assert asyncio.run(together.save(note(context, str(n)))) == str(n)
    assert len(list_notes(context)) == 10


def test_who_goes_away_before_their_turn_is_not_waited_for(context: Context) -> None:
    released = threading.Event()

    async def run() -> None:
        together: Together[Any] = Together(context.store)
        first = asyncio.create_task(together.save(lambda: released.wait(30)))
        gone = asyncio.create_task(together.save(note(context, "gone")))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.sleep(0)
        released.set()
        assert await first
        assert await together.save(note(context, "next")) == "next"

    asyncio.run(run())
    assert list_notes(context) == ["next"]
