"""What the statistics give back: numbers and small tables that carry how they came about."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np
import pandas as pd


class Estimate(float):
    """One number and its provenance; nan, with a ``reason``, where the number is undefined.

    It is a float, so it compares, rounds and formats as one. Everything that went into it is an attribute
    (and an item): ``n_units``, ``level``, ``se``, ``ci_low``, ``reason`` ... It cannot be changed.

    >>> kappa = Estimate(0.5, n_units=12, ci_low=0.2, ci_high=0.8)
    >>> kappa > 0.4, kappa.n_units, kappa["ci"], kappa.defined
    (True, 12, (0.2, 0.8), True)
    >>> Estimate.undefined("no unit has two ratings").reason
    'no unit has two ratings'
    """

    reason: str | None

    def __new__(cls, value: float | None, **details: Any) -> Estimate:
        number = super().__new__(cls, math.nan if value is None else value)
        number.__dict__["reason"] = None
        number.__dict__.update((k, v.item() if isinstance(v, np.generic) else v) for k, v in details.items())
        return number

    @classmethod
    def undefined(cls, reason: str, **details: Any) -> Estimate:
        """The estimate that does not exist, and why."""
        return cls(math.nan, reason=reason, **details)

    @property
    def value(self) -> float:
        return float(self)

    @property
    def defined(self) -> bool:
        return not math.isnan(self)

    @property
    def ci(self) -> tuple[float, float]:
        """The interval as a pair; (nan, nan) where there is none."""
        return self.__dict__.get("ci_low", math.nan), self.__dict__.get("ci_high", math.nan)

    @property
    def details(self) -> dict[str, Any]:
        """Everything that came with the number, by name."""
        return dict(self.__dict__)

    def having(self, **details: Any) -> Estimate:
        """The same number with further details."""
        return Estimate(float(self), **(self.__dict__ | details))

    def __getattr__(self, name: str) -> Any:
        known = ", ".join(k for k in self.__dict__ if not k.startswith("_"))
        raise AttributeError(f"This estimate has no {name!r}; it has: value, {known}.")

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"An estimate cannot be changed; make a new one with having({name}=...).")

    def __repr__(self) -> str:
        return float.__repr__(self) if self.defined else f"undefined ({self.reason})"

    __str__ = __repr__


SPREAD = ("ci_low", "ci_high", "se", "interval_kind", "resampled", "clusters")
"""What every estimate says of its interval, where it has one."""


@dataclass(frozen=True)
class Spelled:
    """An estimate that the report spells out: its value, its interval, and what else of its details ``names`` names."""

    value: Estimate
    names: tuple[str, ...] = ()

    def entries(self) -> dict[str, Any]:
        """What stands in the document: details that the estimate does not have are not there."""
        details = self.value.details
        kept = (*SPREAD, *self.names)
        return {"value": self.value, **{name: details[name] for name in kept if name in details}}

    def get(self, name: str) -> Any:
        """One of the details; None where the estimate does not have it."""
        return self.value.details.get(name)


FLAT = {"flat": True}
"""Metadata of a section's field whose own entries stand beside the others in the document, not below its name."""


def entries(section: Any) -> dict[str, Any]:
    """The fields of a section by their names in the document: ``key`` in a field's metadata where it has another one.

    >>> import dataclasses
    >>> @dataclass
    ... class Counts:
    ...     n: int
    >>> @dataclass
    ... class Section:
    ...     counts: Counts = dataclasses.field(metadata=FLAT)
    ...     planted: int = dataclasses.field(metadata={"key": "sown"})
    >>> entries(Section(Counts(3), 2))
    {'n': 3, 'sown': 2}
    """
    if isinstance(section, Spelled):
        return section.entries()
    if isinstance(section, Mapping):
        return dict(section)
    spelled: dict[str, Any] = {}
    for part in fields(section):
        value = getattr(section, part.name)
        spelled |= (
            entries(value) if part.metadata.get("flat") else {part.metadata.get("key", part.name): value}
        )
    return spelled


class Result(dict[str, Any]):
    """Several named values; each is an item and an attribute.

    >>> Result(t=-0.89, n=103).t
    -0.89
    """

    @classmethod
    def undefined(cls, reason: str, *names: str, **details: Any) -> Result:
        """A result whose values ``names`` do not exist, and why."""
        return cls(dict.fromkeys(names, Estimate.undefined(reason)), **details, reason=reason)

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(
                f"This result has no {name!r}; it has: {', '.join(map(str, self))}."
            ) from None


class Pairs(dict[tuple[Any, Any], Any]):
    """Values of unordered pairs: ``pairs["a", "b"]`` and ``pairs["b", "a"]`` are the same.

    >>> Pairs({("a", "b"): 0.4})["b", "a"]
    0.4
    """

    def __missing__(self, pair: tuple[Any, Any]) -> Any:
        if pair[::-1] in self:
            return self[pair[::-1]]
        raise KeyError(pair)

    @property
    def matrix(self) -> pd.DataFrame:
        """The values as a symmetric table, 1 on its diagonal."""
        names = list(dict.fromkeys(name for pair in self for name in pair))
        table = pd.DataFrame(np.eye(len(names)), index=names, columns=names)
        for (a, b), value in self.items():
            table.loc[a, b] = table.loc[b, a] = float(value)
        return table


def plain(value: Any) -> Any:
    """``value`` as JSON can hold it: no nan, no infinity, no numpy, names as text.

    >>> plain({"alpha": Estimate.undefined("constant"), "n": np.int64(3)})
    {'alpha': None, 'n': 3}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return plain(entries(value))
    if isinstance(value, (list, tuple, set, np.ndarray, pd.Series, pd.Index)):
        return [plain(entry) for entry in value]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    return None if value is None or value is pd.NA else str(value)


def reasons(value: Any, path: str = "") -> Iterator[str]:
    """One line for every undefined estimate inside ``value``: where it stands and why it is undefined."""
    if isinstance(value, Estimate):
        if not value.defined and value.reason:
            yield f"{path} is undefined: {value.reason}."
    elif isinstance(value, Mapping):
        for key, entry in value.items():
            yield from reasons(entry, f"{path}.{key}" if path else str(key))
    elif is_dataclass(value) and not isinstance(value, type):
        yield from reasons(entries(value), path)
    elif isinstance(value, (list, tuple)):
        for position, entry in enumerate(value):
            yield from reasons(entry, f"{path}[{_label(entry, position)}]")


def _label(entry: Any, position: int) -> str:
    """What names an entry of a list: its pair, its own name, or its position."""
    if is_dataclass(entry) and not isinstance(entry, type):
        entry = entries(entry)
    if isinstance(entry, Mapping):
        if "a" in entry and "b" in entry:
            return f"{entry['a']}, {entry['b']}"
        for key in ("name", "label", "criterion", "system", "annotator", "run"):
            if entry.get(key) is not None:
                return str(entry[key])
    return str(position)
