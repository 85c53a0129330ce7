"""The log: whatever is written to it, no line is longer than a person reads."""

from __future__ import annotations

from typing import Any, TextIO

LONGEST_LINE = 1000


class ShortLines:
    """A stream that cuts long lines short; Gradio logs what it refuses with all that was sent."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(shorten_lines(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def shorten_lines(text: str) -> str:
    """
    >>> shorten_lines("short" + chr(10) + "x" * 5000)[-26:]
    'xxxxxx… (4,000 characters)'
    """
    if len(text) <= LONGEST_LINE:
        return text
    return "\n".join(
        line
        if len(line) <= LONGEST_LINE
        else f"{line[:LONGEST_LINE]}… ({len(line) - LONGEST_LINE:,} characters)"
        for line in text.split("\n")
    )
