"""Systems: mean scores of their outputs, by people and by the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coeval.stats.clusters import ROUGH_BELOW
from coeval.stats.estimates import Estimate, listed
from coeval.stats.report.answer import OPEN, RELIABLE, TOO_FEW, UNDEFINED, too_few
from coeval.stats.report.pairwise_strengths import list_compared
from coeval.stats.report.systems import SystemRow, shared_scale, systems_section, systems_tables
from coeval.ui.app.agreement.figures import (
    Get,
    Page,
    message,
    show_table,
    tile,
    verdict_view,
)
from coeval.ui.components.number_words import (
    interval,
    plain_number,
    plural,
)
from coeval.ui.components.view import Node

SAME = 1e-9
"""Means closer than this count as equal."""

LEVEL = 0.05
TEST = "A system is best if its mean differs from every other: test over documents, adjusted (Holm), p at most .05."


def build(get: Get) -> Iterator[Page]:
    systems = get(systems_section)
    if not systems:
        text = "This section compares systems: import instances with a system column."
        yield Page(banner=message("No system is named", text))
        return
    compared = get(list_compared, tables=("comparisons",))
    scale = get(shared_scale)
    ranked = sorted(systems, key=_rank)
    yield Page(
        answer=systems_answer(systems),
        tiles=[_mean_tile(row, scale) for row in ranked],
        tables=[*map(show_table, systems_tables(systems)), *map(show_table, compared)],
    )


def systems_answer(systems: Sequence[SystemRow]) -> Node:
    """Return which system is best. It is named only if its mean differs from that of every other system."""
    scored = [row for row in systems if row.human_mean.defined]
    if not scored:
        return verdict_view("It cannot be said which system is best: nobody has scored an output.", UNDEFINED)
    best = _at(scored, max(row.human_mean for row in scored))
    top, mean = best[0], f"{_with_interval(best[0].human_mean)}."
    few = next(filter(None, map(_few, scored)), "")
    if len(scored) == 1:
        alone = f"Only {top.system} has scores, so there is nothing to compare it with: mean {mean} {few}"
        return verdict_view(alone.strip(), OPEN)
    highest = f"{top.system} has the highest mean, {mean}"
    if len(best) > 1:
        highest = f"{_shared(best, 'highest')}, {mean}"
    if few and len(best) == 1 and (lead := _lead(top, scored)):
        return verdict_view(lead, TOO_FEW)
    if few:
        return verdict_view(f"It is too early to say which system is best: {highest} {few}", TOO_FEW)
    if len(best) > 1:
        return verdict_view(f"No system is best: {highest}", OPEN)
    near = [row.system for row in scored if row is not top and not top.differs[row.system] <= LEVEL]
    if near:
        return verdict_view(
            f"It is not certain which system is best: {highest} The scores do not separate it from {listed(near)}.",
            OPEN,
            note=TEST,
        )
    return verdict_view(f"People score {top.system} highest: mean {mean}", RELIABLE, note=TEST)


def _rank(row: SystemRow) -> float:
    """Return the place of a system by the people's mean, highest first; systems without scores come last."""
    return -float(row.human_mean) if row.human_mean.defined else float("inf")


def _lead(top: SystemRow, scored: Sequence[SystemRow]) -> str:
    """Return by how much the best system leads the next one, or "" if the scores do not separate them."""
    _, second, *_ = sorted(scored, key=_rank)
    gap = dict(top.leads.get(second.system, {}))
    if not gap.get("ci_low", 0) > 0:
        return ""
    lead = Estimate(gap.pop("difference"), **gap)
    details = top.human_mean.details
    return (
        f"{top.system} leads {second.system} by {plain_number(lead)} {interval(lead, plain_number)} in "
        f"{details['clusters']} {details['resampled']}; {ROUGH_BELOW} are needed for the stated rate of error."
    )


def _few(row: SystemRow) -> str:
    details = row.human_mean.details
    return too_few(int(details.get("clusters") or 0), str(details.get("resampled") or "documents"))


def _with_interval(mean: Estimate) -> str:
    low, high = mean.ci
    spread = "" if low != low else f" (95% interval {plain_number(low)} to {plain_number(high)})"
    return plain_number(mean) + spread


def _at(scored: Sequence[SystemRow], mean: float) -> list[SystemRow]:
    """Return the systems with this mean; rounding can separate means of the same scores."""
    return [row for row in scored if abs(row.human_mean - mean) <= SAME]


def _shared(rows: Sequence[SystemRow], which: str) -> str:
    """Return the names with the highest or lowest mean; all of them if several share it.

    >>> from types import SimpleNamespace as System
    >>> _shared([System(system="A"), System(system="B"), System(system="C")], "highest")
    'A, B and C share the highest mean'
    """
    if len(rows) == 1:
        return rows[0].system
    return f"{listed([row.system for row in rows])} share the {which} mean"


def _mean_tile(row: SystemRow, scale: tuple[float, float]) -> Node | None:
    model = f"model {plain_number(row.llm_mean)}" if row.llm_mean.defined else ""
    if model and row.n_llm != row.n_units:
        model += f" (of {row.n_llm:,} units; people {row.n_units:,})"
    return tile(
        row.system,
        row.human_mean,
        model,
        show=plain_number,
        more=(plural(row.n_units, "unit"),),
        axis=scale,  # the same for all systems, so that their bars can be compared
    )
