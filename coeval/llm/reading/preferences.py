"""Read a preference between two outputs from an answer: A, B or a tie."""

from __future__ import annotations

import re
from collections.abc import Iterator

from coeval.llm.reading.cleanup import fold, strip_thoughts
from coeval.llm.reading.markup import strip_markup
from coeval.llm.reading.rating_json import key_words, own_json
from coeval.llm.reading.rating_words import EARLY, FINAL, replaces
from coeval.llm.reading.ratings import cut_middle

FIRST, SECOND, TIE = 1.0, 0.0, 0.5
CONTEXT = 20
"""Number of characters before a choice that are compared with the prompt."""

NO_CHOICE = "it names neither A nor B nor a tie as its preference"
SEVERAL_CHOICES = "it names several preferences, none of them as its last word"

_BRACKET = re.compile(r"\[\[[ \t]{0,3}([AB]|C|tie)[ \t]{0,3}\]\]", re.I)
_LABEL = (
    r"preference|preferred(?: (?:output|answer|response|one))?|verdict|winner|better(?: (?:output|"
    r"answer|response|one))?|"
    r"choice|final answer|answer|judge?ment|decision|conclusion"
)
_LABELLED = re.compile(
    rf"\b(?:{_LABEL})[\"']?[ \t]{{0,3}}(?:[:：=→]|[–—-](?=[ \t])|is\b)(?P<said>[^\n]{{0,300}})", re.I
)
_NOUN = (
    r"(?:(?:the[ \t]{1,3})?(?!not\b|neither\b|only\b|than\b|nor\b|either\b|between\b|"
    r"both\b)[A-Za-z]{3,20}[ \t]{1,3})?"
)
_CHOSEN = re.compile(
    rf"\W{{0,9}}(?:(?:so|thus|therefore|overall|"
    rf"hence)\b[ \t,]{{0,3}})?(?:I[ \t]{{1,3}}(?:would[ \t]{{1,3}}|['’]d[ \t]{{1,3}})?"
    rf"(?:prefer|choose|pick|favou?r|go with|say)[ \t]{{1,3}})?{_NOUN}(?P<letter>[AB])\b(?P<rest>.*)",
    re.S,
)
_TIED = re.compile(
    r"\W{0,9}(?:(?:it['’]?s|it is|this is|they are|both are|the two are|a|an|call it a)[ \t]{1,3}){0,2}"
    r"(?:tied?|draw|equal(?:ly good)?|neither(?! of)|both(?=\W*$)|the same|no (?:clear )?(?:preference|"
    r"winner))\b(?P<rest>.*)",
    re.I | re.S,
)
_OPTIONS = re.compile(
    r"\W{0,5}(?:,|/|\||;|\bor\b|\bvs\b\.?|\bversus\b)\W{0,5}(?:or\W{1,3})?(?:[AB]\b|tie\b|C\b)"
)
_AND = re.compile(r"[ \t]{1,3}(?:and|&)[ \t]{1,3}(?:[A-Za-z]{1,20}[ \t]{1,3})?[AB]\b")
_ALIKE = re.compile(r"\b(?:tied?|equal\w*|same|alike|comparable|similar\w*|indistinguishable)\b", re.I)
_CLAUSE = re.compile(r"[.;!?\n—–]|,|\b(?:because|since|as it|while|whereas|but|though)\b")
_BETTER = re.compile(
    r"\b(?:better|superior|stronger|wins?|best|prefer\w*|more|clearer|beats?|outperforms?|"
    r"surpasses)\b",
    re.I,
)
_WORSE = re.compile(
    r"\b(?:worse|inferior|weaker|poorer|loses?|lost|fails?|falls? short|less|lags?|worst)\b|"
    r"(?:\bnot|n['’]t)[ \t]{1,3}(?:nearly |quite |even )?(?:as|so)\b",
    re.I,
)
_AS_GOOD = re.compile(r"\bas[ \t]{1,3}\w+[ \t]{1,3}as\b", re.I)
_NOT = re.compile(r"\b(?:not|no|never|hardly|neither|nor)\b|n['’]t\b", re.I)
_ENDS = re.compile(
    r"[ \t]*(?:$|[\"'\])*.,;:!—–-])|[ \t]+(?:is|isn|was|wasn|because|since|as|wins|loses|over|by|does|"
    r"doesn|performs|reads|has|"
    r"gives|better|preferred|beats|fails|falls|outperforms|seems|looks|would|lags)\b|['’]s\b"
)


def parse_preference(text: str, *, given: str = "", whole: bool = True) -> tuple[float | None, str]:
    """Return the preference (1 for A, 0 for B, .5 for a tie), and "" or the reason why there is none. Never raise.

    JSON counts first, then ``[[A]]``, then labelled choices, then a last line that contains only a choice. Two
    different choices in the same form are no preference, unless words between them say that the second replaces the
    first. Words copied from ``given`` do not count. If the answer is not ``whole``, only complete JSON and lines that
    end with a line break count.

    >>> parse_preference("Analysis: A is longer.\\nPreference: B")
    (0.0, '')
    """
    own = cut_middle(strip_thoughts(text))
    known = fold(given)
    stated = [
        (choice, found.start, found.end, "")
        for found in own_json(own, known, whole=whole)
        if (choice := _stated(found.value)) is not None
    ]
    if stated:
        return _last(stated, own)
    if not whole:
        own = own[: own.rfind("\n") + 1]
    brackets = [
        ({"a": FIRST, "b": SECOND}.get(match[1].lower(), TIE), match.start(), match.end(), "")
        for match in _BRACKET.finditer(own)
        if not _is_copied(match, known)
    ]
    if brackets:
        return _last(brackets, own)
    words = strip_markup(own)
    choices = list(_labelled(words, known))
    if choices:
        return _last(choices, words)
    lines = [line for line in words.split("\n") if line.strip()]
    return _told(_choice(lines[-1][:200], bare=True) if lines and whole else None)


def _stated(value: object) -> float | None:
    """Return the choice that a JSON object states."""
    keys = {key_words(key): member for key, member in value.items()} if isinstance(value, dict) else {}
    label = next((key for key in keys if re.fullmatch(_LABEL, key)), "")
    return _choice(str(keys[label])) if isinstance(keys.get(label), str) else None


def _labelled(words: str, known: str) -> Iterator[tuple[float, int, int, str]]:
    for match in _LABELLED.finditer(words):
        choice = _choice(match["said"])
        if choice is not None and not _is_copied(match, known, match.start("said") + 12):
            line = words[words.rfind("\n", 0, match.start()) + 1 : match.start("said")]
            yield choice, match.start(), match.end(), line


def _last(choices: list[tuple[float, int, int, str]], words: str) -> tuple[float | None, str]:
    settled = [one for one in choices if not EARLY.search(one[3])] or choices
    verdict = settled[0]
    for one in settled[1:]:
        replaced = (
            replaces(words[verdict[2] : one[1]]) or FINAL.search(one[3]) and not FINAL.search(verdict[3])
        )
        if one[0] != verdict[0] and not replaced:
            return None, SEVERAL_CHOICES
        verdict = one
    return verdict[0], ""


def _choice(said: str, *, bare: bool = False) -> float | None:
    """Return the choice after a label; ``bare`` words count only if they are a choice or a comparison."""
    tied = _TIED.match(said)
    if tied:
        return None if _OPTIONS.match(tied["rest"]) or bare and len(said) > 40 else TIE
    chosen = _CHOSEN.match(said)
    if chosen is None:
        return None
    rest = chosen["rest"]
    if _OPTIONS.match(rest):
        return None
    if _AND.match(rest):
        return TIE if _ALIKE.search(rest) and not _NOT.search(rest) else None
    if not _ENDS.match(rest):
        return None
    stop = _CLAUSE.search(rest)
    clause = rest[: stop.start() if stop else len(rest)]
    this = FIRST if chosen["letter"] == "A" else SECOND
    if _ALIKE.search(clause):
        return None if _NOT.search(clause) or _BETTER.search(clause) else TIE
    if _WORSE.search(clause):
        denied = re.search(
            r"\b(?:not|no|n['’]t)[ \t]{1,3}(?:worse|inferior|weaker|poorer|less)\b", clause, re.I
        )
        return None if denied or _BETTER.search(clause) else 1 - this
    if (
        _NOT.search(clause)
        or _AS_GOOD.search(clause)
        or bare
        and clause.strip(" \t\"')]*")
        and not _BETTER.search(clause)
    ):
        return None
    return this


def _told(choice: float | None) -> tuple[float | None, str]:
    return (choice, "") if choice is not None else (None, NO_CHOICE)


def _is_copied(match: re.Match[str], known: str, end: int = 0) -> bool:
    """Return whether a choice and the words before it are copied from the prompt."""
    before = fold(match.string[max(0, match.start() - CONTEXT) : match.start()])
    if len(before) < CONTEXT // 2 or not known:
        return False
    return fold(match.string[max(0, match.start() - CONTEXT) : end or match.end()]) in known
