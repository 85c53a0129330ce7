"""The only clock and the only time format: UTC, ISO 8601 with milliseconds, ``2026-01-31T09:30:00.000Z``.

Times in this form sort as text, so the database compares them without reading them.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


def utc_now() -> datetime:
    return datetime.now(UTC)


def now() -> str:
    """Return the time, as every table keeps it."""
    return write_time(utc_now())


def time_from_now(span: timedelta) -> str:
    """Return the time after this span; a negative span gives a time in the past."""
    return write_time(utc_now() + span)


def write_time(moment: datetime) -> str:
    """Return a time of any time zone in the common format.

    >>> write_time(datetime(2026, 1, 31, 9, 30, tzinfo=UTC))
    '2026-01-31T09:30:00.000Z'
    """
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def read_time(text: str) -> datetime:
    """Return the time that a text in the common format states.

    Raises:
        ValueError: the text is no time of ISO 8601.

    >>> write_time(read_time("2026-01-31T09:30:00.000Z"))
    '2026-01-31T09:30:00.000Z'
    """
    return datetime.fromisoformat(text)
