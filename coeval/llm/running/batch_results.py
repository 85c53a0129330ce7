"""Reads the results of a batch file into calls for the ledger: in any order, errors kept line by line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from coeval.domain import Answer, Call, Request
from coeval.errors import InputError
from coeval.llm.client.abilities import Abilities, build_body
from coeval.llm.client.completions import parse_completion
from coeval.llm.client.failures import CallError, Failure, redact
from coeval.llm.client.refusals import status_failure
from coeval.llm.running.batch_files import ENDPOINT
from coeval.llm.running.ledger import Prices

MAX_LINE = 64_000_000
"""Bytes of one line of results; longer ones are reported and passed over."""

_CUSTOM_ID = re.compile(r"([0-9a-f]{64})-(\d{1,9})")


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line of a results file that tells nothing about any question: its number, from 1, and why."""

    line: int
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}"


def read_batch(
    path: Path, *, prices: Prices | None = None, questions: Mapping[str, Request] | None = None
) -> Iterator[Call | BadLine]:
    """Calls for the ledger, failed ones with their error, in the order of the file, one line at a time.

    ``questions`` by ``custom_id``, where they are at hand, give the calls the request that was sent and the
    name of the model as it was asked for.

    Raises:
        InputError: the file cannot be opened.
    """
    reader = _Reader(prices or Prices(), questions or {})
    try:
        file = path.open("rb")
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}): check its name.") from None
    with file:
        for number, line in enumerate(_lines(file), start=1):
            if line is None:
                yield BadLine(number, f"it is longer than {MAX_LINE:,} bytes")
            elif line.strip():
                yield reader.read(number, line)


def _lines(file: IO[bytes]) -> Iterator[bytes | None]:
    """The lines of the file; None in place of one that is too long."""
    for line in iter(lambda: file.readline(MAX_LINE + 1), b""):
        whole = len(line) <= MAX_LINE
        while len(line) > MAX_LINE and not line.endswith(b"\n"):
            line = file.readline(MAX_LINE + 1)
        yield line if whole else None


class _Reader:
    """Reads single lines."""

    def __init__(self, prices: Prices, questions: Mapping[str, Request]) -> None:
        self._prices, self._questions = prices, questions

    def read(self, number: int, line: bytes) -> Call | BadLine:
        try:
            result = json.loads(line.decode("utf-8-sig"))
        except (ValueError, RecursionError):
            return BadLine(number, "it is not JSON: was the file cut off?")
        if not isinstance(result, dict) or not isinstance(result.get("custom_id"), str):
            return BadLine(number, "it has no custom_id: it is no line of batch results")
        name = _CUSTOM_ID.fullmatch(result["custom_id"])
        if name is None:
            return BadLine(number, f"its custom_id {result['custom_id'][:80]!r} was not written by CoEval")
        if "body" in result and "response" not in result:
            return BadLine(number, "it is a question and not a result: give the file that came back")
        return self._call(name[1], int(name[2]), result)

    def _call(self, request_hash: str, sample: int, result: dict[str, Any]) -> Call:
        request = self._questions.get(result["custom_id"])
        response = result.get("response")
        body = response.get("body") if isinstance(response, dict) else None
        served = str(body.get("model") or "") if isinstance(body, dict) else ""
        received = "" if body is None else json.dumps(body)
        answer, error = _outcome(result, received)
        return Call(
            request_hash=request_hash,
            sample=sample,
            model=request.model if request else served,
            endpoint=ENDPOINT,
            request=json.dumps(build_body(request, Abilities()), ensure_ascii=False) if request else "",
            response=received,
            prompt_tokens=answer.prompt_tokens if answer else 0,
            completion_tokens=answer.completion_tokens if answer else 0,
            cost=self._prices.cost(answer.prompt_tokens, answer.completion_tokens) if answer else 0.0,
            error=error,
        )


def _outcome(result: dict[str, Any], received: str) -> tuple[Answer | None, str]:
    """The answer on a line of results, or why there is none."""
    try:
        return _answer(result, received), ""
    except CallError as error:
        return None, str(error)


def _answer(result: dict[str, Any], received: str) -> Answer:
    response, error = result.get("response"), result.get("error")
    if not isinstance(response, dict):
        details = error if isinstance(error, dict) else {}
        said = redact(str(details.get("message") or details.get("code") or "no reason given"))
        raise CallError(f"The batch gave no answer: {said}", Failure.SERVER_ERROR)
    status = response.get("status_code")
    if isinstance(status, int) and status != 200:
        raise status_failure(status, redact(received[:2000]), "", place="The batch", retry_after=None)
    return parse_completion(received, place="The batch")
