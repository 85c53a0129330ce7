"""The only clock and the only time format: UTC, ISO 8601 with milliseconds, ``2026-01-31T09:30:00.000Z``.

Times in this format sort as text, so the database can compare them without parsing.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


def utc_now() -> datetime:
    return datetime.now(UTC)


def now() -> str:
    """Return the current time in the common format."""
    return write_time(utc_now())


def time_from_now(span: timedelta) -> str:
    """Return the current time plus this span; a negative span gives a time in the past."""
    return write_time(utc_now() + span)


def write_time(moment: datetime) -> str:
    """Convert a time in any time zone to the common format.

    >>> write_time(datetime(2026, 1, 31, 9, 30, tzinfo=UTC))
    '2026-01-31T09:30:00.000Z'
    """
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def read_time(text: str) -> datetime:
    """Parse a time in the common format.

    Raises:
        ValueError: the text is not an ISO 8601 time.

    >>> write_time(read_time("2026-01-31T09:30:00.000Z"))
    '2026-01-31T09:30:00.000Z'
    """
    return datetime.fromisoformat(text)
