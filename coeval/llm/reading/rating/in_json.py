"""The rating of an answer in JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator

from coeval.llm.reading.echoes import own_objects
from coeval.llm.reading.folding import fold
from coeval.llm.reading.rating.rating_shapes import TARGET, Query, Stated, number_of

MAX_DEPTH = 4
_KEYS = re.compile(r"(?:\w* )?(?:score|rating|grade|verdict|answer)s?", re.I)
_FINAL = re.compile(r"\b(?:final|overall|revised)\b")
_VALUE = re.compile(rf"\W*?{TARGET}(?:[ \t]*[-–—:.,(][^\d]*)?\W*")


def json_rating(text: str, query: Query) -> Stated | None:
    """The one score that the answer's own JSON objects state; None where there is no object with a score."""
    stated = [pair for value in own_objects(text, query.sample) for pair in _scores(value, query, 0)]
    final = [pair for pair in stated if _FINAL.search(pair[0])]
    scores = {score for _, score in final or stated}
    if not scores:
        return None
    return Stated(scores.pop(), "JSON") if len(scores) == 1 else Stated(None, "JSON with several ratings")


def _scores(value: dict[str, object], query: Query, depth: int) -> Iterator[tuple[str, float | None]]:
    """The scores of an object, each with its key; of one that names the criterion too, those under its name."""
    names = {fold(name) for name in query.names}
    for key, inner in value.items():
        word = fold(str(key)).replace("_", " ")
        named = word in names or bool(_KEYS.fullmatch(word))
        if isinstance(inner, dict) and named and "value" in inner:
            yield word, _score_of(inner["value"], query.high)
        elif isinstance(inner, dict) and depth < MAX_DEPTH:
            yield from _scores(inner, query, depth + 1)
        elif named:
            yield word, _score_of(inner, query.high)


def _score_of(value: object, high: float) -> float | None:
    """The number of a JSON value: a number, or text that is one; anything else is no score."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value) if abs(value) < 1e9 else None
    match = _VALUE.fullmatch(value.strip()) if isinstance(value, str) else None
    return number_of(match, high) if match else None
