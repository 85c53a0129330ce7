"""Batch files in the OpenAI format: write questions as JSONL, and turn results into calls for the ledger.

The same files run on hosted batch services and on vLLM's batch runner. A line's ``custom_id`` consists of the
question's hash and the sample number, so that results can come back in any order and at any time.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from coeval.domain import Answer, Call, Request
from coeval.errors import InputError
from coeval.llm.client.abilities import Abilities, build_body
from coeval.llm.client.completions import parse_completion
from coeval.llm.client.failures import CallError, Failure, redact, status_failure
from coeval.llm.running.ledger import Ledger, Prices

ENDPOINT = "batch"
"""The endpoint that the ledger and a run record for answers from a file."""

URL = "/v1/chat/completions"
MAX_REQUESTS = 50_000
MAX_BYTES = 200_000_000
"""Limits of one file, from OpenAI's batch guide: 50,000 requests and 200 MB."""


def custom_id(request: Request, sample: int) -> str:
    """Return the ``custom_id`` of a question's n-th sample."""
    return f"{request.hash}-{sample}"


class BatchWriter:
    """Writes questions to ``out`` and, beyond a limit, to ``out`` with -2, -3, ... before its suffix.

    Use it as a context manager. The files appear only if it ends without an error. Each question is written once.

    Raises:
        InputError: a file with this name already exists.
    """

    def __init__(
        self,
        out: Path,
        *,
        max_requests: int = MAX_REQUESTS,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self.paths: list[Path] = []
        self.written = 0
        self._out = out
        self._max_requests, self._max_bytes = max_requests, max_bytes
        self._seen: set[str] = set()
        self._file: IO[bytes] | None = None
        self._requests = self._bytes = 0

    def add(self, request: Request, sample: int) -> None:
        """Write one question."""
        if request.questions:
            raise InputError(
                "Typed decisions cannot be sent in batch files: draft with the protocol decision live."
            )
        name = custom_id(request, sample)
        if name in self._seen:
            return
        self._seen.add(name)
        body = build_body(request, Abilities())
        line = {"custom_id": name, "method": "POST", "url": URL, "body": body}
        try:
            self._write(json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
        except OSError as error:
            raise InputError(f"{self._out} cannot be written: {error.strerror}.") from None
        self.written += 1

    def _write(self, line: bytes) -> None:
        full = self._requests >= self._max_requests or self._bytes + len(line) > self._max_bytes
        if self._file is None or full:
            self._open_next()
        assert self._file is not None
        self._file.write(line)
        self._requests += 1
        self._bytes += len(line)

    def _open_next(self) -> None:
        number = len(self.paths) + 1
        path = self._out if number == 1 else self._out.with_stem(f"{self._out.stem}-{number}")
        if path.exists():
            raise InputError(f"{path} already exists: remove it, or choose another name for --out.")
        self._close()
        self._file = _part(path).open("wb")
        self.paths.append(path)
        self._requests = self._bytes = 0

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> BatchWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()
        for path in self.paths:
            if kind is None:
                _part(path).replace(path)
            else:
                _part(path).unlink(missing_ok=True)


def _part(path: Path) -> Path:
    return path.with_name(path.name + ".part")


def write_batch(
    questions: Iterable[tuple[Request, int]], out: Path, *, ledger: Ledger | None = None
) -> BatchWriter:
    """Write the questions that have no answer in the ledger. ``paths`` and ``written`` list the files."""
    with BatchWriter(out) as writer:
        for request, sample in questions:
            if ledger is None or ledger.get_answer(request.hash, sample, ENDPOINT) is None:
                writer.add(request, sample)
    return writer


MAX_LINE = 64_000_000
"""Largest line of results, in bytes. Longer lines are reported and skipped."""

_CUSTOM_ID = re.compile(r"([0-9a-f]{64})-(\d{1,9})")


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line of a results file that could not be used: its number, from 1, and the reason."""

    line: int
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}"


def read_batch(path: Path, *, prices: Prices | None = None) -> Iterator[Call | BadLine]:
    """Yield calls for the ledger in the order of the file. Failed calls carry their error.

    Raises:
        InputError: the file cannot be opened.
    """
    try:
        file = path.open("rb")
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}): check its name.") from None
    with file:
        for number, line in enumerate(_lines(file), start=1):
            if line is None:
                yield BadLine(number, f"it is longer than {MAX_LINE:,} bytes")
            elif line.strip():
                yield _read_line(number, line, prices or Prices())


def _lines(file: IO[bytes]) -> Iterator[bytes | None]:
    """Yield the lines of the file, with None for a line that is too long."""
    for line in iter(lambda: file.readline(MAX_LINE + 1), b""):
        whole = len(line) <= MAX_LINE
        while len(line) > MAX_LINE and not line.endswith(b"\n"):
            line = file.readline(MAX_LINE + 1)
        yield line if whole else None


def _read_line(number: int, line: bytes, prices: Prices) -> Call | BadLine:
    try:
        result = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return BadLine(number, "it is not JSON: was the file cut off?")
    if not isinstance(result, dict) or not isinstance(result.get("custom_id"), str):
        return BadLine(number, "it has no custom_id, so it is not a batch result")
    name = _CUSTOM_ID.fullmatch(result["custom_id"])
    if name is None:
        return BadLine(number, f"its custom_id {result['custom_id'][:80]!r} was not written by CoEval")
    if "body" in result and "response" not in result:
        return BadLine(number, "it is a question and not a result: give the file that came back")
    response = result.get("response")
    body = response.get("body") if isinstance(response, dict) else None
    received = "" if body is None else json.dumps(body)
    answer, error = _outcome(result, received)
    used = answer or Answer("", "")
    return Call(
        request_hash=name[1],
        sample=int(name[2]),
        model=str(body.get("model") or "") if isinstance(body, dict) else "",
        endpoint=ENDPOINT,
        request="",
        response=received,
        prompt_tokens=used.prompt_tokens,
        completion_tokens=used.completion_tokens,
        cost=prices.cost(used.prompt_tokens, used.completion_tokens, used.cached_tokens),
        error=error,
    )


def _outcome(result: dict[str, Any], received: str) -> tuple[Answer | None, str]:
    """Return the answer on a line of results, or the reason why there is none."""
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


NAMED_LINES, NAMED_REASONS = 100, 3
"""Number of unreadable lines, and of reasons for failed lines, that are listed. In a wrong file every line is bad."""

AT_ONCE = 1000
"""Number of lines that are written to the ledger together."""


@dataclass(slots=True)
class Results:
    """A summary of results files."""

    answered: int = 0
    failed: int = 0
    unreadable: int = 0
    bad_lines: list[str] = field(default_factory=list)
    """The first unreadable lines, each with its file and number."""
    reasons: Counter[str] = field(default_factory=Counter)
    """The reasons of the failed lines, with the number of lines."""

    def keep(self, paths: Iterable[Path], ledger: Ledger, prices: Prices) -> None:
        """Store the calls of results files in the ledger.

        Raises:
            InputError: a file cannot be opened; the calls of earlier files are kept.
        """
        for path in paths:
            results = read_batch(path, prices=prices)
            while lines := list(islice(results, AT_ONCE)):
                ledger.record_calls([line for line in lines if isinstance(line, Call)])
                for line in lines:
                    self._count(path, line)

    def _count(self, path: Path, line: Call | BadLine) -> None:
        if isinstance(line, BadLine):
            self.unreadable += 1
            if len(self.bad_lines) < NAMED_LINES:
                self.bad_lines.append(f"{path}, {line}")
        elif line.error:
            self.failed += 1
            self.reasons[line.error] += 1
        else:
            self.answered += 1

    def __str__(self) -> str:
        said = f"{self.answered:,} answers kept, {self.failed:,} failed, {self.unreadable:,} lines unreadable"
        reasons = (f"{n:,} x {reason}" for reason, n in self.reasons.most_common(NAMED_REASONS))
        return "\n".join([said, *reasons])
