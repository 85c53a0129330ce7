"""Read the score that an answer states in words or log-probabilities, or none if it is unclear.

Three parsers of words follow each other: JSON with the requested keys (``rating_json``), then labels
(``rating_labels``), then prose (``rating_prose``). Each returns the model's own last complete statement. A
contradiction without a clear last word, a number off the scale, several items, or none give no score at all: never
zero, never a guess.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from coeval.domain import Scale, TokenProb
from coeval.llm.reading.cleanup import fold, hide, hide_echoes, hide_marks, reveal, strip_thoughts
from coeval.llm.reading.markup import opens_at, strip_markup
from coeval.llm.reading.rating_json import entry_for, flatten_tables, is_only_json, own_json, score_of
from coeval.llm.reading.rating_labels import labelled
from coeval.llm.reading.rating_prose import bare, said
from coeval.llm.reading.rating_words import (
    TARGET,
    Query,
    Stated,
    anchor_score,
    criterion_names,
    is_denied,
    is_somebody_elses,
    number_of,
    replaces,
    settle_numbers,
)

MAX_PLACES = 50
"""Number of tokens that are tried as the score's token."""


@dataclass(frozen=True, slots=True)
class Expected:
    """The mean score under the model's token probabilities.

    ``probabilities`` are those of the scale's steps, normalised to a sum of 1; ``mass`` is their original sum.
    """

    score: float
    mass: float
    probabilities: tuple[float, ...] = ()


def expected_score(
    tokens: tuple[TokenProb, ...], scale: Scale, read: Callable[[str], float | None]
) -> Expected | None:
    """Return the expected score at the score's token, or None if the score is not a single token.

    ``read`` reads a score from a whole answer. The score's token is the one that, replaced with another step of the
    scale, changes the score that is read to that step, whatever the form of the answer. Tokens off the scale are left
    out, and the remaining probabilities are normalised.
    """
    place = _score_place([token.token for token in tokens], scale, read)
    if place is None:
        return None
    token = tokens[place]
    chances = dict(token.top) | {token.token: token.logprob}
    weights = dict.fromkeys(scale.steps, 0.0)
    for text, logprob in chances.items():
        step = _step(text, scale)
        if step is not None:
            weights[step] += math.exp(logprob)
    mass = math.fsum(weights.values())
    if mass <= 0:
        return None
    score = math.fsum(step * weight for step, weight in weights.items()) / mass
    return Expected(score, min(1.0, mass), tuple(weight / mass for weight in weights.values()))


def _score_place(texts: list[str], scale: Scale, read: Callable[[str], float | None]) -> int | None:
    score = read("".join(texts))
    if score is None:
        return None
    places = [index for index, text in enumerate(texts) if _step(text, scale) == score]
    other = next((step for step in reversed(scale.steps) if step != score), None)
    if other is None:
        return None
    for index in places[-MAX_PLACES:]:
        exchanged = texts[index].replace(str(int(score)), str(other))
        if read("".join([*texts[:index], exchanged, *texts[index + 1 :]])) == other:
            return index
    return None


def _step(text: str, scale: Scale) -> int | None:
    """Return the step of the scale that a token states, ignoring spaces."""
    digits = text.strip()
    return int(digits) if digits in {str(step) for step in scale.steps} else None


MAX_READ = 24_000
"""Number of characters that are read from the start of a prose answer. Twice as many are read from its end."""

RULE_ANCHOR = "word of the rubric"


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of reading: a score and the rule that accepted it, or None and ``why``.

    ``why`` is a few words that fit after a colon. ``members`` are the members of the JSON object with the score.
    """

    score: float | None
    why: str = ""
    rule: str = ""
    members: Mapping[str, object] = field(default_factory=dict)

    @property
    def nothing(self) -> bool:
        """True if the answer has no number where a score could be."""
        return self.why in (EMPTY, NO_NUMBER)


EMPTY, NO_NUMBER = "the answer is empty", "no number stands where a score would"
NOT_WHOLE = "an answer that is not whole"


def parse_rating(text: str, scale: Sequence[float], criterion: str | None = None) -> float | None:
    """Return the rating in a model's answer, or None if there is none, several, or one off the scale.

    ``scale`` is the pair (lowest, highest); decimals between them are kept. ``criterion`` is the criterion's
    name or its whole text. Its name is a cue, and anchor words that it defines ("1 = dull, 2 = fair") are
    read as their scores. Never raises.

    >>> parse_rating("**Rating:** 4.5/5", (1, 5))
    4.5
    >>> parse_rating("Rating: 7", (1, 5)) is None
    True
    """
    return read_rating(text, scale, criterion).score


def read_rating(
    text: str, scale: Sequence[float], criterion: str | None = None, *, given: str = "", whole: bool = True
) -> Reading:
    """Return the rating like `parse_rating`, with its rule, or the reason why there is none.

    ``given`` is the sample and the prompt; text that the answer copies from them is never the verdict. If the answer
    is not ``whole`` (cut off, or withheld halfway), only complete JSON and labelled lines that end with a line break
    count.
    """
    low, high = float(scale[0]), float(scale[1])
    text = strip_thoughts(text)
    if not re.search(r"[\w★⭐]", text):
        return Reading(None, EMPTY)
    query = Query(criterion_names(criterion or ""), high, fold(given))
    stated, members = _from_json(text, low, query, given, whole=whole)
    if stated is None and not is_only_json(text):
        stated = _from_words(text, low, query, criterion or "", given, whole=whole)
    if stated is None:
        return Reading(None, NO_NUMBER)
    return on_scale(stated, low, high, members)


def cut_middle(text: str) -> str:
    """Return the text, cut to its beginning and end if it is longer than `MAX_READ` allows."""
    return text if len(text) <= MAX_READ else f"{text[: MAX_READ // 3]}\n…\n{text[-2 * MAX_READ // 3 :]}"


def on_scale(stated: Stated, low: float, high: float, members: Mapping[str, object] | None = None) -> Reading:
    """Return the reading of a statement, with a score on the scale or none."""
    members = members or {}
    if stated.score is None:
        why = f"“{reveal(stated.words[:80]).strip()}” is not one score from {low:g} to {high:g}"
        return Reading(None, why, members=members)
    if not math.isfinite(stated.score) or not low <= stated.score <= high:
        return Reading(None, f"{stated.score:g} is outside the scale {low:g}-{high:g}", members=members)
    return Reading(stated.score, "", stated.rule, members)


# --- JSON -------------------------------------------------------------------------------------------------


_EXAMPLE = re.compile(
    r"\b(?:for (?:example|instance)|would look like)\b[^.\n]{0,60}[:：]\s*(?:```\w*\s*)?\Z", re.I
)
"""Words before JSON that only shows the form of an answer."""


def _from_json(
    text: str, low: float, query: Query, given: str, *, whole: bool
) -> tuple[Stated | None, Mapping[str, object]]:
    """Return the score of the last JSON value that states one, unless other words contradict it."""
    if not whole and opens_at(text) >= 0:
        return None, {}
    values = own_json(text, query.given, whole=whole)
    own = [value for value in values if not _EXAMPLE.search(text[: value.start])]
    if values and not own:
        return Stated(None, "an example of an answer"), {}
    found = [
        (value, entry, stated)
        for value in own
        if (entry := entry_for(value.value, query)) and (stated := score_of(entry.members, query.high))
    ]
    if not found:
        return None, {}
    value, entry, stated = found[-1]
    earlier = next((one for one in reversed(found) if one[2].score != stated.score), None)
    if earlier and not replaces(text[earlier[0].end : value.start]):
        return Stated(None, "JSON with several ratings"), entry.members
    rest = prepare(text[value.end :], low, query.high, given)
    after = labelled(rest if whole else _ended_lines(rest), query, whole=whole)
    if after and after.score is not None and stated.score is not None and after.score != stated.score:
        final = replaces(rest) or "final" in fold(after.words)
        return (after if final else Stated(None, "JSON and words that differ")), entry.members
    if not whole and replaces(rest):
        return Stated(None, "a score that was about to change"), entry.members
    if stated.score is not None and _is_changed(rest, stated.score, query):
        return Stated(None, "JSON and words that differ"), entry.members
    return stated, entry.members


# --- words ------------------------------------------------------------------------------------------------


def prepare(text: str, low: float, high: float, given: str, *, items: bool = False) -> str:
    """Return the words of an answer without markup and without numbers that cannot be a verdict.

    These are numbers copied from the prompt, mentions of the scale, and numbers in longer quotations.
    """
    words = strip_markup(hide_echoes(cut_middle(text), given, items=items))
    words = words if items else settle_numbers(words, high)
    words = hide_scale(flatten_tables(_SUM.sub("", words)), low, high)
    if len(words) > 2 and words[0] in "\"'“" and words[-1] in "\"'”" and words[0] not in words[1:-1]:
        words = words[1:-1].strip()
    return hide_quotes(re.sub(r"(?<![\w.])\+(?=\d)", "", words) if low < 0 else words)


def _from_words(
    text: str, low: float, query: Query, criterion: str, given: str, *, whole: bool
) -> Stated | None:
    if not whole:
        if opens_at(text) >= 0:
            return Stated(None, NOT_WHOLE)
        return _from_ended_lines(prepare(_ended_lines(text), low, query.high, given), text, query)
    if text.lstrip("` \njson").startswith("{") and opens_at(text) >= 0:
        text = re.sub(r"[\d.]+\s*\Z", "", text)  # a number at the cut may have lost digits
    return read_words(prepare(text, low, query.high, given), low, query, criterion)


def read_words(words: str, low: float, query: Query, criterion: str) -> Stated | None:
    """Return the score in prepared words: after a label, in a sentence, as a bare number or as an anchor word."""
    if len(set(_ITEM.findall(words))) > 1:
        return Stated(None, "a list of several items")
    looks = (labelled,) if _OTHER_SCALE.search(words) else (labelled, said, bare)
    for look in looks:
        stated = look(words, query)
        if stated is not None:
            after = words[words.rfind(stated.words) + len(stated.words) :]
            changed = stated.score is not None and _is_changed(after, stated.score, query)
            return Stated(None, "a score that the last words change") if changed else stated
    score = anchor_score(words, criterion, low, query.high)
    return None if score is None else Stated(score, words, RULE_ANCHOR)


def _is_changed(said: str, stated: float, query: Query) -> bool:
    """Return whether the words after a score give another number in its place."""
    found = [number_of(match, query.high) for match in _CHANGED.finditer(said)]
    found += [
        number_of(match, query.high)
        for match in _MINE.finditer(said)
        if not is_somebody_elses(said, match.start(), match.end())
        and not is_denied(said, match.start(), match.end())
    ]
    return any(score is not None and score != stated for score in found)


_CHANGED = re.compile(
    r"(?:\b(?:(?:on )?second thoughts?|make (?:that|it)|scratch that|i (?:now )?(?:meant?|believe)|edit|"
    r"update|correction|"
    r"korrektur|actually|wait|after (?:discussion|review)|"
    r"sorry|or rather|no(?=[,:])|should (?:be|have been))\b)"
    r"(?:\W{1,5}(?:to|it|an?|is|be|the|score|should|rather|now|that))*"
    rf"\W{{1,5}}{TARGET}(?=\W{{0,4}}(?:$|\n)|[.,;] )",
    re.I | re.M,
)
"""Words that put a number in the place of one before."""
_MINE = re.compile(
    rf"\bI(?:['’]d| would| will| do)?[ \t](?:rate|give|score|grade|assign|award)\b[^\d.!?;:\n]{{1,50}}?{TARGET}"
    rf"(?=[ \t]*(?:[.!?;\n]|$))",
    re.I,
)
"""The model's own verdict in a sentence."""
_OTHER_SCALE = re.compile(r"\bscale[ \t]+(?:of|from)[ \t]+\d{1,3}[ \t]*(?:-|–|to)[ \t]*\d", re.I)
"""Another scale than that of the criterion, whose numbers are hidden."""
_RUN = re.compile(
    r"(?<![\d.])\d{1,2}[ \t]*\([^()\n\d]{1,60}\)(?:[,;][ \t]*\d{1,2}[ \t]*\([^()\n\d]{1,60}\)){1,20}"
)
"""What each score means, in one line: "1 (poor), 2 (weak)"."""


def _ended_lines(text: str) -> str:
    """Return the text without its last line, unless that line ends with a line break."""
    return text[: text.rfind("\n") + 1]


def _from_ended_lines(words: str, text: str, query: Query) -> Stated | None:
    """Return the score in an incomplete answer's last labelled line, unless the last words begin to change it."""
    stated = labelled(words, query, whole=False)
    tail = strip_markup(text[text.rfind("\n") + 1 :])
    if (
        stated
        and stated.score is not None
        and (replaces(tail) or _BEGUN.match(tail) or labelled(tail, query))
    ):
        return Stated(None, "a score that was about to change")
    return stated or Stated(None, NOT_WHOLE)


_BEGUN = re.compile(r"\W{0,9}(?:[\w ]{1,30}[ \t])?(?:score|rating|grade|verdict|answer)\b", re.I)
_ITEM = re.compile(
    r"^\W{0,4}(?:potential\s+|possible\s+)?"
    r"(?:response|conversation|dialogue|example|item|summary|output|answer|sample|candidate|text|system)"
    r"[ \t]*#?(\d{1,4})[ \t]*[:.)-]",
    re.I | re.M,
)


_SUM = re.compile(
    r"(?<![\w.,/])\(?\d{1,3}(?:\.\d{1,3})?(?:[ \t]{0,2}[-+−–][ \t]{0,2}\d{1,3}(?:\.\d{1,3})?){1,20}\)?"
    r"(?:[ \t]{0,2}[/÷][ \t]{0,2}\d{1,2})?[ \t]{0,2}=[ \t]{0,2}(?=\d)"
)
"""The sum or mean before its result: "2 + 1 = "."""
_QUOTED_LABEL = re.compile(
    r"(?<=[\w,(][ \t(])(?<!\b(?:is|as|be)[ \t])[\"'‘“][^\W\d_][\w \t-]{0,30}[:=][ \t]{0,3}\d[^\"'’”\n]{0,9}[\"'’”]"
)
"""A quotation within a sentence: 'it says "Score: 5"'."""


def hide_scale(text: str, low: float, high: float) -> str:
    """Hide the numbers that describe the scale: "(1-5)", "1 to 5", "(1 = bad, 3 = good)", "(out of 5)"."""

    def hide_all(match: re.Match[str]) -> str:
        return hide(match[0])

    def hide_legend(match: re.Match[str]) -> str:
        fraction = re.fullmatch(r"[^\d]*[\d.]+\s*(?:/|out of|of)\s*[\d.]+\s*[)\]]", match[0])
        several = len(set(re.findall(r"\d+(?:\.\d+)?", match[0]))) > 1
        return hide_marks(hide(match[0])) if several and not fraction else match[0]

    text = re.sub(r"[(\[][^()\[\]\n]{0,200}[)\]]", hide_legend, text)
    text = re.sub(rf"[(\[]\s*(?:out\s+of|max\.?|maximum|/|of)\s*{high:g}\s*[)\]]", hide_all, text, flags=re.I)
    label = rf"\b(score|rating|grade)[ \t]+out of {high:g}(?=[ \t]*[:：=–—-])"
    text = re.sub(label, r"\1", text, flags=re.I)
    text = re.sub(_RUN, hide_all, text)
    ends = r"\((?:lowest|worst|lower|highest|best|higher)[^()\n]{0,40}\)"
    text = re.sub(rf"(?<![\d.])-?\d{{1,3}}\s*{ends}", hide_all, text, flags=re.I)
    whole = rf"(?<![\d.]){low:g}\s*(?:-|–|—|~|to|and|through)\s*(?:an?[ \t]+)?{high:g}(?!\.?\d)"
    return re.sub(whole, hide_all, text)


def hide_quotes(text: str) -> str:
    """Hide the numbers in longer quotations and in quoted labels, which are another person's words."""

    def hide_quote(match: re.Match[str]) -> str:
        return match[0] if len(re.findall(r"[^\W\d_]{2,}", match[0])) < 3 else hide(match[0])

    text = _QUOTED_LABEL.sub(lambda label: hide(label[0]), text)
    quoted = r'(?<!\d)"[^"\n]{1,1000}"|“[^”\n]{1,1000}”|«[^»\n]{1,1000}»|「[^」\n]{1,1000}」'
    return re.sub(quoted, hide_quote, text)
