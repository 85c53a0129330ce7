"""Runs of a judge over a task, the jobs and leases for them, and requests to models."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import timedelta
from enum import StrEnum
from typing import Any

# Requests to a model, and its answers.


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation; ``role`` is system, user or assistant.

    ``images`` are addresses and data: URIs, for models that accept images.
    """

    role: str
    content: str
    images: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TypedQuestion:
    """A question whose answer is a probability for each level: ``score``, ``yes_no`` or ``choice``.

    ``levels`` are pairs of a label and its meaning, which may be empty, lowest first. Those of a yes/no question are
    "no" and "yes".
    """

    id: str
    kind: str
    text: str
    levels: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """The parameters of a request that settings, run records and judge.json pass on as they are.

    A new one is a field here, an option in ``cli/results.py``, a field in ``ui/setup/prefill_tab.py``, and a field
    of ``Asking`` in the judge's ``file_schema.py``. The endpoint gets it under the field's name.
    """

    temperature: float | None = None
    max_tokens: int | None = None
    top_p: float | None = None
    reasoning_effort: str = ""

    @property
    def parameters(self) -> dict[str, Any]:
        """Return the parameters by name, for another value that has them."""
        return {name: getattr(self, name) for name in PARAMETERS}


PARAMETERS = tuple(member.name for member in fields(Parameters))


@dataclass(frozen=True, slots=True)
class Request(Parameters):
    """One question to a model, complete except for the endpoint.

    ``schema`` is a JSON schema for the answer, if the protocol needs one. The client decides how to enforce
    it at an endpoint (schema, plain JSON, text); that is not part of the question. With ``questions``, the request asks
    for typed decisions about the text of its messages, and not for words. ``lined`` says that the words ask for
    labelled lines already, so that an endpoint without JSON gets no other instruction.
    """

    model: str
    messages: tuple[Message, ...]
    schema: Mapping[str, object] | None = None
    logprobs: bool = False
    questions: tuple[TypedQuestion, ...] = ()
    lined: bool = False

    @property
    def hash(self) -> str:
        """Return the SHA-256 of the whole question: with sample number and endpoint, the key of the ledger.

        A parameter from a later version is included only if it is set, so that earlier entries keep their
        hash.
        """
        values = {
            name: getattr(self, name)
            for name in _NAMES
            if name not in _LATER or getattr(self, name) not in (None, "", ())
        }
        values["messages"] = [
            {"role": turn.role, "content": turn.content} | ({"images": turn.images} if turn.images else {})
            for turn in self.messages
        ]
        if self.questions:
            values["questions"] = [asdict(question) for question in self.questions]
        text = json.dumps(values, sort_keys=True, ensure_ascii=False, default=dict)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


_NAMES = [member.name for member in fields(Request) if member.name != "lined"]
_LATER = (*(name for name in PARAMETERS if name not in ("temperature", "max_tokens")), "questions")


@dataclass(frozen=True, slots=True)
class TokenProb:
    """One token of the answer with its most likely alternatives, as (text, log-probability) pairs."""

    token: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's answer. ``logprobs`` is empty if the endpoint returns none; latency is in milliseconds.

    ``finish_reason`` has no default: an answer whose end nobody knows must not count as complete.
    """

    text: str
    finish_reason: str
    logprobs: tuple[TokenProb, ...] = field(default=(), repr=False)
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    """Prompt tokens that the provider served from its prefix cache."""
    latency_ms: int = 0
    response_format: str = ""
    """The form that the endpoint had to keep: "json_schema", "json_object", or "" for none."""


class Rung(StrEnum):
    """How a judge's score was obtained, best first."""

    DECISION = "decision"
    SCHEMA = "schema"
    JSON = "json"
    LABEL = "label"
    AGAIN = "asked again"


def lowest_rung(rungs: Iterable[str]) -> str:
    """Return the lowest rung of several answers; empty if none has one.

    >>> str(lowest_rung(["schema", "", "label"])), lowest_rung([])
    ('label', '')
    """
    return max((Rung(rung) for rung in rungs if rung), key=list(Rung).index, default="")


def read_rung(value: object) -> str:
    """Return the rung in a file, or "" if it has none that is known.

    >>> read_rung("json"), read_rung("sentence")
    ('json', '')
    """
    return str(value) if value in set(Rung) else ""


Ask = Callable[[Request, int], Awaitable[Answer]]
"""A function that asks a question for its n-th sample (from 0), and raises ModelError if there is no answer."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request to a model, as recorded in the ledger. The cost is in the currency of the prices."""

    request_hash: str
    sample: int
    model: str
    endpoint: str
    request: str
    response: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    latency_ms: int = 0
    error: str = ""
    created_at: str = ""
    id: int = 0


# Runs of a judge over a task, its comparisons, the jobs that carry out runs, and their leases.


@dataclass(frozen=True, slots=True)
class Run:
    """One pass of a judge over a task: protocol, model and parameters; annotators see one run's drafts."""

    protocol: str
    model: str
    label: str
    prompt_hash: str = ""
    params: Mapping[str, object] = field(default_factory=dict)
    shown: bool = False
    created_at: str = ""
    id: int = 0


@dataclass(frozen=True, slots=True)
class Comparison:
    """The output that a judge prefers on a criterion, with the two outputs in the order in which it saw them.

    ``preference`` is 1 for the first, 0 for the second and 0.5 for a tie, or the mean of several answers
    (``samples`` then has each one). It is None if none could be read, and ``reason`` says why. ``rung`` is as in
    ``Draft``. Instances and criterion are database ids.
    """

    first: int
    second: int
    criterion: int
    preference: float | None
    reason: str = ""
    raw: str = ""
    samples: tuple[float, ...] = ()
    attempt: int = 1
    rung: str = ""


class JobState(StrEnum):
    """The state of a job."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Job:
    """A long-running task that continues after its page is closed."""

    kind: str
    task: int
    state: JobState
    params: Mapping[str, object] = field(default_factory=dict)
    total: int = 0
    done: int = 0
    failed: int = 0
    message: str = ""
    created_by: str = ""
    created_at: str = ""
    updated_at: str = ""
    takeovers: int = 0
    """The number of times that another server continued the job because its own server had ended."""
    unread: int = 0
    """The number of answers in no form that could be read."""
    dismissed: bool = False
    """True once an owner has read how it ended."""
    id: int = 0

    @property
    def is_busy(self) -> bool:
        return self.state in (JobState.QUEUED, JobState.RUNNING)

    @property
    def label(self) -> str:
        """Return the label of the run that a pre-fill makes."""
        settings = self.params.get("settings")
        return str(settings.get("label", "")) if isinstance(settings, Mapping) else ""


LEASE = timedelta(seconds=15)
"""The lifetime of a lease that is not renewed because its worker was killed or its machine sleeps."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The exclusive right to work on ``name``: its holder and, if any, the job that it is for."""

    name: str
    holder: str
    job: int | None
    renewed_at: str


@dataclass(frozen=True, slots=True)
class RunExample:
    """A worked example in a run's prompts, as JSON, from a ``document``; ``base`` is the run without it."""

    base: int
    document: str
    json: str
