"""Numbers typed into a box."""

from __future__ import annotations

from coeval.errors import InputError


def read_decimal(name: str, text: str | None, most: float) -> float | None:
    """A number from 0 to ``most`` as typed; None where the box is empty.

    Raises:
        InputError: it is none.

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
