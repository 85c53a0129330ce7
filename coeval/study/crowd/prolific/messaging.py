"""Messages to people at Prolific, each sent once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import partial

from coeval.domain import Person
from coeval.domain.crowd import Asked, Item, Kind
from coeval.errors import InputError
from coeval.study.access import OWNERS, Context, use_case
from coeval.study.crowd.prolific.desk import Act, Desk, Line, Report, each, open_desk
from coeval.study.crowd.prolific.reviewing import Entry, read_live

MAX_MESSAGE = 5000


@use_case(OWNERS)
def message_workers(
    context: Context,
    person: Person,
    slug: str,
    submissions: Sequence[str],
    text: str,
    *,
    dry_run: bool = True,
) -> Report:
    """Send the people of these submissions a message each, through Prolific.

    Raises:
        InputError: nobody is chosen, or there is no text; nothing was sent.
    """
    text = text.strip()
    if not 1 <= len(text) <= MAX_MESSAGE:
        raise InputError(f"The message has {len(text)} characters: write 1 to {MAX_MESSAGE:,}.")
    with open_desk(context, person, slug) as desk:
        chosen = read_live(desk).choose(submissions)
        if dry_run:
            lines = tuple(Line(_name(entry), "would be sent the message") for entry in chosen)
            return Report("Messages", lines, dry=True)
        acts: list[Act] = [(_name(entry), partial(_send, desk, entry, text), 0) for entry in chosen]
        return Report("Messages", tuple(each(acts, "the message was sent")))


def _name(entry: Entry) -> str:
    return f"{entry.name} · {entry.remote.id}"


def _send(desk: Desk, entry: Entry, text: str) -> None:
    worker, study = entry.remote.worker, entry.study.id
    digest = hashlib.sha256(f"{study}\n{worker}\n{text}".encode()).hexdigest()
    item = Item(f"message:{digest[:32]}", worker, who=entry.name)
    asked = Asked(Kind.MESSAGE, study, (item,), note=text, asked_by=desk.person.name)

    def send() -> str:
        desk.client.message(worker, study, text)
        return ""

    desk.carry_out(asked, send)
