"""One mapper for a dataclass and its table: a field is a column, said once, for every read and every write."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import fields
from enum import StrEnum
from operator import attrgetter
from typing import Any, Generic, TypeVar, get_type_hints

Stored = TypeVar("Stored")


class Record(Generic[Stored]):
    """How objects of a dataclass stand in a table.

    Every field is a column of its name, but those ``renamed`` (field to column) and those ``elsewhere``, which other
    tables or the database itself hold. Enumerations and booleans are made again from their values; a text that
    ``may_be_null`` is null where it is empty.
    """

    def __init__(
        self,
        kind: type[Stored],
        *,
        renamed: Mapping[str, str] | None = None,
        elsewhere: Collection[str] = (),
        may_be_null: Collection[str] = (),
    ) -> None:
        self.kind = kind
        self._nullable = frozenset(may_be_null)
        names = [field.name for field in fields(kind) if field.name not in elsewhere]  # type: ignore[arg-type]
        self._columns = {name: (renamed or {}).get(name, name) for name in names}
        self.columns = tuple(self._columns.values())
        self._read = attrgetter(*names)
        hints = get_type_hints(kind)
        self._makers = {name: maker for name in names if (maker := _maker(hints[name])) is not None}

    def to_row(self, stored: Stored) -> dict[str, Any]:
        """The values of an object by column."""
        values = dict(zip(self.columns, self._read(stored), strict=True))
        for name in self._nullable:
            values[self._columns[name]] = values[self._columns[name]] or None
        return values

    def from_row(self, row: Mapping[str, Any], **further: Any) -> Stored:
        """The object of a row; ``further`` are its fields that stand elsewhere."""
        values = {name: row[column] for name, column in self._columns.items()}
        for name, make in self._makers.items():
            values[name] = make(values[name])
        for name in self._nullable:
            values[name] = values[name] or ""
        return self.kind(**values, **further)


def _maker(hint: Any) -> Callable[[Any], Any] | None:
    """What turns the value of a column into that of a field; None where they are the same."""
    if hint is bool or (isinstance(hint, type) and issubclass(hint, StrEnum)):
        return hint
    return None
