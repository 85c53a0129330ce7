"""Conversations as texts: what is stored, quoted and searched is one text, in which a line heads every turn.

The heading is ``── user ──``. Offsets count in that text, so a quote is found in a conversation as in any other
text, and a place that knows nothing of turns still shows something that reads well. A line of the words themselves
that looks like a heading gets a backslash; reading the turns takes it away again, so nothing is lost.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MAX_ROLE = 40
"""Longest role of a turn, in characters."""

_HEADING = re.compile(r"^── ([^\n─]{1,40}) ──$", re.M)
_LIKE_HEADING = re.compile(r"^(?=\\*── [^\n─]{1,40} ──$)", re.M)
_ESCAPED = re.compile(r"^\\(?=\\*── [^\n─]{1,40} ──$)", re.M)
_PEOPLE = {"human": "user", "gpt": "assistant"}
_BETWEEN = "\n\n"


@dataclass(frozen=True, slots=True)
class Turn:
    """What one side said: ``role`` is such as user, assistant, system or tool."""

    role: str
    content: str


def is_chat(text: str) -> bool:
    """Whether a text is a conversation.

    >>> is_chat("── user ──\\nHi"), is_chat("Hi")
    (True, False)
    """
    return _HEADING.match(text) is not None


def render_chat(turns: Sequence[Turn]) -> str:
    """The text of a conversation.

    >>> render_chat([Turn("user", "Hi"), Turn("assistant", "Hello")])
    '── user ──\\nHi\\n\\n── assistant ──\\nHello'
    """
    return _BETWEEN.join(f"── {turn.role} ──\n" + _LIKE_HEADING.sub(r"\\", turn.content) for turn in turns)


def read_chat(text: str) -> tuple[Turn, ...]:
    """The turns of a text that is a conversation; none of any other."""
    if not is_chat(text):
        return ()
    heads = list(_HEADING.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text) + len(_BETWEEN)]
    return tuple(
        Turn(head[1], _ESCAPED.sub("", text[head.end() + 1 : end - len(_BETWEEN)]))
        for head, end in zip(heads, ends, strict=True)
    )


def to_json(text: str) -> str:
    """A conversation as the JSON list of its turns; any other text as it is."""
    turns = read_chat(text)
    messages = [{"role": turn.role, "content": turn.content} for turn in turns]
    return json.dumps(messages, ensure_ascii=False) if turns else text


def parse_messages(value: object) -> tuple[Turn, ...]:
    """The turns of a list of messages as chat formats have them; none where it is no such list.

    A message is ``{"role", "content"}``, or ``{"from", "value"}``. Content may be a list of text parts. Calls of
    tools stand below the words, as their JSON.

    >>> parse_messages([{"from": "human", "value": "Hi"}])
    (Turn(role='user', content='Hi'),)
    """
    if not isinstance(value, list) or not value:
        return ()
    turns = [_parse_message(message) for message in value]
    return tuple(turn for turn in turns if turn is not None) if None not in turns else ()


def _parse_message(message: object) -> Turn | None:
    if not isinstance(message, Mapping):
        return None
    role = message.get("role", message.get("from"))
    if not isinstance(role, str) or not {"content", "value", "tool_calls"} & set(message):
        return None
    name = " ".join(role.replace("─", "-").split())
    words = _parse_content(message.get("content", message.get("value")))
    if not name or len(name) > MAX_ROLE or words is None:
        return None
    calls = message.get("tool_calls")
    parts = [words, json.dumps(calls, ensure_ascii=False) if calls else ""]
    return Turn(_PEOPLE.get(name, name), "\n\n".join(filter(None, parts)))


def _parse_content(content: object) -> str | None:
    """The words of a message; None where it holds something else, such as an image."""
    if content is None:
        return ""
    if isinstance(content, str):
        return re.sub(r"\r\n?", "\n", content)
    if not isinstance(content, list):
        return None
    parts = [part.get("text") if isinstance(part, Mapping) else part for part in content]
    words = [part for part in parts if isinstance(part, str)]
    return "\n\n".join(words) if len(words) == len(parts) else None
