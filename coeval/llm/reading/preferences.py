"""Read a preference between two outputs, in the form that was asked for: A, B or a tie."""

from __future__ import annotations

import re

from coeval.folded_text import fold
from coeval.llm.reading.json_objects import find_json
from coeval.llm.reading.markup import strip_markup
from coeval.llm.reading.scores import EMPTY, MAX_READ, folded_lines
from coeval.llm.reading.thoughts import strip_thoughts

CHOICES = {"a": 1.0, "b": 0.0, "tie": 0.5}

NO_CHOICE = "it names neither A nor B nor a tie in the form that was asked for"
SEVERAL_CHOICES = "it names several preferences"

_LINE = re.compile(
    r"^[^\w\n]{0,9}(?:preference|التفضيل)[ \t]{0,3}[:：=][ \t]{0,9}(?P<said>[^\n]{0,200})$", re.I | re.M
)
_OTHER = re.compile(
    r"\b(?:preference|verdict|winner|better|best|preferred|choice|answer)\b[\"']?[^\w\n]{0,4}(?:is\b|[:：=])\W{0,6}"
    r"(?:output |answer |response )?(?P<said>A|B|tie)\b",
    re.I,
)


def read_preference(text: str, *, given: str = "", whole: bool = True) -> tuple[float | None, str]:
    """Return the preference (1 for A, 0 for B, .5 for a tie), and "" or the reason why there is none. Never raise.

    The answer is JSON with the key "preference", a line "Preference: A", or the choice alone. Different choices are no
    preference. Copies from ``given`` do not count. If the answer is not ``whole``, its last line does not count.

    >>> read_preference("Analysis: A is longer.\\nPreference: B")
    (0.0, '')
    """
    text = strip_thoughts(text)
    if not re.search(r"\w", text) or len(text) > MAX_READ:
        return None, EMPTY
    copies = folded_lines(given)
    said = [
        str(one.value["preference"])
        for one in find_json(text)
        if isinstance(one.value, dict) and "preference" in one.value and not one.inside
        if not given or text[one.start : one.end] not in given
    ]
    words = strip_markup(text)
    if not said:
        lines = words if whole else words[: words.rfind("\n") + 1]
        said = [match["said"] for match in _LINE.finditer(lines) if fold(match[0]) not in copies]
        said += [match["said"] for match in _OTHER.finditer(lines) if said and fold(match[0]) not in copies]
    if not said and whole:
        said = [words]
    choices = {CHOICES.get(fold(one).strip(" .'\"()[]")) for one in said}
    if len(choices) > 1:
        return None, SEVERAL_CHOICES
    choice = choices.pop() if choices else None
    return (choice, "") if choice is not None else (None, NO_CHOICE)
