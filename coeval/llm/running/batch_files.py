"""Batch files in the OpenAI format: questions out as JSONL, for runs that leave this machine.

The same files run on hosted batch services and on vLLM's batch runner; ``batch_results`` reads what comes
back. A line's ``custom_id`` is the
question's hash and the number of its sample, so that results can come back in any order and at any time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import IO

from coeval.domain import Request
from coeval.errors import InputError
from coeval.llm.client.abilities import Abilities, build_body
from coeval.llm.running.ledger import Ledger

ENDPOINT = "batch"
"""What the ledger and a run give as the endpoint of answers that came from a file."""

URL = "/v1/chat/completions"
MAX_REQUESTS = 50_000
MAX_BYTES = 200_000_000
"""Limits of one file: OpenAI's batch guide, 50,000 requests and 200 MB."""


def custom_id(request: Request, sample: int) -> str:
    """The name of a question's n-th sample in a batch file."""
    return f"{request.hash}-{sample}"


class BatchWriter:
    """Writes questions to ``out`` and, past a limit, to ``out`` with -2, -3, ... before its suffix.

    Use it as a context manager: the files appear when it ends well, and none when it does not. A question
    that was added before is left out.

    Raises:
        InputError: a file of that name is there already.
    """

    def __init__(
        self,
        out: Path,
        *,
        abilities: Abilities | None = None,
        max_requests: int = MAX_REQUESTS,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self.paths: list[Path] = []
        self.written = 0
        self._out, self._abilities = out, abilities or Abilities()
        self._max_requests, self._max_bytes = max_requests, max_bytes
        self._seen: set[str] = set()
        self._file: IO[bytes] | None = None
        self._requests = self._bytes = 0

    def add(self, request: Request, sample: int) -> None:
        """Write one question."""
        name = custom_id(request, sample)
        if name in self._seen:
            return
        self._seen.add(name)
        body = build_body(request, self._abilities)
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
            raise InputError(f"{path} is there already: remove it, or choose another name for --out.")
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
    """Write the questions that the ledger has no answer to; ``paths`` and ``written`` tell what was made."""
    with BatchWriter(out) as writer:
        for request, sample in questions:
            if ledger is None or ledger.get_answer(request.hash, sample, ENDPOINT) is None:
                writer.add(request, sample)
    return writer
