"""Scrutiny, the pure part: what a submission must hold, how a study shows its drafts, what habits show.

``rows`` checks the four actions, ``design`` draws orders and arms, ``sowing`` puts a wrong score or line into
a draft on purpose, and ``habits`` asks whether drafts are still read.
"""

from coeval.scrutiny.design import (
    Design,
    Display,
    check_design,
    draw_arm,
    draw_order,
    draw_share,
    tells_system,
)
from coeval.scrutiny.rows import MAX_ADDED, AddedRow, SentRow, check, name_rows
from coeval.scrutiny.sowing import Sown, SownKind, apply_sown, draw_kind, draw_place, sow_evidence, sow_score

__all__ = [
    "MAX_ADDED",
    "AddedRow",
    "Design",
    "Display",
    "SentRow",
    "Sown",
    "SownKind",
    "apply_sown",
    "check",
    "check_design",
    "draw_arm",
    "draw_kind",
    "draw_order",
    "draw_place",
    "draw_share",
    "name_rows",
    "sow_evidence",
    "sow_score",
    "tells_system",
]
