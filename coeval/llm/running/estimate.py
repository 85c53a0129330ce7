"""How many tokens a request takes, before anybody has counted them."""

from __future__ import annotations

import json
import math
import re

from coeval.domain import Request

CHARS_PER_TOKEN = 4.0
PER_MESSAGE = 4


def estimate_tokens(request: Request) -> int:
    """About how many tokens a request's prompt takes, without a tokeniser and in linear time.

    Four ASCII characters count as one token, as they do on average in English; every other letter or sign
    counts as one, which is about right for Chinese and too much for accented letters; four come on top for
    each message, and the answer's JSON schema counts as text. Good to some 20 % for English prose.
    """
    texts = [message.content for message in request.messages]
    if request.schema is not None:
        texts.append(json.dumps(request.schema, default=dict))
    others = sum(len(re.findall(r"[^\x00-\x7f]", text)) for text in texts)
    ascii_chars = sum(map(len, texts)) - others
    return math.ceil(ascii_chars / CHARS_PER_TOKEN) + others + PER_MESSAGE * len(request.messages)
