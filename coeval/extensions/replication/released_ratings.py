"""Read the ratings in the released answers of “A Closer Look into Automatic Evaluation Using LLMs”.

The answers were given in free text, so the paper's tables need rules for sentences and list numbers. Only this
replication uses them: a judge of CoEval is asked for a form, and only the form is read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_NUMBER = r"(?P<number>\d{1,2}(?:\.\d+)?)(?!\d)(?:[ \t]*/[ \t]*\d)?"
_ITEM = re.compile(r"^[ \t]*(?:response|conversation|item)[ \t]*(\d+)[ \t]*:", re.I | re.M)
_LIST = re.compile(rf"^[ \t]*\d{{1,2}}\.[ \t]+{_NUMBER}[ \t]*$", re.M)
_ANY_ITEM = re.compile(r"^[ \t]*\d{1,2}\.[ \t]+\S", re.M)
_SAID = re.compile(rf"\b(?:score|rating)[ \t]+(?:of|is|would be|as)[ \t]+{_NUMBER}", re.I)
_FIRST = re.compile(rf"[ \t\n*-]*{_NUMBER}(?P<mark>[.:]|[ \t]*[-(]|[ \t]*$|[ \t]*\n)?", re.I)
_LAST = re.compile(rf"(?:^|[ \t.,])\(?{_NUMBER}\)?[.]?\s*\Z")


def read_released_rating(text: str, scale: Sequence[float], attribute: str) -> float | None:
    """Return the rating in a released answer, or None if it has none, several, or one off the scale.

    The first label counts, because models went on to rate attributes that nobody asked about. Without a label it is a
    verdict in a sentence, then a number at the beginning ("2. Somewhat"), then one at the end ("Yes, 1"). A number
    before a label or before another number is that of a list.

    >>> read_released_rating("1. Coherence: 3", (1, 3), "coherence")
    3.0
    >>> read_released_rating("2. Somewhat interesting", (1, 3), "engagingness")
    2.0
    """
    if len(set(_ITEM.findall(text))) > 1 or len(_LIST.findall(text)) > 1:
        return None
    for pattern in (_label(attribute), _SAID):
        if found := pattern.search(text):
            return _on_scale(found["number"], scale)
    if listed := _LIST.search(text):
        return _on_scale(listed["number"], scale)
    if len(_ANY_ITEM.findall(text)) > 1:
        return None
    first = _FIRST.match(text)
    if first:
        # "1. Natural" may be the first item of a list or the lowest rating
        ambiguous = re.fullmatch(rf"\s*1\.[ \t]+{attribute[:5]}\w*\s*", text, re.I)
        return None if ambiguous else _on_scale(first["number"], scale)
    last = _LAST.search(text)
    return _on_scale(last["number"], scale) if last else None


def _label(attribute: str) -> re.Pattern[str]:
    labels = rf"rating|score|response|answer|rationale|related|{re.escape(attribute)}"
    return re.compile(rf"\b(?:{labels})[ \t*]*:[ \t\n*]*{_NUMBER}", re.I)


def _on_scale(number: str, scale: Sequence[float]) -> float | None:
    return float(number) if scale[0] <= float(number) <= scale[1] else None
