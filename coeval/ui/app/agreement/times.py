"""The Time page: how long people take."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from coeval.stats.actions import TimeSpent
from coeval.stats.report.activity import time_section, time_tables
from coeval.ui.app.agreement.figures import Get, Page, message, show_table, tile
from coeval.ui.components.number_words import plain_number, plural
from coeval.ui.components.view import Node


def build(get: Get) -> Iterator[Page]:
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
