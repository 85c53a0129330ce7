"""Eligibility filters: convert an owner's lines for Prolific, and search its list.

A line is ``filter=value, value`` or ``filter=18..40``; see https://docs.prolific.com/api-reference/filters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from coeval.domain import Person
from coeval.errors import InputError
from coeval.extensions.prolific.api import RemoteFilter
from coeval.extensions.prolific.requests_log import Line, Report, open_desk
from coeval.usecases.access import OWNERS, Context, use_case

SHOWN = 40


@use_case(OWNERS)
def find_filters(context: Context, person: Person, slug: str, words: str) -> Report:
    """Search Prolific's filters by words of their names; return them with their possible values."""
    with open_desk(context, person, slug) as desk:
        known = desk.client.list_filters()
    sought = words.strip().casefold()
    found = [one for one in known if sought in f"{one.filter_id} {one.title}".casefold()]
    if not found:
        raise InputError(f"Prolific has no filter with “{words.strip()[:80]}” in its name: try another word.")
    lines = [Line(one.filter_id, f"{one.title}: {_say_values(one)}") for one in found[:SHOWN]]
    more = [Line("…", f"and {len(found) - SHOWN} more: use more words")] if len(found) > SHOWN else []
    return Report("Filters", (*lines, *more))


def read_filters(text: str, list_known: Callable[[], list[RemoteFilter]]) -> list[dict[str, Any]]:
    """Return the lines in the form of Prolific's API; values may be ids or names.

    Raises:
        InputError: a line has another form, or has a filter or a value that Prolific does not know.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    known = {one.filter_id: one for one in list_known()}
    found = [_read(line, known) for line in lines]
    names = [one["filter_id"] for one in found]
    twice = next((name for name in names if names.count(name) > 1), "")
    if twice:
        raise InputError(f"The filter “{twice}” is listed twice: write all of its values on one line.")
    return found


def _read(line: str, known: Mapping[str, RemoteFilter]) -> dict[str, Any]:
    name, equals, given = (part.strip() for part in line.partition("="))
    if not (name and equals and given):
        raise InputError(f"“{line[:80]}” is not a filter: write filter=18..40 or filter=value1, value2.")
    if name not in known:
        raise InputError(f"Prolific has no filter “{name[:80]}”: search for a word in its name.")
    one = known[name]
    low, dots, high = (part.strip() for part in given.partition(".."))
    if dots or one.type == "range":
        if not dots or one.type != "range":
            form = f"{name}=18..40" if one.type == "range" else f"{name}=value, value"
            raise InputError(f"“{line[:80]}” does not fit this filter: write {form}.")
        if not (low or high):
            raise InputError(
                f"“{line[:80]}” has neither a lowest nor a highest value: write {name}=18..40, {name}=18.. or"
                f" {name}=..40."
            )
        return {
            "filter_id": name,
            "selected_range": {"lower": _number(low, line), "upper": _number(high, line)},
        }
    choices = one.choices or {}
    by_name = {title.casefold(): key for key, title in choices.items()}
    values = [value.strip() for value in given.split(",") if value.strip()]
    lost = [value for value in values if value not in choices and value.casefold() not in by_name]
    if lost and choices:
        raise InputError(
            f"The filter “{name}” has no value “{lost[0][:60]}”; its values are: {_say_values(one)}."
        )
    return {
        "filter_id": name,
        "selected_values": [
            value if value in choices else by_name.get(value.casefold(), value) for value in values
        ],
    }


def _number(text: str, line: str) -> float | int | None:
    if not text:
        return None
    try:
        value = float(text)
        if not math.isfinite(value):
            raise ValueError
    except ValueError:
        raise InputError(
            f"“{line[:80]}” contains “{text[:20]}”, which is not a number: write 18..40."
        ) from None
    return int(value) if value.is_integer() else value


def _say_values(one: RemoteFilter) -> str:
    if one.type == "range":
        return f"from {one.min} to {one.max}"
    choices = [f"{key} ({title})" for key, title in (one.choices or {}).items()]
    more = f", and {len(choices) - 20} more" if len(choices) > 20 else ""
    return ", ".join(choices[:20]) + more or "any value"


def say_filter(one: Mapping[str, Any]) -> str:
    """Describe a filter in words.

    >>> say_filter({"filter_id": "age", "selected_range": {"lower": 18, "upper": None}})
    'age from 18'
    """
    if "selected_values" in one:
        return f"{one['filter_id']}: {', '.join(one['selected_values'])}"
    span = one["selected_range"]
    ends = [
        f"{word} {span[end]}" for word, end in (("from", "lower"), ("to", "upper")) if span[end] is not None
    ]
    return " ".join([one["filter_id"], *ends])
