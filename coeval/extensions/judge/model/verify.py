"""Verify a judge.json and its signature: ``python verify.py judge.json [--key KEY.pub]``.

This file needs no other part of CoEval: copy it anywhere. The hash needs only the standard library, a signature the
package ``cryptography``. Exit codes: 0 unchanged, 1 changed or signed by another key, 2 wrong options.

The hash is the SHA-256 of the whole content except ``hash`` and ``signature``, as JSON with sorted keys, without
spaces, in ASCII. It reveals a change by hand or in transit. But anybody who changes the file can also write a new hash,
so only a signature with a known key proves who wrote the content. It is an Ed25519 signature over ``PURPOSE`` and the
hash.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

PURPOSE = b"coeval judge.json v2\n"
"""Prefix of the signed hash. It ensures that signatures for other purposes do not match."""


class AlteredError(ValueError):
    """The error for a changed file. Its message explains the change."""


def read_values(data: bytes | str) -> Any:
    """Return the values in a JSON text.

    Raises ValueError if the text is not JSON, or if parsers could read it differently: for NaN or infinite
    numbers, and for a key that occurs twice in an object.
    """
    return json.loads(data, parse_constant=_refuse_constant, object_pairs_hook=_refuse_twice)


def hash_content(values: dict[str, Any]) -> str:
    """Return the SHA-256 of everything except the hash and the signature.

    >>> hash_content({"b": 1.5, "a": "ä", "hash": "x"}) == hash_content({"a": "ä", "b": 1.5})
    True
    """
    content = {key: value for key, value in values.items() if key not in ("hash", "signature")}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def check_hash(values: dict[str, Any]) -> None:
    """Raise AlteredError if the file's hash does not match its content or is missing."""
    stored = values.get("hash")
    if not stored:
        raise AlteredError("it has no hash: write it from its study again")
    if stored != hash_content(values):
        raise AlteredError("its content does not match its hash, so somebody changed it after it was written")


def check_signature(values: dict[str, Any], key: str = "") -> str:
    """Return the public key that signed the file, or "" if it has no signature.

    ``key`` is the required signer, such as ``ssh-ed25519 AAAA... name``. Raises AlteredError if the signature is wrong,
    or, with ``key``, if it is missing or from another key.
    """
    signature = values.get("signature")
    if not signature:
        if key:
            raise AlteredError("it has no signature")
        return ""
    signer, value = str(signature.get("key")), str(signature.get("value"))
    _verify(signer, value, PURPOSE + str(values.get("hash")).encode())
    if key and signer.split()[:2] != normalise_key(key).split()[:2]:
        raise AlteredError(f"it is signed with another key: {fingerprint(signer)}, not {fingerprint(key)}")
    return signer


def _verify(signer: str, value: str, message: bytes) -> None:
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_ssh_public_key

    try:
        public = load_ssh_public_key(signer.encode())
        if not isinstance(public, Ed25519PublicKey):
            raise AlteredError("its signature is of an unknown kind")
        public.verify(base64.b64decode(value, validate=True), message)
    except (InvalidSignature, UnsupportedAlgorithm, ValueError) as error:
        if isinstance(error, AlteredError):
            raise
        raise AlteredError("its signature does not match its content") from error


def normalise_key(text: str) -> str:
    """Convert a public key from OpenSSH form or PEM to OpenSSH form; raise ValueError if it is not Ed25519.

    >>> normalise_key("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJdD7y3aLq454yWBdwLWbieU1ebz9/cu7/QEXn9OIeZJ me@here")[:24]
    'ssh-ed25519 AAAAC3NzaC1l'
    """
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    pem = text.lstrip().startswith("-----BEGIN")
    try:
        public: Any = (
            serialization.load_pem_public_key(text.encode())
            if pem
            else serialization.load_ssh_public_key(text.strip().encode())
        )
    except (UnsupportedAlgorithm, ValueError) as error:
        raise ValueError("it is no public key that can be read") from error
    if not isinstance(public, Ed25519PublicKey):
        raise ValueError("it is no key of Ed25519")
    written = public.public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    return written.decode()


def fingerprint(key: str) -> str:
    """Return a public key's fingerprint, as ``ssh-keygen -l`` shows it."""
    try:
        body = base64.b64decode(normalise_key(key).split()[1])
    except ValueError:
        return "an unreadable key"
    return "SHA256:" + base64.b64encode(hashlib.sha256(body).digest()).decode().rstrip("=")


def _refuse_constant(name: str) -> float:
    raise ValueError(f"it holds {name}, which is no number")


def _refuse_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(
            f"the key {next(name for name in names if names.count(name) > 1)[:60]!r} stands there twice"
        )
    return values


def main(arguments: list[str] | None = None) -> int:
    """Check the file that the command line names, print the result, and return the exit code."""
    parser = argparse.ArgumentParser(description="Check a judge.json against its hash and its signature.")
    parser.add_argument("file", type=Path, metavar="judge.json")
    parser.add_argument(
        "--key", type=Path, metavar="KEY.pub", help="the public key that must have signed the file"
    )
    options = parser.parse_args(arguments)
    try:
        values = read_values(options.file.read_bytes())
        key = options.key.read_text(encoding="utf-8") if options.key else ""
        if not isinstance(values, dict):
            raise AlteredError("it is not a judge file")
        check_hash(values)
        signer = check_signature(values, key)
    except (OSError, ValueError, RecursionError, ImportError) as error:
        print(f"{options.file}: {error}.", file=sys.stderr)
        return 1
    by = f"signed by {fingerprint(signer)}" if signer else "not signed"
    print(f"{options.file}: as it was written, {by}. SHA-256 {values['hash']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
