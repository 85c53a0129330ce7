"""The pages on people's work: actions on drafted lines and moved scores, and time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from coeval.stats.actions import ACTIONS, KINDS, ActionRates, Rates, TimeSpent
from coeval.stats.estimates import Estimate
from coeval.stats.report.activity import (
    ScoreChangeSection,
    actions_section,
    actions_tables,
    behaviour_section,
    behaviour_tables,
    score_change_section,
    score_change_tables,
    time_section,
    time_tables,
)
from coeval.ui.app.agreement.figures import NO_PLANTED, Figure, Get, Page, message, show_table, tile
from coeval.ui.components import charts
from coeval.ui.components.number_words import percent, plain_number, plural
from coeval.ui.components.view import Node

NOTHING_DRAFTED = (
    "All these scores were given without a draft. Draft evaluations in Set-up so that people can act on them."
)


def build_changes(get: Get) -> Iterator[Page]:
    moved, behaviour = get(score_change_section), get(behaviour_section)
    actions = get(actions_section, tables=("actions",))
    if not actions["overall"].n and not moved.overall.n:
        yield Page(banner=message("Nobody has changed a draft", NOTHING_DRAFTED))
        return
    yield Page(
        tiles=[kept_tile(moved), _approved_tile(actions), _deleted_tile(actions)],
        figures=[actions_figure(actions)],
        tables=[
            *map(show_table, actions_tables(actions)),
            *map(show_table, score_change_tables(moved)),
            *map(show_table, behaviour_tables(behaviour)),
        ],
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
    lines = f"of {plural(actions['overall'].n, 'line')}"
    return tile("Lines approved", _of(actions["overall"], "approve"), lines, show=percent, rows="rows.csv")


def _deleted_tile(actions: ActionRates) -> Node | None:
    lines = f"of {plural(actions['evidence'].n, 'line')}"
    return tile("Evidence deleted", _of(actions["evidence"], "delete"), lines, show=percent, rows="rows.csv")


def _of(rates: Rates, action: str) -> Estimate:
    return rates.shares[action].having(n=rates.n)


def actions_figure(actions: ActionRates) -> Figure:
    """Return the chart of action rates by kind of line (CoEval paper, tables 5 and 6)."""
    rows = [
        _action_row(kind, action, actions[kind]) for kind in KINDS if actions[kind].n for action in ACTIONS
    ]
    columns = ["kind", "action", "n", "share", "label", "text"]
    frame = pd.DataFrame(rows, columns=columns)
    words = f"Actions on drafted lines. {' '.join(_rates_words(kind, actions[kind]) for kind in KINDS)}"
    return Figure(
        "actions",
        "Actions on drafted lines",
        frame,
        lambda: charts.action_bars(frame, words),
        words,
        rows="rows.csv",
        note="latest revision of each assisted submission · the score counts as a line",
        basis=NO_PLANTED,
    )


def _action_row(kind: str, action: str, rates: Rates) -> dict[str, Any]:
    shares = " · ".join(f"{name} {100 * rates.shares[name]:.1f}" for name in ACTIONS if rates.shares[name])
    return {
        "kind": kind,
        "action": action,
        "n": round(float(rates.shares[action]) * rates.n),
        "share": float(rates.shares[action]),
        "label": kind.capitalize(),
        "text": f"{shares} · n {rates.n:,}",
    }


def _rates_words(kind: str, rates: Rates) -> str:
    if not rates.n:
        return f"{kind.capitalize()}: none."
    shares = ", ".join(f"{name} {percent(rates.shares[name], 1)}" for name in ACTIONS)
    return f"{kind.capitalize()}: {shares}, of {rates.n:,}."


# The page on time: how long people take.


def build_times(get: Get) -> Iterator[Page]:
    spent = get(time_section)
    if not spent.n_timed:
        yield Page(
            banner=message(
                "Nothing was timed",
                ("Only scores given in this app are timed; imported scores may lack times."),
            )
        )
        return
    yield Page(
        tiles=_tiles(spent),
        tables=[*map(show_table, time_tables(spent))],
    )


def seconds(value: Any) -> str:
    """
    >>> seconds(74.4), seconds(float("nan"))
    ('74 s', 'undefined')
    """
    return plain_number(value, 0) + ("" if value != value else " s")


def minutes(value: Any) -> str:
    """
    >>> minutes(8.258)
    '8.26 min'
    """
    return plain_number(value) + ("" if value != value else " min")


def _tiles(spent: TimeSpent) -> list[Node | None]:
    sample, took = spent.minutes_per_sample, spent.seconds
    untimed = f"{plural(spent.n_untimed, 'submission')} without a start time" if spent.n_untimed else ""
    over = f"{plural(took.n_over_idle, 'longer span')} left out" if took.n_over_idle else ""
    at_work = (
        f"mean at work {seconds(took.mean_active_seconds)}, n {took.n_active:,}" if took.n_active else ""
    )
    return [
        tile(
            "Seconds per criterion",
            took.median_seconds,
            f"median · mean {seconds(took.mean_seconds)}",
            show=seconds,
            more=(f"{spent.n_timed:,} submissions timed, from opening to confirming", at_work, untimed),
        ),
        tile(
            "Mean without idle time",
            took.mean_seconds_idle_cut,
            f"mean of spans up to {took.idle_cut_seconds / 60:.0f} min",
            show=seconds,
            more=(over,),
        ),
        tile(
            "Minutes per instance",
            sample.median,
            f"median · mean {minutes(sample.mean)}",
            show=minutes,
            more=(f"n {sample.n:,}: all criteria of an instance by one person",),
        ),
    ]
