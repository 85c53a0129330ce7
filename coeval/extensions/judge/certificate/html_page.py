"""A certificate as a self-contained page without scripts or other files. Its calibration plot is SVG."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, sqrt
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from coeval.extensions.judge.certificate.findings import number, percent, spelled
from coeval.extensions.judge.certificate.schema import Bin, Certificate
from coeval.stats.estimates import plural

SIZE, LEFT, BELOW, ROOM = 340.0, 44.0, 40.0, 10.0
"""Sizes in SVG units: the whole drawing, the space for axis labels on the left and below, and the other margins."""

LEAST, MOST = 3.5, 9.0
"""Radii of the smallest and the largest bin."""


def draw_calibration(bins: Sequence[Bin]) -> str:
    """Draw people's mean against the judge's mean, bin by bin, with the identity line.

    Whiskers are 95% intervals. The axes end with the means, which are within the scale. The area of a point is
    proportional to its number of lines.
    """
    values = [value for item in bins for value in (item.judge, item.people.value) if value is not None]
    low, high = floor(min(values)), ceil(max(values))
    high = max(high, low + 1)

    def x(value: float) -> float:
        return LEFT + (value - low) / (high - low) * (SIZE - LEFT - ROOM)

    def y(value: float) -> float:
        return SIZE - BELOW - (value - low) / (high - low) * (SIZE - BELOW - ROOM)

    step = max(1, (high - low) // 10)
    parts = [_line(x(low), y(low), x(high), y(high), "same")]
    for tick in range(low, high + 1, step):
        parts += [
            _line(x(low), y(tick), x(high), y(tick), "grid"),
            _text(x(low) - 8, y(tick) + 4, f"{tick}", "end"),
        ]
        parts.append(_text(x(tick), y(low) + 18, f"{tick}", "middle"))
    largest = max(item.lines for item in bins)
    for item in bins:
        if item.people.value is None:
            continue
        if item.people.low is not None and item.people.high is not None:
            bottom, top = max(item.people.low, low), min(item.people.high, high)
            parts.append(_line(x(item.judge), y(bottom), x(item.judge), y(top), "whisker"))
        radius = max(LEAST, MOST * sqrt(item.lines / largest))
        parts.append(
            f'<circle class="point" cx="{x(item.judge):.1f}" cy="{y(item.people.value):.1f}" r="{radius:.1f}"/>'
        )
    parts.append(_text((LEFT + SIZE - ROOM) / 2, SIZE - 6, "the judge's mean", "middle"))
    middle = (SIZE - BELOW + ROOM) / 2
    turned = f"translate(13 {middle:.0f}) rotate(-90)"
    parts.append(f'<text class="word" transform="{turned}" text-anchor="middle">people\'s mean</text>')
    return (
        f'<svg class="plot" viewBox="0 0 {SIZE:.0f} {SIZE:.0f}" role="img" aria-label="{describe_bins(bins)}">'
        f"{''.join(parts)}</svg>"
    )


def describe_bins(bins: Sequence[Bin]) -> str:
    """Describe the plot in words. The text contains only digits and fixed words."""
    told = [
        f"where the judge says {number(item.judge)} people say {number(item.people.value)}" for item in bins
    ]
    return f"Calibration: {'; '.join(told)}."


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text class="word" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}</text>'


TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)

PROMISE = (
    "The documents were split once, by a hash with a random salt. Every step that fitted this judge, or "
    "chose among ways to judge, saw only the labels of the dev part. Only the computation of "
    "certificates reads the labels of this part, and it records every reading."
)
NO_PROMISE = (
    "The seal does not keep people from looking. The team sees all labels in the statistics and the "
    "exports, and may have known the results of a judge on these documents before choosing it. The seal "
    "counts openings only in this file of this study. It cannot show whether the model was trained on "
    "these texts."
)


def render_page(certificate: Certificate) -> str:
    """Return the page as HTML."""
    return TEMPLATES.get_template("page.html").render(
        certificate=certificate,
        plot=Markup(draw_calibration(certificate.calibration)),
        spelled=spelled,
        number=number,
        plural=plural,
        percent=percent,
        promise=PROMISE,
        no_promise=NO_PROMISE,
    )
