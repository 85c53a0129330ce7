"""The results of statistics: estimates, the reasons of undefined ones, intervals with t, and adjusted p-values."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy

# Numbers and small tables with their provenance.


class Estimate(float):
    """One number with its provenance; nan, with a ``reason``, if it is undefined.

    It is a float, so it compares, rounds and formats like one. Its details are attributes and items:
    ``n_units``, ``level``, ``se``, ``ci_low``, ``reason`` ... It is immutable.

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
        """Return an undefined estimate with its reason."""
        return cls(math.nan, reason=reason, **details)

    @property
    def value(self) -> float:
        return float(self)

    @property
    def defined(self) -> bool:
        return not math.isnan(self)

    @property
    def ci(self) -> tuple[float, float]:
        """Return the interval as a pair; (nan, nan) if there is none."""
        return self.__dict__.get("ci_low", math.nan), self.__dict__.get("ci_high", math.nan)

    @property
    def details(self) -> dict[str, Any]:
        """Return a copy of the details: the interval, the counts, and the reason if it is undefined."""
        return dict(self.__dict__)

    def having(self, **details: Any) -> Estimate:
        """Return a copy with additional details."""
        return Estimate(float(self), **(self.__dict__ | details))

    def __getattr__(self, name: str) -> Any:
        fields = ", ".join(k for k in self.__dict__ if not k.startswith("_"))
        raise AttributeError(f"This estimate has no {name!r}; it has: value, {fields}.")

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"An estimate cannot be changed; make a new one with having({name}=...).")

    def __repr__(self) -> str:
        return float.__repr__(self) if self.defined else f"undefined ({self.reason})"

    __str__ = __repr__


SPREAD = ("ci_low", "ci_high", "se", "interval_kind", "resampled", "clusters", "no_interval")
"""The fields that describe an estimate's interval."""


@dataclass(frozen=True)
class Spelled:
    """An estimate that the report shows with its interval and the details in ``names``."""

    value: Estimate
    names: tuple[str, ...] = ()

    def entries(self) -> dict[str, Any]:
        """Return the document's entries, without details that the estimate lacks."""
        details = without_stale_reason(self.value.details)
        kept = (*SPREAD, *self.names)
        return {"value": self.value, **{name: details[name] for name in kept if name in details}}

    def get(self, name: str) -> Any:
        """Return one detail, or None if the estimate lacks it."""
        return self.value.details.get(name)


def without_stale_reason(details: dict[str, Any]) -> dict[str, Any]:
    """Return the details without ``no_interval`` if there is an interval after all."""
    if math.isnan(details.get("ci_low", math.nan)):
        return details
    return {name: value for name, value in details.items() if name != "no_interval"}


FLAT = {"flat": True}
"""Metadata of a field whose entries belong directly in the section, not below the field's name."""


def entries(section: Any) -> dict[str, Any]:
    """Return the fields of a section by their names in the document.

    >>> import dataclasses
    >>> @dataclass
    ... class Counts:
    ...     n: int
    >>> @dataclass
    ... class Section:
    ...     counts: Counts = dataclasses.field(metadata=FLAT)
    ...     planted: int
    >>> entries(Section(Counts(3), 2))
    {'n': 3, 'planted': 2}
    """
    if isinstance(section, Spelled):
        return section.entries()
    if isinstance(section, Mapping):
        return dict(section)
    spelled: dict[str, Any] = {}
    for part in fields(section):
        value = getattr(section, part.name)
        spelled |= entries(value) if part.metadata.get("flat") else {part.name: value}
    return spelled


def plain(value: Any) -> Any:
    """Return ``value`` in JSON types: without nan, infinity and numpy types, with names as text.

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


PRINTED = ("reason", "n", *SPREAD, "sensitivity", "specificity", "shares", "multiplier", "plain", "sequence")
"""The details that JSON prints beside an estimate. Help pages explain each."""


def spell(value: Any) -> Any:
    """Return ``value`` in JSON types; each estimate becomes its value with the details in ``PRINTED``.

    >>> spell({"share": Estimate(0.5, n=4)})
    {'share': {'value': 0.5, 'reason': None, 'n': 4}}
    """
    if isinstance(value, Estimate):
        details = without_stale_reason(value.details)
        return {
            "value": plain(float(value)),
            **{name: spell(details[name]) for name in PRINTED if name in details},
        }
    if isinstance(value, Mapping):
        return {str(key): spell(entry) for key, entry in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return spell(entries(value))
    return [spell(entry) for entry in value] if isinstance(value, (list, tuple)) else plain(value)


def reasons(value: Any, path: str = "") -> Iterator[str]:
    """Yield one line for every undefined estimate in ``value``: its place and the reason."""
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


def listed(names: Sequence[str]) -> str:
    """Return the names as a list in a sentence; "" if there are none.

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    *others, last = names or [""]
    return f"{', '.join(others)} and {last}" if others else last


def plural(n: int | float, word: str, words: str | None = None) -> str:
    """Return a number with its noun.

    >>> plural(1, "unit"), plural(1000, "unit"), plural(5, "person", "people")
    ('1 unit', '1,000 units', '5 people')
    """
    return f"{n:,.0f} {word if n == 1 else words or word + 's'}"


def extent(sizes: Sequence[int]) -> str:
    """Return the smallest and the largest size, or the only one.

    >>> extent([3, 5, 4]), extent([3, 3])
    ('3 to 5', '3')
    """
    low, high = min(sizes), max(sizes)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def tell_estimate(value: Estimate) -> str:
    """Return an estimate with its interval as text, or the reason why it is undefined.

    >>> tell_estimate(Estimate(0.5, ci_low=0.4, ci_high=0.61)), tell_estimate(Estimate.undefined("nobody scored"))
    ('0.50 [0.40, 0.61]', 'undefined (nobody scored)')
    """
    if not value.defined:
        return f"undefined ({value.reason})"
    low, high = value.ci
    return f"{value:.2f}" + ("" if math.isnan(low) else f" [{low:.2f}, {high:.2f}]")


def _label(entry: Any, position: int) -> str:
    """Return a name for an entry of a list: its pair, its own name, or its position."""
    if is_dataclass(entry) and not isinstance(entry, type):
        entry = entries(entry)
    if isinstance(entry, Mapping):
        if "a" in entry and "b" in entry:
            return f"{entry['a']}, {entry['b']}"
        for key in ("name", "label", "criterion", "system", "annotator", "run", "arm"):
            if entry.get(key) is not None:
                return str(entry[key])
    return str(position)


# Undefined values of a report, with reasons, in sentences.

SOME = 3
"""The largest number of undefined values with the same reason that are named; more are only counted."""


def section_notes(sections: dict[str, Any]) -> list[str]:
    """Return one sentence per reason for undefined values, with their places in the document."""
    by_reason: dict[tuple[str, str], list[str]] = defaultdict(list)
    for line in reasons(sections):
        where, why = line.split(" is undefined: ", 1)
        by_reason[where.split(".")[0].split("[")[0], why.rstrip(".")].append(where)
    return [_sentence(why, places) for (_, why), places in by_reason.items()]


def _sentence(why: str, places: list[str]) -> str:
    """Return a sentence about the values that are undefined for this reason.

    >>> _sentence("no blind scores yet", ["drafts.pull", "drafts.adoption.value"])
    'No blind scores yet: drafts.pull and drafts.adoption.value are undefined.'
    """
    head = why[:1].upper() + why[1:]
    if len(places) <= SOME:
        return f"{head}: {listed(places)} {'is' if len(places) == 1 else 'are'} undefined."
    return f"{head}: {len(places)} values are undefined, such as {listed(places[:SOME])}."


NO_ERROR = 1e-12
"""A smaller standard error is rounding: the sample has no spread."""


CONFIDENCE = 0.95
"""The confidence of intervals; a test of equivalence has its own."""


def t_quantile(df: Any, confidence: float = CONFIDENCE) -> Any:
    """Return the half-width of a two-sided interval in standard errors, for these degrees of freedom."""
    return scipy.special.stdtrit(df, (1 + confidence) / 2)


def t_limits(value: float, se: float, df: float) -> dict[str, float]:
    """Return the interval value -+ t se, with t of ``df`` degrees of freedom; nan if ``df`` is not above 0.

    A standard error of 0 becomes nan: a sample without spread does not tell its error.

    >>> {name: round(one, 2) for name, one in t_limits(3.0, 0.1, 10).items()}
    {'ci_low': 2.78, 'ci_high': 3.22, 'se': 0.1}
    """
    se = se if se > NO_ERROR else math.nan
    half = float(t_quantile(df)) * se
    return {"ci_low": value - half, "ci_high": value + half, "se": se}


def adjust_holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted by Holm (1979), in order: the chance of any false one below .05 is at most 5%.

    Undefined p-values stay nan and do not count.

    >>> adjust_holm([0.01, 0.04, float("nan"), 0.03])
    [0.03, 0.06, nan, 0.06]
    """
    p = np.asarray(p_values, dtype=float)
    defined = np.flatnonzero(~np.isnan(p))
    order = defined[np.argsort(p[defined], kind="stable")]
    adjusted = np.full(len(p), np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(order), 0.0, -1.0)), 1)
    return [float(value) for value in adjusted]


def short(value: float) -> str:
    """Return a coefficient as papers print it.

    >>> short(0.744), short(-0.127), short(1.0)
    ('.74', '−.13', '1.00')
    """
    text = f"{abs(value):.2f}".removeprefix("0")
    return f"−{text}" if value < 0 and text != ".00" else text
