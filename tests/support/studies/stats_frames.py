"""Studies as tables, for tests of the statistics: small ones by hand, and a simulated one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from coeval.stats.frames import (
    ACTION_COLUMNS,
    DRAFT_COLUMNS,
    INSTANCE_COLUMNS,
    SCORE_COLUMNS,
    StudyFrames,
)

FILLED: dict[str, Any] = {
    "group": "team",
    "criterion": "clear",
    "arm": "assisted",
    "draft_score": np.nan,
    "shown_score": np.nan,
    "planted_score": False,
    "wall_seconds": np.nan,
    "active_seconds": np.nan,
    "submitted_at": "2026-01-01T00:00:00.000Z",
}


def make_frames(
    scores: list[dict[str, Any]] | pd.DataFrame = (),  # type: ignore[assignment]
    drafts: list[dict[str, Any]] | pd.DataFrame = (),  # type: ignore[assignment]
    actions: list[dict[str, Any]] = (),  # type: ignore[assignment]
    criteria: tuple[str, ...] = ("clear",),
    scale: tuple[float, float] = (1, 5),
    instances: pd.DataFrame | None = None,
) -> StudyFrames:
    """A study from rows that name only what matters; instances are those that are scored or drafted."""
    scored = _filled(scores, SCORE_COLUMNS, FILLED)
    drafted = _filled(
        drafts,
        DRAFT_COLUMNS,
        {"run": 1, "run_label": "judge", "shown": True, "spread": np.nan, "samples": None},
    )
    drafted["criterion"] = drafted["criterion"].fillna(criteria[0] if criteria else "")
    if instances is None:
        names = pd.unique(pd.concat([scored["instance"], drafted["instance"]]))
        instances = pd.DataFrame({"instance": names, "document": None, "system": None})
    return StudyFrames(
        task="test",
        criteria=criteria,
        scales=dict.fromkeys(criteria, scale),
        instances=instances[list(INSTANCE_COLUMNS)],
        scores=scored,
        actions=_filled(list(actions), ACTION_COLUMNS, {"arm": "assisted", "n": 1}),
        drafts=drafted,
    )


def _filled(rows: Any, columns: tuple[str, ...], defaults: dict[str, Any]) -> pd.DataFrame:
    frame = pd.DataFrame(rows if isinstance(rows, pd.DataFrame) else list(rows))
    for column in columns:
        if column not in frame:
            frame[column] = pd.Series([defaults.get(column)] * len(frame), dtype=object)
    return frame[list(columns)].infer_objects()


def simulate_frames(
    instances: int = 60,
    annotators: int = 5,
    criteria: tuple[str, ...] = ("clear", "true"),
    blind: float = 0.3,
    planted: float = 0.1,
    pull: float = 0.3,
    seed: int = 0,
    runs: int = 2,
) -> StudyFrames:
    """People who move the share ``pull`` of the way to the score they are shown; the first run is shown."""
    rng = np.random.default_rng(seed)
    names = [f"i{k}" for k in range(instances)]
    truth = rng.normal(3, 1, (instances, len(criteria)))
    judged = [np.clip(np.round(truth + rng.normal(0, 0.6 + k / 5, truth.shape)), 1, 5) for k in range(runs)]
    rows = []
    for person in range(annotators):
        arms = rng.random(instances) < blind
        for place, is_blind in enumerate(arms):
            for k, criterion in enumerate(criteria):
                own, draft = truth[place, k] + rng.normal(0, 0.7), judged[0][place, k]
                wrong = np.clip(draft + rng.choice([-1, 1]), 1, 5)
                is_planted = not is_blind and rng.random() < planted and wrong != draft
                shown = np.nan if is_blind else wrong if is_planted else draft
                score = own if is_blind else own + pull * (shown - own)
                rows.append(
                    {
                        "annotator": f"p{person}",
                        "group": "crowd" if person % 2 else "team",
                        "instance": names[place],
                        "criterion": criterion,
                        "arm": "blind" if is_blind else "assisted",
                        "score": float(np.clip(np.round(score), 1, 5)),
                        "draft_score": draft,
                        "shown_score": shown,
                        "planted_score": is_planted,
                        "wall_seconds": float(rng.lognormal(3, 1)),
                    }
                )
    drafts = [
        {
            "run": run,
            "run_label": f"judge {run}",
            "shown": run == 0,
            "instance": names[place],
            "criterion": criterion,
            "score": judged[run][place, k],
        }
        for run in range(runs)
        for place in range(instances)
        for k, criterion in enumerate(criteria)
    ]
    listed = pd.DataFrame(
        {
            "instance": names,
            "document": [f"d{k // 3}" for k in range(instances)],
            "system": [f"s{k % 3}" for k in range(instances)],
        }
    )
    kinds = [
        {"annotator": "p0", "kind": kind, "action": action, "n": n}
        for kind in ("conclusion", "score", "evidence")
        for action, n in (("approve", 8), ("revise", 2))
    ]
    return make_frames(rows, drafts, kinds, criteria, instances=listed)
