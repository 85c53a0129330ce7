"""What a run will take, before it is paid for: calls and tokens, from the very requests it would send."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from coeval.domain import Request
from coeval.llm.prompting.options import (
    ANALYZE_RATE,
    COEVAL,
    FREE_TEXT,
    FUSION,
    RATE_EXPLAIN,
    SCORE_ONLY,
    JudgeOptions,
)

CHARS_PER_TOKEN = 4.0
PER_MESSAGE = 4
ANSWER_TOKENS = {SCORE_ONLY: 6, FREE_TEXT: 60, RATE_EXPLAIN: 80, ANALYZE_RATE: 100, COEVAL: 220, FUSION: 300}
"""Tokens of a usual answer under each protocol: rough figures for an estimate, not limits."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run is expected to take. Re-asks come on top: one in a hundred answers or so."""

    calls: int
    prompt_tokens: int
    completion_tokens: int


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


def estimate_run(calls: Iterable[tuple[Request, int]], options: JudgeOptions) -> Estimate:
    """Calls and tokens of a run, from the calls it would send (`protocols.render_calls`).

    An answer is expected to have the protocol's usual length, or ``max_tokens`` where that is less.
    """
    count = prompt = completion = 0
    for request, sample in calls:
        usual = ANSWER_TOKENS[options.form_of(sample % options.answers)]
        count += 1
        prompt += estimate_tokens(request)
        completion += min(usual, options.max_tokens or usual)
    return Estimate(count, prompt, completion)
