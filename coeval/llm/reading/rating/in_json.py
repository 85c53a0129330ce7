"""The rating of an answer in JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator

from coeval.llm.reading.echoes import own_objects
from coeval.llm.reading.folding import fold
from coeval.llm.reading.rating.shapes import TARGET, Found, Sought, number_of

MAX_DEPTH = 4
_KEYS = re.compile(r"(?:\w* )?(?:score|rating|grade|verdict|answer)s?", re.I)
_VALUE = re.compile(rf"\W*?{TARGET}(?:[ \t]*[-–—:.,(][^\d]*)?\W*")


def json_rating(text: str, sought: Sought) -> Found | None:
    """The one score that the answer's own JSON objects state; None where there is no object with a score."""
    stated = [score for value in own_objects(text, sought.sample) for score in _scores(value, sought, 0)]
    if not stated:
        return None
    return Found(stated[0], "JSON") if len(set(stated)) == 1 else Found(None, "JSON with several ratings")


def _scores(value: dict[str, object], sought: Sought, depth: int) -> Iterator[float | None]:
    names = {fold(name) for name in sought.names}
    for key, inner in value.items():
        word = fold(str(key)).replace("_", " ")
        if isinstance(inner, dict) and depth < MAX_DEPTH:
            yield from _scores(inner, sought, depth + 1)
        elif word in names or _KEYS.fullmatch(word):
            yield _score_of(inner, sought.high)


def _score_of(value: object, high: float) -> float | None:
    """The number of a JSON value: a number, or text that is one; anything else is no score."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value) if abs(value) < 1e9 else None
    match = _VALUE.fullmatch(value.strip()) if isinstance(value, str) else None
    return number_of(match, high) if match else None
