"""People's changes: actions on drafted lines, moved scores, the four behaviours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd

from coeval.stats.actions import ACTIONS, KINDS, ActionRates, ArmBehaviours, FourBehaviours, Rates
from coeval.stats.estimates import Estimate
from coeval.stats.report.activity import (
    CriterionChanges,
    ScoreChangeSection,
    actions_by_annotator,
    actions_by_criterion,
    actions_section,
    behaviour_section,
    score_change_section,
    score_moves,
)
from coeval.stats.report.document import section_notes
from coeval.ui.app.agreement.figures import (
    NO_PLANTED,
    Figure,
    Get,
    Page,
    crossed,
    data_table,
    items_table,
    message,
    tile,
)
from coeval.ui.components import charts
from coeval.ui.components.number_words import natural, numbered, percent, plain_number, plural
from coeval.ui.components.view import Node

BEHAVIOURS = ("nearer", "kept", "elsewhere", "far")
ARMS = {"assisted": "With the draft", "blind": "Blind", "first": "Scored first, then saw the draft"}
NOTHING_DRAFTED = (
    "All these scores were given without a draft. Draft evaluations in Set-up so that people can act on them."
)
SIGNS = {"approve": "✓ approve", "revise": "✎ revise", "delete": "✕ delete", "add": "+ add"}


def build(get: Get) -> Iterator[Page]:
    moved, behaviour = get(score_change_section), get(behaviour_section)
    actions = get(actions_section, tables=("actions",))
    if not actions.overall.n and not moved.overall.n:
        yield Page(banner=message("Nobody has changed a draft", NOTHING_DRAFTED))
        return
    notes = section_notes({"actions": actions, "score_change": moved, "behaviour": behaviour})
    yield Page(
        tiles=[kept_tile(moved), _approved_tile(actions), _deleted_tile(actions)],
        figures=[
            actions_figure(actions),
            behaviour_figure(behaviour.behaviours),
            moves_figure(get(score_moves)),
        ],
        tables=[
            _criteria_table(get(actions_by_criterion, tables=("actions",))),
            _people_table(get(actions_by_annotator, tables=("actions",))),
            _changes_table(moved),
            _behaviour_table(behaviour.behaviours),
        ],
        notes=notes,
    )


def kept_tile(moved: ScoreChangeSection) -> Node | None:
    """Return the tile of the share of drafted scores that people kept."""
    overall = moved.overall
    if not overall.n:
        return None
    return tile(
        "Score kept",
        Estimate(overall.unchanged / overall.n, n=overall.n),
        f"raised {percent(overall.raised / overall.n)} · lowered {percent(overall.lowered / overall.n)}",
        show=percent,
        more=[f"mean change {plain_number(overall.mean_change)}", *_moved_left_out(moved)],
        basis=NO_PLANTED,
    )


def _moved_left_out(moved: ScoreChangeSection) -> list[str]:
    without, planted = moved.overall.n_left_out, moved.n_planted_left_out
    lines = (
        (without, f"{plural(without, 'submission')} without a score from the draft or the person"),
        (planted, f"{plural(planted, 'draft')} with a planted error left out"),
    )
    return [line for n, line in lines if n]


def _approved_tile(actions: ActionRates) -> Node | None:
    lines = f"of {plural(actions.overall.n, 'line')}"
    return tile("Lines approved", _of(actions.overall, "approve"), lines, show=percent, rows="rows.csv")


def _deleted_tile(actions: ActionRates) -> Node | None:
    lines = f"of {plural(actions.evidence.n, 'line')}"
    return tile("Evidence deleted", _of(actions.evidence, "delete"), lines, show=percent, rows="rows.csv")


def _of(rates: Rates, action: str) -> Estimate:
    return rates.of(action).having(n=rates.n)


def actions_figure(actions: ActionRates) -> Figure:
    """Return the chart of action rates by kind of line (CoEval paper, tables 5 and 6)."""
    rows = [
        _action_row(kind, action, actions.of(kind))
        for kind in KINDS
        if actions.of(kind).n
        for action in ACTIONS
    ]
    columns = ["kind", "action", "n", "share", "label", "text"]
    frame = pd.DataFrame(rows, columns=columns)
    words = f"Actions on drafted lines. {' '.join(_rates_words(kind, actions.of(kind)) for kind in KINDS)}"
    return Figure(
        "actions",
        "Actions on drafted lines",
        frame[["kind", "action", "n", "share"]],
        lambda: charts.action_bars(frame, words),
        words,
        rows="rows.csv",
        note="latest revision of each assisted submission · the score counts as a line",
        basis=NO_PLANTED,
    )


def _action_row(kind: str, action: str, rates: Rates) -> dict[str, Any]:
    shares = " · ".join(f"{name} {100 * rates.of(name):.1f}" for name in ACTIONS if rates.of(name))
    return {
        "kind": kind,
        "action": action,
        "n": round(float(rates.of(action)) * rates.n),
        "share": float(rates.of(action)),
        "label": kind.capitalize(),
        "text": f"{shares} · n {rates.n:,}",
    }


def _rates_words(kind: str, rates: Rates) -> str:
    if not rates.n:
        return f"{kind.capitalize()}: none."
    shares = ", ".join(f"{name} {percent(rates.of(name), 1)}" for name in ACTIONS)
    return f"{kind.capitalize()}: {shares}, of {rates.n:,}."


def moves_figure(moves: pd.DataFrame) -> Figure:
    """Return the chart of drafted scores compared with people's final scores."""
    words = "Final scores compared with the drafted scores. " + (
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
        note="counts, shaded by share of the row · drafted scores are rounded to the nearest point",
    )


def _moves_words(moves: pd.DataFrame) -> Iterator[str]:
    for draft, rows in moves.groupby("draft"):
        if rows["n"].sum():
            kept = rows.loc[rows["person"] == draft, "share"].sum()
            yield f"Drafted {draft:g}: {percent(kept)} kept, n {rows['n'].sum():,}."


def behaviour_figure(behaviour: FourBehaviours) -> Figure:
    """Return the chart of the four behaviours by arm; the blind arm is compared with the hidden draft."""
    arms = {title: behaviour.of(arm) for arm, title in ARMS.items()}
    rows = [
        {
            "label": name.capitalize(),
            "series": arm,
            "value": float(behaviours.of(name).rate),
            "n": behaviours.of(name).n,
            "low": float("nan"),
            "high": float("nan"),
            "about": f"{percent(behaviours.of(name).rate, 1)} · n {behaviours.of(name).n:,}",
        }
        for arm, behaviours in arms.items()
        if behaviours.n
        for name in BEHAVIOURS
    ]
    frame = pd.DataFrame(rows, columns=["label", "series", "value", "n", "low", "high", "about"])
    words = " ".join(
        f"{arm}: " + ", ".join(f"{name} {percent(behaviours.of(name).rate, 1)}" for name in BEHAVIOURS) + "."
        for arm, behaviours in arms.items()
        if behaviours.n
    )
    return Figure(
        "behaviours",
        "People's actions on the draft's score",
        frame.rename(columns={"label": "behaviour", "series": "arm", "value": "share"}).drop(
            columns=["low", "high", "about"]
        ),
        lambda: charts.pairs(frame, words, title="share of submissions", percent=True, domain=(0.0, 1.0)),
        words or "No submission can be classified: this needs a drafted score and two other people.",
        width="wide",
        note="compared with the median of the other people; see the table for the rules",
    )


def _criteria_table(by_criterion: dict[str, Rates]) -> Node | None:
    names = numbered(list(by_criterion))
    return _actions_table(
        "Actions by criterion", "Criterion", {names[text]: rates for text, rates in by_criterion.items()}
    )


def _people_table(by_person: dict[str, Rates]) -> Node | None:
    ordered = dict(sorted(by_person.items(), key=lambda entry: natural(entry[0])))
    return _actions_table("Actions by person", "Person", ordered)


def _actions_table(title: str, what: str, by_name: dict[str, Rates]) -> Node | None:
    rows = [
        (name, *(percent(rates.of(action), 1) for action in ACTIONS), f"{rates.n:,}")
        for name, rates in by_name.items()
    ]
    frame = pd.DataFrame(rows, columns=[what, *(SIGNS[action] for action in ACTIONS), "Lines"])
    return data_table(title, frame, "assisted submissions", rows="rows.csv")


def _changes_table(moved: ScoreChangeSection) -> Node | None:
    names = numbered([part.criterion for part in moved.per_criterion])
    columns: dict[str, Callable[[CriterionChanges], str]] = {
        "Criterion": lambda row: names[row.criterion],
        "Raised": lambda row: _share(row.changes.raised, row.changes.n),
        "Lowered": lambda row: _share(row.changes.lowered, row.changes.n),
        "Kept": lambda row: _share(row.changes.unchanged, row.changes.n),
        "Mean change": lambda row: plain_number(row.changes.mean_change),
        "Scores": lambda row: f"{row.changes.n:,}",
    }
    note = "assisted submissions with a drafted score"
    return items_table("Score changes by criterion", moved.per_criterion, columns, note)


def _share(n: int, of: int) -> str:
    return percent(n / of if of else None, 1)


def _behaviour_table(behaviour: FourBehaviours) -> Node | None:
    arms = [arm for arm in ARMS if behaviour.of(arm).n] or ["assisted", "blind"]
    frame = pd.DataFrame(
        [
            (
                name.capitalize(),
                behaviour.definitions[name],
                *(cell for arm in arms for cell in _behaviour_cells(behaviour.of(arm), name)),
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


def _behaviour_cells(behaviours: ArmBehaviours, name: str) -> tuple[str, str]:
    share = behaviours.of(name)
    return (percent(share.rate, 1), f"{share.n:,}") if behaviours.n else ("–", "0")
