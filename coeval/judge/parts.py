"""What the parts of a judge's file are made of, and its worked examples: light enough for every run to import."""

from __future__ import annotations

import hashlib
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Name = Annotated[str, Field(min_length=1, max_length=10_000)]
Text = Annotated[str, Field(max_length=200_000)]


class Part(BaseModel):
    """Base of all parts: frozen, finite numbers only, and a field that is not known is an error.

    What checks them is built when the first is made: a start does without it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class Example(Part):
    """A worked example for the judge's prompt: a case, the score people gave it, and why.

    ``document`` is ``mark_document`` of where it came from: enough to keep it out of questions on the same document,
    not enough to tell which document it was.
    """

    input: Text
    output: Text
    criterion: Name
    score: float
    reason: Text = ""
    document: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


def mark_document(document: object, salt: str) -> str:
    """A document's id as a salted SHA-256, in hexadecimal digits."""
    return hashlib.sha256(f"{salt}\x1f{document}".encode("utf-8", "surrogatepass")).hexdigest()
