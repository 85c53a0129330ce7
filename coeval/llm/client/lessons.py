"""What a client learnt of each endpoint and model.

A refusal is believed at once. An answer that breaks the form that was asked for may be chance: only several in
a row count, and after a while the firmer form is tried again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from coeval.llm.client.abilities import Abilities, Rung, next_rung

BREAKS = 3
"""Answers in a row that break the form before it is given up."""

TRY_AGAIN = 200
"""Answers after which a form that was given up for such breaks is tried again."""

_FENCED = re.compile(r"\s*(?:```|~~~)[\w-]{0,20}\s*[{\[]")

EndpointModel = tuple[str, str]


@dataclass(slots=True)
class _Record:
    abilities: Abilities = Abilities()
    broken: int = 0
    given_up: Rung | None = None
    since: int = 0


class Lessons:
    """What each (endpoint, model) is able to do."""

    def __init__(self) -> None:
        self._records: dict[EndpointModel, _Record] = {}

    def abilities(self, key: EndpointModel) -> Abilities:
        return self._record(key).abilities

    def learn(self, key: EndpointModel, before: Abilities, after: Abilities) -> None:
        """Take a lesson once, though many requests that were under way together bring it."""
        record = self._record(key)
        if record.abilities == before:
            record.abilities = after

    def note_answer(self, key: EndpointModel, body: Mapping[str, Any], text: str, finish_reason: str) -> None:
        """Count whether a complete answer keeps the form that was asked for; refusals in words tell nothing."""
        record = self._record(key)
        if finish_reason != "stop":
            return
        if "response_format" in body:
            kept = text.lstrip().startswith(("{", "[")) or _FENCED.match(text) is not None
            record.broken = 0 if kept else record.broken + 1
            if record.broken >= BREAKS:
                self._give_up(record)
        elif record.given_up is not None:
            record.since += 1
            if record.since >= TRY_AGAIN:
                record.abilities = replace(record.abilities, rung=record.given_up)
                record.given_up = None

    @staticmethod
    def _give_up(record: _Record) -> None:
        record.given_up = record.given_up or record.abilities.rung
        record.abilities = next_rung(record.abilities)
        record.broken = record.since = 0

    def _record(self, key: EndpointModel) -> _Record:
        return self._records.setdefault(key, _Record())
