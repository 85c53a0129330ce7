"""Flags and comments reach those who run a study; their answers reach the annotators."""

from __future__ import annotations

from coeval.domain import MAX_REMARK, InboxItem, InboxState, Person
from coeval.errors import InputError, NotFoundError
from coeval.store.queries.scrutiny import inbox
from coeval.study.access import EVERYONE, OWNERS, Context, require_task, use_case

MOST = 200
"""Messages that are listed at a time."""


@use_case(OWNERS)
def list_messages(
    context: Context, person: Person, slug: str, state: InboxState | None = None
) -> list[InboxItem]:
    """Read the flags and comments of a task, the newest first."""
    with context.store.read() as db:
        return inbox.list_messages(db, require_task(db, slug).id, state, MOST)


@use_case(OWNERS)
def count_open_messages(context: Context, person: Person, slug: str) -> int:
    """See how many flags and comments of a task wait for an answer."""
    with context.store.read() as db:
        return inbox.count_open(db, require_task(db, slug).id)


@use_case(OWNERS)
def answer_message(
    context: Context, person: Person, slug: str, message: int, text: str, *, close: bool = False
) -> InboxItem:
    """Answer a flag or comment, which its author then sees, or close it; what was answered before stays on record.

    Raises:
        InputError: the answer is empty or too long.
        NotFoundError: its author has changed it since, or there is none.
    """
    text = text.strip()
    if not text and not close:
        raise InputError("The answer is empty: write one, or close the message without.")
    if len(text) > MAX_REMARK:
        raise InputError(f"The answer has {len(text):,} characters; shorten it to {MAX_REMARK:,}.")
    with context.store.write() as db:
        task = require_task(db, slug)
        if inbox.get_message(db, task.id, message) is None:
            raise NotFoundError(
                "This message is not there any more, or was changed since: look at the list again."
            )
        state = InboxState.CLOSED if close else InboxState.ANSWERED
        inbox.add_answer(db, message, state, text, person.name)
        answered = inbox.get_message(db, task.id, message)
        assert answered is not None
    return answered


@use_case(EVERYONE)
def list_answers(context: Context, person: Person, slug: str) -> list[tuple[int, InboxItem]]:
    """Read what was answered to one's own flags and comments, each with its number in one's queue."""
    with context.store.read() as db:
        return inbox.list_answers(db, require_task(db, slug).id, person.id)
