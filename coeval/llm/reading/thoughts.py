"""The visible thoughts of reasoning models, in the dialects in which they come: they are no part of the answer."""

from __future__ import annotations

import re

_WORDS = r"(?:seed:)?(?:think|thinking|thoughts?|reasoning|reflection)"
_MARK = re.compile(rf"<(?P<a>/?){_WORDS}>|\[(?P<b>/?)THINK\]|◁(?P<c>/?)think▷", re.I)
_CHANNEL = re.compile(r"<\|channel\|>\s{0,5}(?P<name>\w{1,20})[^<]{0,80}<\|message\|>")
_CHANNEL_END = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
_LEAKED = re.compile(r"\bassistant\s?final(?=\W|[A-Z{])")


def strip_thoughts(text: str) -> str:
    """The answer without thoughts; empty where it never came out of them.

    Some servers leave out the opening tag, so what stands before a lone closing tag is a thought as well. Of
    Harmony's channels the last final one is the answer.

    >>> strip_thoughts("[THINK]Score: 1?[/THINK]Score: 4")
    'Score: 4'
    >>> strip_thoughts("<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>4")
    '4'
    """
    text = _final_channel(text)
    pieces: list[str] = []
    at, inside = 0, False
    for place, mark in enumerate(_MARK.finditer(text)):
        if mark["a"] or mark["b"] or mark["c"]:
            if not inside and place:
                continue
            inside, at = False, mark.end()
        elif not inside:
            pieces.append(text[at : mark.start()])
            inside = True
    return "".join(pieces if inside else [*pieces, text[at:]])


def _final_channel(text: str) -> str:
    """What the last final channel says; the text itself where it has no channels."""
    channels = list(_CHANNEL.finditer(text))
    if not channels:
        leaked = list(_LEAKED.finditer(text)) if text.lstrip()[:8].lower() == "analysis" else []
        return text[leaked[-1].end() :] if leaked else text
    final = [channel for channel in channels if channel["name"] == "final"]
    if not final:
        return ""
    end = _CHANNEL_END.search(text, final[-1].end())
    return text[final[-1].end() : end.start() if end else len(text)]
