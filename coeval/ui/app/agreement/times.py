"""The Time page: how long people take."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd

from coeval.stats.report.activity import (
    TimeSection,
    time_curves,
    time_section,
)
from coeval.stats.report.document import section_notes
from coeval.stats.times import CriterionTime
from coeval.ui.app.agreement.figures import Figure, Get, Page, data_table, items_table, message, tile
from coeval.ui.components import charts
from coeval.ui.components.number_words import natural, numbered, plain_number, plural
from coeval.ui.components.view import Node


def build(get: Get) -> Iterator[Page]:
    section = get(time_section)
    if not section.spent.n_timed:
        yield Page(
            banner=message(
                "Nothing was timed",
                ("Only scores given in this app are timed; imported scores may lack times."),
            )
        )
        return
    yield Page(
        tiles=_tiles(section),
        figures=[curve_figure(_labelled(get(time_curves)))],
        tables=[_criteria_table(section), _people_table(section)],
        notes=section_notes({"time": section}),
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


def _tiles(section: TimeSection) -> list[Node | None]:
    spent, sample, took = section.spent, section.spent.minutes_per_sample, section.spent.seconds
    untimed = f"{plural(spent.n_untimed, 'submission')} without a start time" if spent.n_untimed else ""
    over = f"{plural(took.n_over_idle, 'longer span')} left out" if took.n_over_idle else ""
    at_work = f"at work {seconds(took.median_active_seconds)}, n {took.n_active:,}" if took.n_active else ""
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


def _labelled(curves: pd.DataFrame) -> pd.DataFrame:
    names = numbered(list(dict.fromkeys(curves["criterion"])))
    return curves.assign(criterion=[names[text] for text in curves["criterion"]])


def curve_figure(curves: pd.DataFrame) -> Figure:
    """Return the chart of the share of submissions done within a given time (ECDF)."""
    frame = curves.rename(columns={"criterion": "series", "seconds": "x", "share": "y"})
    frame["series"] = [_short(name) for name in frame["series"]]
    words = " ".join(
        f"{name}: half within {seconds(part.loc[part['share'] >= 0.5, 'seconds'].min())}, nine in ten within "
        f"{seconds(part.loc[part['share'] >= 0.9, 'seconds'].min())}."
        for name, part in curves.groupby("criterion", sort=False)
    )
    return Figure(
        "time-curve",
        "Share of submissions done within a given time",
        curves,
        lambda: charts.curves(frame, words, x="time, logarithmic", y="share done", share=True, log=True),
        words or "No submission was timed.",
        note="from opening a criterion to confirming it, idle time included",
    )


def _short(name: str) -> str:
    return name if len(name) <= 40 else name[:39] + "…"


def _criteria_table(section: TimeSection) -> Node | None:
    parts = section.spent.per_criterion
    names = numbered([part.criterion for part in parts])
    columns: dict[str, Callable[[CriterionTime], str]] = {
        "Criterion": lambda part: names[part.criterion],
        "Timed": lambda part: f"{part.n:,}",
        "Mean": lambda part: seconds(part.seconds.mean_seconds),
        "Median": lambda part: seconds(part.seconds.median_seconds),
        "Mean without idle": lambda part: seconds(part.seconds.mean_seconds_idle_cut),
        "Longer spans": lambda part: f"{part.seconds.n_over_idle:,}",
        "Median active": lambda part: seconds(part.seconds.median_active_seconds),
    }
    note = (
        f"without idle: spans over {section.spent.seconds.idle_cut_seconds:.0f} s are left out and counted "
        "under “Longer spans”"
    )
    return items_table("By criterion", parts, columns, note)


def _people_table(section: TimeSection) -> Node | None:
    rows = [
        (kind, part.name, f"{part.n:,}", seconds(part.mean_seconds), seconds(part.median_seconds))
        for kind, parts in (("Arm", section.per_arm), ("Person", section.per_annotator))
        for part in sorted(parts, key=lambda part: natural(part.name))
    ]
    return data_table(
        "By arm and person", pd.DataFrame(rows, columns=["", "Part", "Timed", "Mean", "Median"])
    )
