"""Between DataFrames and the sheets that the table's browser side shows."""

from __future__ import annotations

from typing import Any, Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict

from coeval.ui.components.payloads import AddedPayload, RowPayload, TablePayload

COLUMNS = ["id", "kind", "label", "text", "note", "action", "reason", "new_text"]
RESULT_COLUMNS = ["id", "kind", "action", "reason", "new_text"]
Kind = Literal["criterion", "conclusion", "score", "evidence"]


class _Shown(BaseModel):
    """What the server sends; a typing error here is ours, and stops before it reaches a browser."""

    model_config = ConfigDict(extra="forbid")


class Offer(_Shown):
    """A button that adds a line of one kind, with the key printed on it."""

    label: str
    key: str
    kind: Literal["criterion", "conclusion", "evidence"]
    once: bool = False


class Confirm(_Shown):
    """A foot bar with a count and a button that fires ``submit``."""

    label: str


class SheetRow(_Shown):
    """A drafted line with what the person decided so far."""

    id: int
    kind: Kind
    label: str = ""
    text: str
    quotes: list[dict[str, Any]] = []
    note: str = ""
    action: Literal["approve", "delete", "revise"] | None = None
    reason: str = ""
    new_text: str = ""


class Sheet(_Shown):
    """The value of a ReviewTable: all it needs to draw itself."""

    rev: int = 0
    key: str = ""
    readonly: bool = False
    reason_required: bool = False
    add: Offer | list[Offer] | None = None
    scale: list[int] | None = None
    draft_score: float | None = None
    score: float | None = None
    confirm: Confirm | None = None
    counted: tuple[str, str] = ("line", "lines")
    rows: list[SheetRow] = []
    added: list[AddedPayload] = []


def build_sheet(frame: pd.DataFrame) -> dict[str, Any]:
    """The sheet of a frame with ``COLUMNS``; added lines have no id. The rest comes from ``frame.attrs``.

    Attributes: rev, key, readonly, reason_required, add, scale, draft_score, score, confirm, counted.

    Raises:
        pydantic.ValidationError: the frame or its attributes do not have that shape.
    """
    records = [_clean(record) for record in frame.reindex(columns=COLUMNS).to_dict("records")]
    rows = [SheetRow.model_validate(record) for record in records if record["id"] is not None]
    added = [
        AddedPayload(kind=one["kind"], new_text=one["new_text"], reason=one["reason"])
        for one in records
        if one["id"] is None
    ]
    return Sheet(
        rows=rows, added=added, **{str(name): value for name, value in frame.attrs.items()}
    ).model_dump(mode="json")


def _clean(record: dict[Any, Any]) -> dict[str, Any]:
    """pandas' many kinds of nothing become None or the empty text; ids become whole numbers."""
    clean = {str(name): None if pd.isna(value) else value for name, value in record.items()}
    for name in ("label", "text", "note", "reason", "new_text"):
        clean[name] = "" if clean[name] is None else str(clean[name])
    clean["id"] = None if clean["id"] is None else int(clean["id"])
    clean["action"] = str(clean["action"]) if clean["action"] else None
    return clean


def read_payload(payload: TablePayload, kind: str = "criterion") -> pd.DataFrame:
    """A frame with ``RESULT_COLUMNS``: drafted lines in the order sent, then the added ones (id missing).

    ``kind`` is what drafted lines are called: the browser is not asked. Attributes: rev, score.
    """
    rows: list[tuple[Any, ...]] = [_drafted(row, kind) for row in payload.rows]
    rows += [(None, row.kind, "add", row.reason, row.new_text) for row in payload.added]
    frame = pd.DataFrame(rows, columns=RESULT_COLUMNS).astype({"id": "Int64"})
    frame["action"] = frame["action"].astype(object).where(frame["action"].notna(), None)
    frame.attrs = {"rev": payload.rev, "score": payload.score}
    return frame


def _drafted(row: RowPayload, kind: str) -> tuple[Any, ...]:
    return (row.id, kind, row.action, row.reason, row.new_text)


def payload_of_sheet(sheet: Sheet) -> TablePayload:
    """What an untouched sheet amounts to: Gradio hands it back as it was pushed when nobody edited."""
    rows = [
        RowPayload(id=row.id, action=row.action, reason=row.reason, new_text=row.new_text)
        for row in sheet.rows
    ]
    return TablePayload(rev=sheet.rev, score=sheet.score, rows=rows, added=sheet.added)
