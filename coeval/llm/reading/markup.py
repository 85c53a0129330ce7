"""Unwrap answers: remove the model's visible reasoning, Markdown, code fences and bullets."""

from __future__ import annotations

import re

_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[\w-]*[ \t]*$", re.M)
_LINE_MARKS = re.compile(r"^[ \t]*(?:#{1,6}|(?:>[ \t]?)+)[ \t]*", re.M)
_EMPHASIS = str.maketrans("", "", "*`\u200b\ufeff")
_STAR_BULLET = re.compile(r"^([ \t]*)\*(?=[ \t])", re.M)
_UNDERSCORES = re.compile(r"(?<!\w)_{1,3}(?=\S)|(?<=[^\s_])_{1,3}(?!\w)")
_BULLETS = re.compile(r"^(?:[ \t]*(?:[-*+•‣▪–—·●]|\(?\d{1,3}[.):]|\(?[a-zA-Z][.)])[ \t]+){1,5}")


def strip_markup(text: str) -> str:
    """Return the text without emphasis, headings, quotation signs and fences. Bullets become dashes.

    >>> strip_markup("## **Rating:** `4`")
    'Rating: 4'
    """
    text = _FENCE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    text = _UNDERSCORES.sub("", _STAR_BULLET.sub(r"\1-", text).translate(_EMPHASIS))
    return _LINE_MARKS.sub("", text).strip()


def strip_bullet(line: str) -> str:
    """Return the line without its bullets and numbers.

    >>> strip_bullet("- 2. Be clear")
    'Be clear'
    """
    return _BULLETS.sub("", line).strip()


_NAMES = (
    r"(?:think(?:ing)?|thoughts?|thought[ _-]?process|reason(?:ing)?(?:[ _-](?:content|trace))?|reflection|"
    r"scratch[ _-]?pad|analysis|deliberation|(?:inner|internal)[ _-](?:monologue|thoughts?)|cot|"
    r"chain[ _-]of[ _-]thoughts?)"
)
_OPENS, _CLOSES = r"[<\[◁]\s?[|｜]?\s?", r"\s?[|｜]?\s?[>\]▷]"
_TAG = re.compile(
    rf"{_OPENS}(?:(?P<end>/\s?|end[ _▁](?:of[ _▁])?)|(?:begin|start)[ _▁](?:of[ _▁])?)?"
    rf"(?:\w{{1,12}}:)?{_NAMES}(?:\s[^<>\n]{{0,80}})?{_CLOSES}",
    re.I,
)
_CHANNEL = re.compile(
    r"<\|channel\|>\s{0,5}(?P<name>\w{1,20})(?:(?!<\|(?:message|channel)\|>).){0,120}<\|message\|>", re.S
)
_CHANNEL_END = re.compile(r"<\|(?:end|return|call|start|channel)\|>")


def strip_thoughts(text: str) -> str:
    """Return the answer without its thoughts, or "" if a thought is never closed.

    Some servers leave out the opening tag, so everything before an unmatched closing tag is a thought too. In the
    Harmony format, the last final channel is the answer.

    >>> strip_thoughts("[THINK]Score: 1?[/THINK]Score: 4")
    'Score: 4'
    >>> strip_thoughts("<think>Score: 1?")
    ''
    >>> strip_thoughts("<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>4")
    '4'
    """
    text = _final_channel(text.replace("\ufeff", ""))
    if text.lstrip()[:1] == "{" and text.rstrip()[-1:] == "}":
        return text  # tags inside JSON strings are ordinary text
    return _strip_tagged(text)


def _strip_tagged(text: str) -> str:
    """Return the text outside thinking tags. An "[Analysis]" that is never closed is a heading."""
    pieces: list[str] = []
    at, inside = 0, False
    last_end = max((tag.start() for tag in _TAG.finditer(text) if tag["end"]), default=-1)
    for tag in _TAG.finditer(text):
        if tag["end"]:
            pieces, at, inside = pieces if inside else [], tag.end(), False
        elif not inside and (tag[0][0] != "[" or tag.start() < last_end):
            pieces.append(text[at : tag.start()])
            inside = True
    return "" if inside else "".join([*pieces, text[at:]])


def _final_channel(text: str) -> str:
    """Return the content of the last final channel, or the whole text if it has no channels."""
    channels = list(_CHANNEL.finditer(text))
    if not channels:
        return text
    final = [channel for channel in channels if channel["name"] == "final"]
    if not final:
        return ""
    end = _CHANNEL_END.search(text, final[-1].end())
    return text[final[-1].end() : end.start() if end else len(text)]
