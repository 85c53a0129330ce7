"""Write estimates and counts in words, and read a typed number."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

from coeval.errors import InputError
from coeval.stats.estimates import Estimate, plural


def read_decimal(name: str, text: str | None, most: float) -> float | None:
    """Return a number from 0 to ``most`` as typed; None if the box is empty.

    Raises:
        InputError: the text is not a number in this range.

    >>> read_decimal("temperature", " 0.7 ", 2), read_decimal("temperature", "", 2)
    (0.7, None)
    """
    if not (text or "").strip():
        return None
    try:
        value = float(text or "")
    except ValueError:
        value = float("nan")
    if not 0 <= value <= most:
        raise InputError(f"“{text}” is not a {name}: type a number from 0 to {most:g}, or leave it empty.")
    return value


def clock(at: str) -> str:
    """Return a stored time as people read it, UTC to the minute."""
    return at[:16].replace("T", " ") or "time unknown"


def name_instance(position: int, external_id: str) -> str:
    """Return the name of an instance on every screen: its place in the data, then its id if it differs.

    >>> name_instance(1204, "q-17"), name_instance(12, "12")
    ('1,204 · q-17', '12')
    """
    return f"{position:,} · {external_id}" if external_id != str(position) else f"{position:,}"


def score_words(score: float | None) -> str:
    return "–" if score is None else f"{score:g}"


# Estimates in words: the figure, its interval, and the details for judging it.


def interval_words(kind: str) -> str:
    """Return the page's name for a kind of interval, from its name in the statistics.

    >>> interval_words("jackknife over documents, t")
    'jackknife over documents, for these people'
    >>> interval_words("jackknife over instances, t, with two units added")
    'jackknife over instances, for these people, with two units added'
    """
    named = re.match(r"jackknife over (\w+), t(.*)", kind)
    if named:
        return f"jackknife over {named[1]}, for these people{named[2]}"
    return kind


def number(value: float | None, digits: int = 2) -> str:
    """Return a coefficient as papers print it, without the 0 before the point, with one more digit if it rounds to 0.

    >>> number(0.6294), number(-0.021), number(1.0), number(None), number(float("nan"))
    ('.63', '−.02', '1.00', 'undefined', 'undefined')
    >>> number(-0.0014), number(0.0004), number(0)
    ('−.001', '< .001', '.00')
    """
    if value is None or math.isnan(value):
        return "undefined"
    text = f"{abs(value):.{digits}f}"
    if value and not float(text):
        text = f"{abs(value):.{digits + 1}f}"
        if not float(text):
            least = f".{'0' * digits}1"
            return f"< {least}" if value > 0 else f"> −{least}"
    sign = "−" if value < 0 and float(text) else ""
    return sign + (text[1:] if text.startswith("0.") else text)


def p_value(p: float | None) -> str:
    """
    >>> p_value(0.0413), p_value(0.00002)
    ('.041', '< .001')
    """
    return "< .001" if p is not None and p < 0.0005 else number(p, 3)


def plain_number(value: float | None, digits: int = 2) -> str:
    """Return a quantity that is not a coefficient: a mean score, seconds.

    >>> plain_number(4.126), plain_number(1234.5, 0), plain_number(-0.5, 1)
    ('4.13', '1,234', '−0.5')
    """
    if value is None or math.isnan(value):
        return "undefined"
    return f"{value:,.{digits}f}".replace("-", "−")


def percent(share: float | None, digits: int = 0) -> str:
    """
    >>> percent(0.7071), percent(0.0123, 1), percent(None)
    ('71%', '1.2%', 'undefined')
    """
    if share is None or math.isnan(share):
        return "undefined"
    return f"{100 * share:.{digits}f}%"


def interval(value: Any, show: Any = number) -> str:
    """Return the interval in brackets, or nothing if there is none.

    >>> interval(Estimate(0.63, ci_low=0.6, ci_high=0.66))
    '[.60, .66]'
    """
    low, high = value.ci if isinstance(value, Estimate) else (math.nan, math.nan)
    return "" if math.isnan(low) or math.isnan(high) else f"[{show(low)}, {show(high)}]"


def shown(value: Any, show: Any = number) -> str:
    """Return the figure with its interval; an undefined one with its reason.

    >>> shown(Estimate(0.63, ci_low=0.6, ci_high=0.66)), shown(Estimate.undefined("nobody rated"))
    ('.63 [.60, .66]', 'undefined: nobody rated')
    """
    if isinstance(value, Estimate) and not value.defined:
        return f"undefined: {value.reason}" if value.reason else "undefined"
    return f"{show(value)} {interval(value, show)}".strip()


def brief(value: Any) -> str:
    """Return the figure with its interval; an undefined one without its reason.

    >>> brief(Estimate.undefined("nobody rated"))
    'undefined'
    """
    return shown(value).split(":")[0]


def facts(value: Any) -> Iterator[str]:
    """Return the details of a figure: level, interval and its kind, n, units, people, omissions."""
    details = value.details if isinstance(value, Estimate) else {}
    if details.get("level"):
        yield str(details["level"])
    if interval(value):
        yield f"{percent(details.get('confidence', 0.95))} {interval(value)}"
    if details.get("n_units") is not None:
        yield plural(details["n_units"], "unit")
    elif details.get("n") is not None:
        yield f"n {details['n']:,.0f}"
    if details.get("n_annotators") is not None:
        yield plural(details["n_annotators"], "person", "people")
    kind = details.get("interval_kind")
    if interval(value) and kind:
        yield interval_words(str(kind))
    if interval(value) and details.get("clusters"):
        yield f"{details['clusters']:,} {details.get('resampled', 'clusters')}"


def left_out(value: Any) -> Iterator[str]:
    """Return the omissions of a figure with their counts."""
    details = value.details if isinstance(value, Estimate) else {}
    if details.get("n_units_left_out"):
        yield f"{plural(details['n_units_left_out'], 'unit')} with a single score left out"
    if details.get("n_left_out"):
        yield f"{plural(details['n_left_out'], 'item')} left out"
    if details.get("replicates_left_out"):
        yield (
            f"{details['replicates_left_out']:,} of {details['replicates']:,} replicates left out, "
            "where it was undefined"
        )


def numbered(criteria: Sequence[str]) -> dict[str, str]:
    """Return each criterion's text as a label that stays unique when shortened.

    >>> numbered(["Is it true?", "Is it clear?"])
    {'Is it true?': '1. Is it true?', 'Is it clear?': '2. Is it clear?'}
    >>> numbered(["1. Be true.", "2. Be clear."])
    {'1. Be true.': '1. Be true.', '2. Be clear.': '2. Be clear.'}
    """
    if all(re.match(rf"{position}[.)]", text) for position, text in enumerate(criteria, 1)):
        return {text: text for text in criteria}
    return {text: f"{position}. {text}" for position, text in enumerate(criteria, 1)}


def natural(name: object) -> list[tuple[int, str]]:
    """Return a key that sorts names as people count: annotator 2 before annotator 10.

    >>> sorted(["annotator 10", "annotator 2", "Ann"], key=natural)
    ['Ann', 'annotator 2', 'annotator 10']
    """
    parts = re.split(r"(\d+)", str(name).casefold())
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts if part]
