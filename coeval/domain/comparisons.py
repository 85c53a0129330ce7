"""Two outputs of one document side by side."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Comparison:
    """Which of two outputs a judge prefers by a criterion, in the order in which it saw them.

    ``preference`` is 1 for the first, 0 for the second and 0.5 for a tie, or the mean of several answers (then
    ``samples`` has each); None where none could be read, and ``reason`` says why. Instances and criterion by their ids.
    """

    first: int
    second: int
    criterion: int
    preference: float | None
    reason: str = ""
    raw: str = ""
    samples: tuple[float, ...] = ()
    attempt: int = 1
