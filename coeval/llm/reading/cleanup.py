"""Clean a model's answer before parsing: lone surrogates, case and quotes, visible reasoning, copied text.

Folding works character by character, so that every folded character can be traced to its original position.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

_LONE = re.compile("[\ud800-\udfff]")
REPLACEMENT = "\ufffd"


def clean_text(text: str) -> str:
    r"""Return the text with each lone surrogate replaced by U+FFFD. The length stays the same.

    >>> clean_text("half \ud83d")
    'half �'
    """
    return _LONE.sub(REPLACEMENT, text)


def clean_value(value: object) -> object:
    """Return a value decoded from JSON with all its strings cleaned."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [clean_value(inner) for inner in value]
    if isinstance(value, dict):
        return {clean_text(str(key)): clean_value(inner) for key, inner in value.items()}
    return value


# Texts are folded for comparison, because a model that retypes a text rarely keeps spaces, case and quotation
# marks.

QUOTE_MARKS = "\"'`´‘’‚‛“”„‟«»‹›「」『』《》〈〉＂＇"
_DASHES = "‐‑‒–—―−"
_INVISIBLE = frozenset("*\u200b\u200c\u200d\u2060\ufeff\u00ad")
_SPACES = re.compile(" {2,}")


class _Table(dict[int, str]):
    """The folded form of each character, by code point, filled in when first needed."""

    def __missing__(self, code: int) -> str:
        self[code] = folded = _fold_char(chr(code))
        return folded


def _fold_char(char: str) -> str:
    """Return one character without case and compatibility forms, with uniform quotation marks and dashes.

    Markdown's emphasis asterisks are removed, because models quote words without them.
    """
    if char in _INVISIBLE:
        return ""
    if char.isspace():
        return " "
    if char in QUOTE_MARKS:
        return "'"
    if char in _DASHES:
        return "-"
    return unicodedata.normalize("NFKD", char).casefold()


_TABLE = _Table()


@dataclass(frozen=True, slots=True)
class Folded:
    """Folded text, with the index of the original character for each of its characters."""

    text: str
    origin: Sequence[int]

    def slice_of(self, start: int, end: int) -> tuple[int, int]:
        """Return the offsets in the original of ``text[start:end]``, which must not be empty."""
        return self.origin[start], self.origin[end - 1] + 1


def fold_offsets(text: str) -> Folded:
    """Fold a text and keep the original offsets. Runs of white space become one space. Time is linear.

    >>> fold_offsets("A  “B”").text
    "a 'b'"
    >>> fold_offsets("A  “B”").slice_of(2, 5)
    (3, 6)
    """
    folded = text.translate(_TABLE)
    origin: Sequence[int] = range(len(text))
    if any(len(_TABLE[ord(char)]) != 1 for char in set(text)):
        origin = array("I", (index for index, char in enumerate(text) for _ in _TABLE[ord(char)]))
    if "  " not in folded:
        return Folded(folded, origin)
    kept, last = array("I"), 0
    for run in _SPACES.finditer(folded):
        kept.extend(origin[last : run.start() + 1])
        last = run.end()
    kept.extend(origin[last:])
    return Folded(_SPACES.sub(" ", folded), kept)


def fold(text: str) -> str:
    """Return the folded text alone, without space at its ends.

    >>> fold(" It’s  FINE ")
    "it's fine"
    """
    return " ".join(text.translate(_TABLE).split())


# A model's visible reasoning, in any known format, is not part of its answer.

_NAMES = (
    r"(?:think(?:ing)?|thoughts?|thought[ _-]?process|reason(?:ing)?(?:[ _-](?:content|trace|steps?))?|"
    r"reflect(?:ion|ing)?|scratch[ _-]?pad|analysis|"
    r"deliberat(?:e|ion)|(?:inner|internal)[ _-]?\w{1,12}|monologue|cot|chain[ _-]of[ _-]thoughts?|"
    r"rumination|"
    r"brainstorm(?:ing)?|pondering|musings?|planning|self[ _-]?\w{1,12}|working(?:s|[ _-]out)?)"
)
_OPENS = r"[<\[{◁【«]\s{0,3}[|｜]?\s{0,3}"
_CLOSES = r"\s{0,3}[|｜]?\s{0,3}[>\]}▷】»]"
_TAG = re.compile(
    rf"{_OPENS}(?:(?P<end>/\s{{0,3}}|end[ _▁-](?:of[ _▁-])?)|(?:begin|start)[ _▁-](?:of[ _▁-])?)?"
    rf"(?:\w{{1,12}}:)?{_NAMES}(?:\s[^<>\n]{{0,80}})?{_CLOSES}",
    re.I,
)
_BLOCKS = (
    re.compile(r"<!--.*?(?:-->|\Z)", re.S),
    re.compile(r"<details\b[^>]{0,200}>.*?(?:</details\s{0,3}>|\Z)", re.S | re.I),
    re.compile(
        rf"^[ \t]{{0,9}}(```|~~~|:::)[ \t]*{_NAMES}[ \t]*\n.*?(?:^[ \t]{{0,9}}\1[ \t]*$|\Z)",
        re.S | re.I | re.M,
    ),
)
"""Blocks with different start and end marks: comments, folded details, fences."""
_BEGIN_LINE = re.compile(
    rf"[^\w\n]{{0,9}}(?:(?:begin|start)\w{{0,5}}(?:[ \t]of)?[ \t])?{_NAMES}[^\w\n]{{0,9}}", re.I
)
_END_LINE = re.compile(
    rf"[^\w\n]{{0,9}}(?:done|end|finished|stop)\w{{0,3}}(?:[ \t]of)?[ \t]{_NAMES}[^\w\n]{{0,9}}", re.I
)
_UNDONE = re.compile(r"\s{0,9}thinking(?:\.\.\.|…)[ \t]*\n", re.I)
_LEADING = re.compile(r"\s*<(?P<name>[a-z][\w-]{0,30})(?:\s[^<>\n]{0,80})?>", re.I)
_ANSWERS = re.compile(
    r"\w*(?:scores?|ratings?|answer|grade|verdict|conclusion|evidence|explanation|rationale|"
    r"evaluations?|response|result|"
    r"output|solution|judge?ment|final\w*|feedback|assessment|report|review|criteri\w+|json|quotes?|"
    r"remark|reply|message|"
    r"text|content|table)|[a-z][a-z0-9]?|(?:div|span|strong|html|body|form|pre|code|list|item|article|"
    r"section|entry|root|xml)",
    re.I,
)
"""Tags around an answer or its layout. A block in any other tag before the answer is reasoning."""
_CHANNEL = re.compile(
    r"<\|channel\|>\s{0,5}(?P<name>\w{1,20})(?:(?!<\|(?:message|channel)\|>).){0,120}<\|message\|>", re.S
)
_CHANNEL_END = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
_LEAKED = re.compile(r"\bassistant\s?final(?=\W|[A-Z{])")


def strip_thoughts(text: str) -> str:
    """Return the answer without reasoning and byte order mark, or "" if there is only reasoning.

    Some servers leave out the opening tag, so everything before an unmatched closing tag is reasoning too. In the
    Harmony format, the last final channel is the answer.

    >>> strip_thoughts("[THINK]Score: 1?[/THINK]Score: 4")
    'Score: 4'
    >>> strip_thoughts("<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>4")
    '4'
    """
    text = _final_channel(text.replace("\ufeff", ""))
    if text.lstrip()[:1] == "{" and text.rstrip()[-1:] == "}" and not _TAG.match(text.lstrip()):
        return text  # tags inside JSON strings are ordinary text
    for block in _BLOCKS:
        text = block.sub("", text)
    text = _strip_lines(_strip_tagged(text))
    return "" if _UNDONE.match(text) else _strip_leading(text)


def _strip_tagged(text: str) -> str:
    """Return the text outside thinking tags. An "[Analysis]" that is never closed is a heading."""
    pieces: list[str] = []
    at, inside = 0, False
    # Search twice, because the list of tags in a hostile answer would be large.
    last = max((tag.start() for tag in _TAG.finditer(text) if tag["end"]), default=-1)
    for tag in _TAG.finditer(text):
        if tag["end"]:
            pieces, at, inside = pieces if inside else [], tag.end(), False
        elif not inside and (tag[0][0] in "<◁" or tag.start() < last):
            pieces.append(text[at : tag.start()])
            inside = True
    return "".join(pieces if inside else [*pieces, text[at:]])


def _strip_lines(text: str) -> str:
    """Return the text without the part between lines such as "Thinking..." and "...done thinking."."""
    kept: list[str] = []
    began: int | None = None
    for line in text.split("\n"):
        if _END_LINE.fullmatch(line):
            kept, began = kept[: began or 0], None
        else:
            if began is None and _BEGIN_LINE.fullmatch(line):
                began = len(kept)
            kept.append(line)
    return "\n".join(kept)


def _strip_leading(text: str) -> str:
    """Return the text without a leading block in an unknown tag."""
    opening = _LEADING.match(text)
    if opening is None or _ANSWERS.fullmatch(opening["name"]):
        return text
    closing = re.compile(rf"</\s{{0,3}}{re.escape(opening['name'])}\s{{0,3}}>", re.I).search(
        text, opening.end()
    )
    return text[closing.end() :] if closing and text[closing.end() :].strip() else text


def _final_channel(text: str) -> str:
    """Return the content of the last final channel, or the whole text if it has no channels."""
    channels = list(_CHANNEL.finditer(text))
    if not channels:
        leaked = list(_LEAKED.finditer(text)) if text.lstrip()[:8].lower() == "analysis" else []
        return text[leaked[-1].end() :] if leaked else text
    final = [channel for channel in channels if channel["name"] == "final"]
    if not final:
        return ""
    end = _CHANNEL_END.search(text, final[-1].end())
    return text[final[-1].end() : end.start() if end else len(text)]


# Text that an answer repeats from the prompt or the sample is never the verdict.

MIN_ECHO = 25
"""Smallest number of folded characters for a passage of the prompt to count as copied."""

_QUOTED = re.compile(
    r'"[^"]{1,1000}"|“[^”]{1,1000}”|«[^»]{1,1000}»|「[^」]{1,1000}」|`[^`]{1,1000}`|'
    r"(?<!\w)['‘][^'’\n]{1,400}['’](?!\w)"
)
_NUMBER = re.compile(
    r"\d+|\b(?:rating|score|grade|verdict|answer)\W{1,9}"
    r"(?:(?:is|of)\W)?(?:zero|one|two|three|four|five|six|seven|eight|nine|ten)\b"
)
_WORDED = re.compile(
    r"\b(z(?=ero\b)|o(?=ne\b)|t(?=(?:wo|hree|en)\b)|f(?=(?:our|ive)\b)|s(?=(?:ix|even)\b)|e(?=ight\b)|"
    r"n(?=ine\b))",
    re.I,
)
_ITEM = re.compile(r"(?m)^[^\w\n]{0,12}\d{1,3}(?=[\]).:])")
_NEAR = 100
_SPLIT = "\ue00a"
_HIDDEN = {ord(str(digit)): 0xE000 + digit for digit in range(10)}
_HIDDEN_MARKS = {ord(mark): 0xE010 + place for place, mark in enumerate("=:：")}
_SHOWN = {hidden: shown for shown, hidden in (_HIDDEN | _HIDDEN_MARKS).items()} | {ord(_SPLIT): None}


def hide(words: str) -> str:
    """Return the words with their numbers hidden from all rules. `reveal` restores them."""
    return _WORDED.sub(rf"\1{_SPLIT}", words).translate(_HIDDEN)


def hide_marks(words: str) -> str:
    """Return the words without the marks that may come before a score: "(1 = bad, 5 = good)" has none."""
    return words.translate(_HIDDEN_MARKS)


def reveal(text: str) -> str:
    """Return the text with the numbers and marks that `hide` and `hide_marks` removed.

    >>> reveal(hide("It says 5, or five."))
    'It says 5, or five.'
    """
    return text.translate(_SHOWN)


def hide_echoes(text: str, given: str, *, items: bool = False) -> str:
    """Hide the numbers that an answer copies or quotes from the prompt.

    Passages of `MIN_ECHO` characters count anywhere, regardless of spaces and case; shorter quotations count only if
    they contain a number and a word. With ``items``, numbers that begin a line ("[2] Score: 4") stay. A bare
    "Rating: 5" stays as well (see `is_echo`). Time is linear in both texts.
    """
    folded = fold(given)
    if not folded:
        return text

    def mask(words: str) -> str:
        item = _ITEM.match(words) if items else None
        kept = item.end() if item else 0
        return words[:kept] + hide(words[kept:])

    def mask_quote(match: re.Match[str]) -> str:
        inner = fold(match[0][1:-1])
        stated = re.search(r"\d", inner) and re.search(r"[^\W\d_]", inner)
        return mask(match[0]) if stated and inner in folded else match[0]

    pieces: list[str] = []
    at = 0
    for start, end in _copies(text, folded):
        line = text[text.rfind("\n", 0, start) + 1 : start] if items else ""
        if _ITEM.match(line + "]"):  # the copy begins after "[3": the next item of the form looks the same
            start = min(end, len(text) if "\n" not in text[start:end] else text.index("\n", start))
        pieces += [text[at:start], *(mask(line) for line in text[start:end].splitlines(keepends=True))]
        at = end
    return _QUOTED.sub(mask_quote, "".join([*pieces, text[at:]]))


def _copies(text: str, folded_given: str) -> list[tuple[int, int]]:
    """Return the passages around numbers that the text copies from the prompt, each of at least `MIN_ECHO`
    characters.
    """
    known = _passages(folded_given)
    answer = fold_offsets(text)
    spans: list[tuple[int, int]] = []
    at = 0
    while known and at <= len(answer.text) - MIN_ECHO:
        if answer.text[at : at + MIN_ECHO] not in known:
            at += 1
            continue
        first = at
        while answer.text[at : at + MIN_ECHO] in known:
            at += 1
        at += MIN_ECHO - 1
        start, end = answer.slice_of(first, at)
        # a copied "Rating: 1" must not match the start of the answer's own "Rating: 10"
        while end > start and text[end - 1].isdecimal() and text[end : end + 1].isdecimal():
            end -= 1
        spans.append((start, end))
    return spans


@lru_cache(maxsize=4)
def _passages(folded_given: str) -> frozenset[str]:
    """Return every passage of `MIN_ECHO` characters near a number. Other passages cannot be mistaken for a verdict."""
    passages: set[str] = set()
    done = 0
    for number in _NUMBER.finditer(folded_given):
        first = max(done, number.start() - _NEAR)
        done = min(len(folded_given) - MIN_ECHO + 1, number.end() + _NEAR)
        passages.update(folded_given[at : at + MIN_ECHO] for at in range(first, done))
    return frozenset(passages)


def is_echo(words: str, folded_given: str) -> bool:
    """Return whether the folded prompt contains exactly these words (a label with its number)."""
    said = fold(words)
    at = folded_given.find(said)
    while at >= 0 and said[-1:].isdecimal() and folded_given[at + len(said) : at + len(said) + 1].isdecimal():
        at = folded_given.find(said, at + 1)  # "Rating: 1" is not a copy of "Rating: 10"
    return bool(folded_given) and at >= 0
