"""Where settings come from: the only reader of os.environ."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEFAULT_DB = ROOT / "data" / "coeval.db"
DEFAULT_MODEL = "gpt-4o-mini"


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything the environment decides. Secrets live here and nowhere else: repr leaves them out."""

    db: Path = DEFAULT_DB
    host: str = "127.0.0.1"
    port: int = 7860
    model: str = DEFAULT_MODEL
    base_url: str = ""
    api_key: str = ""
    timeout: float = 60.0
    """Seconds that one request to a model may take."""
    concurrency: int = 8

    @property
    def has_model(self) -> bool:
        return bool(self.api_key or self.base_url)

    def __repr__(self) -> str:
        key = "set" if self.api_key else "not set"
        return (
            f"Settings(db={str(self.db)!r}, model={self.model!r}, base_url={self.base_url!r}, api_key {key})"
        )


def load_settings(env: Mapping[str, str] | None = None, *, db: str | Path | None = None) -> Settings:
    """Read the settings; ``db`` (from ``--db``) wins over ``COEVAL_DB``.

    Any server that speaks the OpenAI protocol can be the model: set ``OPENAI_BASE_URL`` for it, with or
    without ``OPENAI_API_KEY``.
    """
    values = os.environ if env is None else env
    return Settings(
        db=Path(db or values.get("COEVAL_DB") or DEFAULT_DB),
        host=values.get("COEVAL_HOST", "127.0.0.1"),
        port=int(values.get("COEVAL_PORT") or values.get("PORT") or 7860),
        model=values.get("COEVAL_MODEL") or values.get("OPENAI_MODEL") or DEFAULT_MODEL,
        base_url=values.get("OPENAI_BASE_URL", ""),
        api_key=values.get("OPENAI_API_KEY", ""),
        timeout=float(values.get("COEVAL_TIMEOUT") or 60),
        concurrency=int(values.get("COEVAL_CONCURRENCY") or 8),
    )
