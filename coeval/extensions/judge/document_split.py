"""The split of documents into those for fitting a judge and those for its certificate."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from math import floor

from coeval.extensions.judge.seal_types import Part

Stratum = tuple[str, ...]
"""The properties over which documents are balanced, such as the systems that answered them."""


def hash_document(document: str, salt: str) -> float:
    """Return a number from 0 (included) to 1 for the document: pseudo-random, but always the same.

    >>> 0 <= hash_document("d1", "salt") < 1, hash_document("d1", "salt") == hash_document("d1", "other salt")
    (True, False)
    """
    digest = sha256(f"{salt}\\0{document}".encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


def split_documents(strata: Mapping[str, Stratum], salt: str, share: float) -> dict[str, Part]:
    """Return the part of each document, by systematic sampling in the order of stratum, then of salted hash.

    Each document goes to the certificate with the same probability, ``share``, and the number from each
    stratum is within one of its share (Cochran 1977, Sampling Techniques, section 8.2: systematic sampling of
    a stratified list).

    >>> parts = split_documents({f"d{n}": ("a",) if n < 4 else ("b",) for n in range(8)}, "salt", 0.5)
    >>> [sum(parts[f"d{n}"] == "certificate" for n in range(k, k + 4)) for k in (0, 4)]
    [2, 2]
    """
    listed = sorted(strata, key=lambda document: (strata[document], hash_document(document, salt), document))
    start = hash_document("", salt)
    ends = [floor(start + share * place) for place in range(len(listed) + 1)]
    return {
        document: Part.CERTIFICATE if ends[place + 1] > ends[place] else Part.DEV
        for place, document in enumerate(listed)
    }


def part_of_newcomer(document: str, salt: str, share: float) -> Part:
    """Return the part of a document that was added after the sealing.

    Only its hash decides, so nobody can choose.
    """
    return Part.CERTIFICATE if hash_document(document, salt) < share else Part.DEV
