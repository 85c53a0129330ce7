"""What people changed: actions on drafted lines, moved scores, the four behaviours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from coeval.stats.behaviour.actions import ACTIONS, KINDS, action_rates
from coeval.stats.estimates.results import Estimate, Result
from coeval.stats.frames import ASSISTED, StudyFrames, is_planted
from coeval.stats.report.document import section_notes
from coeval.stats.report.work import actions_section, behaviour_section, score_change_section
from coeval.ui.components import charts
from coeval.ui.components.view import Node
from coeval.ui.components.words import natural, numbered, percent, plain_number, plural
from coeval.ui.study_app.agreement.figures import Figure, Get, Page, crossed, data_table, message, tile

BEHAVIOURS = ("correction", "scrutiny", "subjectivity", "outlier")
ARMS = {"assisted": "With the draft", "blind": "Blind", "first": "Scored first, then shown it"}
NOTHING_DRAFTED = (
    "What is here was scored without one. Draft evaluations in Set-up, then people can act on them."
)
SIGNS = {"approve": "✓ approve", "revise": "✎ revise", "delete": "✕ delete", "add": "+ add"}


def build(get: Get) -> Iterator[Page]:
    moved, behaviour = get(score_change_section), get(behaviour_section)
    actions = get(actions_section, tables=("actions",))
    if not actions.overall.n and not moved.n:
        yield Page(banner=message("Nobody has changed a draft", NOTHING_DRAFTED))
        return
    notes = section_notes({"actions": actions, "score_change": moved, "behaviour": behaviour})
    yield Page(
        tiles=[
            kept_tile(moved),
            _mean_change_tile(moved),
            _approved_tile(actions),
            tile("Evidence deleted", _of(actions.evidence, "delete"), show=percent, rows="rows.csv"),
        ],
        figures=[actions_figure(actions), behaviour_figure(behaviour), moves_figure(get(score_moves))],
        tables=[
            _actions_table(
                "Actions by criterion", "Criterion", get(actions_by_criterion, tables=("actions",))
            ),
            _actions_table("Actions by person", "Person", get(actions_by_annotator, tables=("actions",))),
            _changes_table(moved),
            _behaviour_table(behaviour),
        ],
        notes=notes,
    )


def kept_tile(moved: Result) -> Node:
    """The share of drafted scores that people kept."""
    if not moved.n:
        return tile("Score kept", Estimate.undefined("no submission has a drafted score beside it"))
    raised, lowered = (percent(moved[name] / moved.n) for name in ("raised", "lowered"))
    return tile(
        "Score kept",
        Estimate(moved.unchanged / moved.n, n=moved.n),
        f"raised {raised}",
        f"lowered {lowered}",
        show=percent,
        more=_moved_left_out(moved),
    )


def _moved_left_out(moved: Result) -> list[str]:
    out = (
        [f"{plural(moved.n_left_out, 'submission')} without a draft's or a person's score"]
        if moved.n_left_out
        else []
    )
    return out + (
        [f"{plural(moved.n_sown_left_out, 'draft')} with a planted error left out"]
        if moved.n_sown_left_out
        else []
    )


def _mean_change_tile(moved: Result) -> Node:
    return tile(
        "Mean change of score", moved.mean_change, f"person minus draft · n {moved.n:,}", show=plain_number
    )


def _approved_tile(actions: Result) -> Node:
    return tile(
        "Lines approved",
        _of(actions.overall, "approve"),
        "conclusions, scores and evidence",
        show=percent,
        rows="rows.csv",
    )


def _of(rates: Result, action: str) -> Estimate:
    value: Estimate = rates[action]
    return value.having(n=rates.n)


def actions_figure(actions: Result) -> Figure:
    """Action rates by kind of line (CoEval paper, tables 5 and 6)."""
    rows = [
        _action_row(kind, action, actions[kind]) for kind in KINDS if actions[kind].n for action in ACTIONS
    ]
    columns = ["kind", "action", "n", "share", "label", "text"]
    frame = pd.DataFrame(rows, columns=columns)
    words = f"Actions on drafted lines. {' '.join(_rates_words(kind, actions[kind]) for kind in KINDS)}"
    return Figure(
        "actions",
        "Actions on drafted lines",
        frame[["kind", "action", "n", "share"]],
        lambda: charts.action_bars(frame, words),
        words,
        rows="rows.csv",
        note="assisted submissions, latest revision of each · the score row counts as a line",
    )


def _action_row(kind: str, action: str, rates: Result) -> dict[str, Any]:
    shares = " · ".join(f"{name} {100 * rates[name]:.1f}" for name in ACTIONS if rates[name])
    return {
        "kind": kind,
        "action": action,
        "n": round(float(rates[action]) * rates.n),
        "share": float(rates[action]),
        "label": kind.capitalize(),
        "text": f"{shares} · n {rates.n:,}",
    }


def _rates_words(kind: str, rates: Result) -> str:
    if not rates.n:
        return f"{kind.capitalize()}: none."
    shares = ", ".join(f"{name} {percent(rates[name], 1)}" for name in ACTIONS)
    return f"{kind.capitalize()}: {shares}, of {rates.n:,}."


def score_moves(study: StudyFrames) -> pd.DataFrame:
    """How often assisted people left a drafted score at each score: ``draft, person, n, share``.

    A drafted score between two points (a mean of samples) counts as the nearest, halves up; ``share`` is of all
    that were drafted so.
    """
    known = study.scores.dropna(subset=["score", "draft_score"])
    known = known[(known["arm"] == ASSISTED) & ~is_planted(known)]
    known = known.assign(draft=np.floor(known["draft_score"] + 0.5), person=known["score"])
    if known.empty:
        return pd.DataFrame(columns=["draft", "person", "n", "share"])
    points = sorted({*(study.points() or ()), *known["draft"], *known["person"]})
    cells = pd.MultiIndex.from_product([points, points], names=["draft", "person"])
    frame = known.groupby(["draft", "person"]).size().reindex(cells, fill_value=0).reset_index(name="n")
    totals = frame.groupby("draft")["n"].transform("sum")
    return frame.assign(share=(frame["n"] / totals.where(totals > 0)).fillna(0.0))


def moves_figure(moves: pd.DataFrame) -> Figure:
    """The drafted score against the one the person left."""
    words = "How people left the drafted scores. " + (
        " ".join(_moves_words(moves)) or "No score was drafted."
    )
    return Figure(
        "score-moves",
        "From the draft's score to the person's",
        moves,
        lambda: charts.confusion(
            crossed(moves, x="person", y="draft"), words, x="the person's score", y="the draft's score"
        ),
        words,
        width="narrow",
        note="counts, shaded by share of the row · drafts between two points count as the nearest",
    )


def _moves_words(moves: pd.DataFrame) -> Iterator[str]:
    for draft, rows in moves.groupby("draft"):
        if rows["n"].sum():
            kept = rows.loc[rows["person"] == draft, "share"].sum()
            yield f"Drafted {draft:g}: {percent(kept)} kept, n {rows['n'].sum():,}."


def behaviour_figure(behaviour: Result) -> Figure:
    """The four behaviours in each arm; the blind one is held against the draft that was hidden."""
    arms = {title: behaviour[arm] for arm, title in ARMS.items()}
    rows = [
        {
            "label": name.capitalize(),
            "series": arm,
            "value": float(found[name].rate),
            "n": found[name].n,
            "low": float("nan"),
            "high": float("nan"),
            "about": f"{percent(found[name].rate, 1)} · n {found[name].n:,}",
        }
        for arm, found in arms.items()
        if found.n
        for name in BEHAVIOURS
    ]
    frame = pd.DataFrame(rows, columns=["label", "series", "value", "n", "low", "high", "about"])
    words = " ".join(
        f"{arm}: " + ", ".join(f"{name} {percent(found[name].rate, 1)}" for name in BEHAVIOURS) + "."
        for arm, found in arms.items()
        if found.n
    )
    return Figure(
        "behaviours",
        "What people did with the draft's score",
        frame.rename(columns={"label": "behaviour", "series": "arm", "value": "share"}).drop(
            columns=["low", "high", "about"]
        ),
        lambda: charts.pairs(frame, words, title="share of submissions", percent=True, domain=(0.0, 1.0)),
        words or "No submission can be judged: it takes a drafted score and two other people.",
        width="wide",
        note="held against the median of the other people; see the table for the rules",
    )


def actions_by_criterion(study: StudyFrames) -> dict[str, Result]:
    """Action rates over all lines, by criterion, in the order of the set."""
    found = _rates_by(study, "criterion")
    names = numbered(list(study.criteria))
    return {names[criterion]: found[criterion] for criterion in study.criteria if criterion in found}


def actions_by_annotator(study: StudyFrames) -> dict[str, Result]:
    """Action rates over all lines, by annotator."""
    return dict(sorted(_rates_by(study, "annotator").items(), key=lambda found: natural(found[0])))


def _rates_by(study: StudyFrames, column: str) -> dict[str, Result]:
    assisted = study.actions[study.actions["arm"] == ASSISTED]
    return {str(name): action_rates(part).overall for name, part in assisted.groupby(column)}


def _actions_table(title: str, what: str, found: dict[str, Result]) -> Node | None:
    rows = [
        (name, *(percent(rates[action], 1) for action in ACTIONS), f"{rates.n:,}")
        for name, rates in found.items()
    ]
    frame = pd.DataFrame(rows, columns=[what, *(SIGNS[action] for action in ACTIONS), "Lines"])
    return data_table(title, frame, "assisted submissions", rows="rows.csv")


def _changes_table(moved: Result) -> Node | None:
    frame = pd.DataFrame(
        [
            (
                text,
                *(
                    percent(part[name] / part.n if part.n else None, 1)
                    for name in ("raised", "lowered", "unchanged")
                ),
                plain_number(part.mean_change),
                f"{part.n:,}",
            )
            for part, text in zip(moved.per_criterion, _texts(moved), strict=True)
        ],
        columns=["Criterion", "Raised", "Lowered", "Kept", "Mean change", "Scores"],
    )
    return data_table("Score changes by criterion", frame, "assisted submissions with a drafted score")


def _texts(moved: Result) -> list[str]:
    return list(numbered([part.criterion for part in moved.per_criterion]).values())


def _behaviour_table(behaviour: Result) -> Node | None:
    arms = [arm for arm in ARMS if behaviour[arm].n] or ["assisted", "blind"]
    frame = pd.DataFrame(
        [
            (
                name.capitalize(),
                behaviour.definitions[name],
                *(cell for arm in arms for cell in _behaviour_cells(behaviour[arm], name)),
            )
            for name in BEHAVIOURS
        ],
        columns=["Behaviour", "Rule", *(column for arm in arms for column in (ARMS[arm], "n"))],
    )
    left = behaviour.assisted.n_left_out
    note = (
        f"{plural(left, 'submission')} left out: no drafted score, a planted error, or fewer than two other people"
        if left
        else ""
    )
    return data_table("The four behaviours", frame, note)


def _behaviour_cells(found: Result, name: str) -> tuple[str, str]:
    return (percent(found[name].rate, 1), f"{found[name].n:,}") if found.n else ("–", "0")
