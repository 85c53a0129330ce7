"""A bridge in sentences: its findings, and a paragraph for a paper."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from coeval.extensions.judge.bridge.restated import EACH, FAMILY, LEAST
from coeval.extensions.judge.bridge.schema import Bridge, CriterionBridge, Design, Link, Pair, Verdict
from coeval.extensions.judge.certificate.findings import number, spelled
from coeval.extensions.judge.certificate.schema import Number
from coeval.stats.estimates import extent, listed, plural

SHOWN = 0.05
MOST_NAMED = 10

SCALES = {Design.PEOPLE: "people's scale", Design.COMMON: "the new judge's scale"}


def add_words(bridge: Bridge) -> Bridge:
    """Return the bridge with its findings and its paragraph."""
    findings = tuple(_findings(bridge))
    return bridge.model_copy(update={"findings": findings, "paragraph": write_paragraph(bridge)})


def _findings(bridge: Bridge) -> Iterator[str]:
    linked = [part for part in bridge.by_criterion if part.design is not Design.NONE]
    for design in SCALES:
        names = [f"“{part.criterion}”" for part in linked if part.design is design]
        if names:
            yield _tell_design(design, names)
    for part in bridge.by_criterion:
        if part.design is Design.NONE:
            yield f"On “{part.criterion}” there is no bridge: {part.reason}."
    yield tell_orders(bridge)
    flips = [
        (part.criterion, pair) for part in linked for pair in part.pairs if pair.verdict is Verdict.FLIPS
    ]
    yield from (tell_flip(criterion, pair) for criterion, pair in flips[:MOST_NAMED])
    if len(flips) > MOST_NAMED:
        yield f"The table lists {plural(len(flips) - MOST_NAMED, 'more flip')}."
    yield from _tell_enough(bridge)
    yield from _tell_favours(linked)
    yield from _tell_uncorrected(linked)


def _tell_design(design: Design, names: Sequence[str]) -> str:
    if design is Design.PEOPLE:
        return f"On {listed(names)}, people scored outputs of both judges, so each judge is linked to people's scale."
    return (
        f"On {listed(names)}, people scored too little, so the old judge is only equated with the new judge's scale. "
        "This is weaker: errors that the new judge makes are not corrected."
    )


def tell_orders(bridge: Bridge) -> str:
    """Return the sentence with the numbers of pairs of systems that hold, flip, or cannot be told."""
    holds, flips, untold = (bridge.count(verdict) for verdict in Verdict)
    total = holds + flips + untold
    if not total:
        return "There are no two systems to compare."
    return (
        f"Of {plural(total, 'pair')} of systems over all criteria, {holds} keep their order, {flips} "
        f"{'flips' if flips == 1 else 'flip'}, and {untold} cannot be told."
    )


def tell_flip(criterion: str, pair: Pair) -> str:
    """Return the sentence on a pair whose order flips."""
    above, below = (pair.first, pair.second) if (pair.restated.value or 0) > 0 else (pair.second, pair.first)
    return (
        f"On “{criterion}”, “{above}” is above “{below}”, against the earlier order: “{pair.first}” minus "
        f"“{pair.second}” was {number(pair.before)} before and is {spelled(pair.restated)} restated."
    )


def _tell_enough(bridge: Bridge) -> Iterator[str]:
    untold = [pair for part in bridge.by_criterion for pair in part.pairs if pair.verdict is Verdict.UNTOLD]
    enough = [pair.enough for pair in untold if pair.enough is not None]
    if enough:
        middle = statistics.median_low(enough)
        yield (
            f"If the differences are as estimated, anchors of both systems in {plural(middle, 'document')} would "
            f"tell half of the {plural(len(enough), 'pair')} that more anchors can tell."
        )
    if len(untold) > len(enough):
        yield (
            f"For {plural(len(untold) - len(enough), 'pair')}, more anchors alone would not suffice: the difference "
            "is too small for this number of outputs."
        )


def _tell_favours(linked: Sequence[CriterionBridge]) -> Iterator[str]:
    tests = [(part, link, favour) for part in linked for link in part.links for favour in link.favours]
    told = [each for each in tests if each[2].p_value is not None and each[2].p_value <= SHOWN]
    for part, link, favour in told[:MOST_NAMED]:
        higher = (favour.excess.value or 0) > 0
        yield (
            f"On “{part.criterion}”, the {link.side} judge scores “{favour.system}” "
            f"{spelled(favour.excess if higher else _turn(favour.excess))} points {'higher' if higher else 'lower'} "
            "than the other systems, for outputs to which people give equal scores."
        )
    if tests and not told:
        yield "For no system was a link shown to differ from the link for the others."
    elif not tests and linked:
        yield "Whether a link differs by system was not tested: this needs anchors of two systems."


def _turn(value: Number) -> Number:
    """Return the number with its sign changed."""
    return Number(
        value=-(value.value or 0), low=-(value.high or 0), high=-(value.low or 0), clusters=value.clusters
    )


def _tell_uncorrected(linked: Sequence[CriterionBridge]) -> Iterator[str]:
    names = sorted({mean.system for part in linked for mean in part.systems if not mean.corrected})
    if names:
        told = listed([f"“{name}”" for name in names[:MOST_NAMED]])
        yield (
            f"The means of {told} rest on the link alone, because few of their outputs are anchors. Their intervals "
            "count how much the links of the other systems differ."
        )


def write_paragraph(bridge: Bridge) -> str:
    """Return the methods and the result in one paragraph, for a paper."""
    linked = [part for part in bridge.by_criterion if part.links]
    if not linked:
        return ""
    first = linked[0]
    people = [part for part in linked if part.design is Design.PEOPLE]
    scale = SCALES[first.design] if len(people) in (0, len(linked)) else "people's or the new judge's scale"
    kinds = listed(sorted({link.kind for part in linked for link in part.links}))
    anchors = [link for part in linked for link in part.links]
    return (
        f"The judge {_name(bridge.old.name, bridge.old.models)} was replaced by "
        f"{_name(bridge.new.name, bridge.new.models)}. We linked the scores to {scale} by {kinds}, with "
        f"{extent([link.anchors for link in anchors])} anchors from {extent([link.documents for link in anchors])} "
        f"documents per link (at least {LEAST} required). A system's mean is the mean of its linked scores, corrected "
        "by the residuals of its own anchors (difference estimator). Standard errors are from the jackknife over "
        "documents, which refits the links, so that the intervals count the sampling of documents, of anchors, and the "
        f"links. The order of two systems is told at {EACH:g} for each pair and {FAMILY:g} for all pairs (Holm). "
        f"{tell_orders(bridge)}"
    )


def _name(name: str, models: Sequence[str]) -> str:
    said = listed([model for model in models if model and model != name])
    return f"“{name}” ({said})" if said else f"“{name}”"


def tabulate_systems(bridge: Bridge) -> list[tuple[str, ...]]:
    """Return the restated means as rows of text, under a row of headings."""
    rows: list[tuple[str, ...]] = [("Criterion", "System", "Before", "Restated", "By", "Anchor documents")]
    rows += [
        (
            part.criterion,
            mean.system or "(no name)",
            f"{number(mean.before)} by the {mean.before_side} judge",
            spell_number(mean.restated),
            f"the {mean.side} judge{'' if mean.corrected else ', by the link alone'}",
            f"{mean.anchors:,}",
        )
        for part in bridge.by_criterion
        for mean in part.systems
    ]
    return rows


def tabulate_pairs(bridge: Bridge) -> list[tuple[str, ...]]:
    """Return the pairs of systems as rows of text under headings: flips first, then undecided pairs."""
    rows: list[tuple[str, ...]] = [
        ("Criterion", "Systems", "Before", "Restated", "Order", "Anchor documents that would tell")
    ]
    order = (Verdict.FLIPS, Verdict.UNTOLD, Verdict.HOLDS)
    pairs = [(part.criterion, pair) for part in bridge.by_criterion for pair in part.pairs]
    rows += [
        (
            criterion,
            f"{pair.first} − {pair.second}",
            number(pair.before),
            spell_number(pair.restated),
            str(pair.verdict),
            "–" if pair.enough is None else f"{pair.enough:,}",
        )
        for criterion, pair in sorted(pairs, key=lambda each: order.index(each[1].verdict))
    ]
    return rows


def spell_number(value: Number) -> str:
    """Return the value with its interval, or with the reason why it has none."""
    return spelled(value) + ("" if value.bounded or not value.reason else f", no interval: {value.reason}")


def describe_link(link: Link) -> str:
    """Return a link's kind and anchors in words."""
    return f"{link.kind}, {plural(link.anchors, 'anchor')} in {plural(link.documents, 'document')}"
