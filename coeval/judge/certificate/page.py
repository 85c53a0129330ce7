"""A certificate as a page that stands alone: no script, no file beside it, every text escaped."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from coeval.judge.certificate.findings import counted, number, spelled
from coeval.judge.certificate.plot import draw_calibration
from coeval.judge.certificate.schema import Certificate

TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)

PROMISE = (
    "The documents were split once, by a hash with a salt drawn at random. Whatever fitted this judge, or chose among "
    "ways to judge, was given the labels of the dev part only, and the labels of this part were read by nothing of it "
    "but the computation of certificates, which records every reading."
)
NO_PROMISE = (
    "The seal does not keep people from looking: the team sees all labels in the statistics and the exports, and may "
    "have seen how a judge did on these documents before it was chosen. It counts the openings in this file of this "
    "study only, and it cannot tell whether the model was trained on these texts."
)


def render_page(certificate: Certificate) -> str:
    """The page, as HTML."""
    return TEMPLATES.get_template("page.html").render(
        certificate=certificate,
        plot=Markup(draw_calibration(certificate.calibration)),
        spelled=spelled,
        number=number,
        counted=counted,
        promise=PROMISE,
        no_promise=NO_PROMISE,
    )
