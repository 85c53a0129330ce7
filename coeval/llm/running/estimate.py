"""How many tokens a text or a request takes, before anybody has counted them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable

from coeval.domain import Request

PER_MESSAGE = 4
LETTERS, OTHER_LETTERS, SIGNS = 10, 2.5, 2.2
"""Characters of one token: letters of an English word, of a word with other letters, signs in a row."""

_PIECE = re.compile(r"[^\W\d_]+|\d{1,3}|\n+|[^\w\s]+|_+")
_IDEOGRAPH = 0x2E80


def estimate_tokens(request: Request) -> int:
    """About how many tokens a request's prompt takes, the JSON schema of its answer among them, but no image."""
    texts = [message.content for message in request.messages]
    if request.schema is not None:
        texts.append(json.dumps(request.schema, default=dict))
    return count_tokens(texts) + PER_MESSAGE * len(request.messages)


def estimate_sent(body: str) -> int:
    """The same for the JSON text of a request as it was sent; 0 where it is none."""
    try:
        sent = json.loads(body)
        messages = [_words_of(message["content"]) for message in sent["messages"]]
    except (ValueError, RecursionError, LookupError, TypeError):
        return 0
    form = sent.get("response_format")
    schema = form.get("json_schema", {}).get("schema") if isinstance(form, dict) else None
    texts = [*messages, json.dumps(schema)] if schema else messages
    return count_tokens(texts) + PER_MESSAGE * len(messages)


def _words_of(content: object) -> str:
    """The words of a message that was sent; one with images is a list of parts."""
    if not isinstance(content, list):
        return str(content)
    return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))


def count_tokens(texts: Iterable[str]) -> int:
    """About how many tokens these texts are, without a tokeniser and in linear time.

    A word is one token for each ten letters begun, or two and a half where they are no English letters; an ideograph is
    one, three digits are one, signs in a row are one for every 2.2, and so are line breaks in a row. Against the
    vocabularies cl100k and o200k it is within 8% for English prose, chat, code, CSV and JSON schemas; what an
    endpoint has counted corrects it (``forecast``).

    >>> count_tokens(["The ferry left the island at noon."])
    8
    """
    return math.ceil(sum(_weigh(piece[0]) for text in texts for piece in _PIECE.finditer(text)))


def _weigh(piece: str) -> float:
    if piece.isspace() or piece.isdecimal():
        return 1
    if not piece[0].isalpha():
        return max(1.0, len(piece) / SIGNS)
    if piece.isascii():
        return math.ceil(len(piece) / LETTERS)
    ideographs = sum(ord(letter) >= _IDEOGRAPH for letter in piece)
    return ideographs + math.ceil((len(piece) - ideographs) / OTHER_LETTERS)
