"""The findings and limits of a certificate, in sentences that a reviewer can cite."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic import ValidationError

from coeval.extensions.judge.certificate.rivals import CONSTANT, CRITERIA, JUDGE, PERSON
from coeval.extensions.judge.certificate.schema import Certificate, Group, Number, Rival
from coeval.extensions.judge.model.fitted import tell_unmoved
from coeval.stats.estimates import listed, plural

FEW_DOCUMENTS = 20
"""With fewer documents, intervals are wide and depend on Student's t."""

ARMS = {
    "blind": "without seeing any draft",
    "first": "before they were shown the draft",
    "blind and first": "without seeing any draft, or before they were shown it",
}


def number(value: float | None) -> str:
    """
    >>> number(0.5), number(-1.234), number(-0.001), number(None)
    ('0.50', '−1.23', '0.00', 'undefined')
    """
    return "undefined" if value is None else f"{round(value, 2) + 0.0:.2f}".replace("-", "−")


def spelled(value: Number) -> str:
    """Return the value with its interval as text, or the reason why it is undefined.

    >>> spelled(Number(value=0.5, low=0.4, high=0.6)), spelled(Number(value=None, reason="one score"))
    ('0.50 (0.40 to 0.60)', 'undefined: one score')
    """
    if value.value is None:
        return f"undefined: {value.reason}"
    bounds = f" ({number(value.low)} to {number(value.high)})" if value.bounded else ""
    return number(value.value) + bounds


def write_findings(certificate: Certificate) -> tuple[str, ...]:
    """Return the findings in sentences, the most important first."""
    return tuple(_findings(certificate))


def _findings(certificate: Certificate) -> Iterator[str]:
    yield _arms(certificate)
    yield _openings(certificate)
    split, people = certificate.split, certificate.people
    systems = f" by {plural(len(split.systems), 'system')}" if split.systems else ""
    yield (
        f"On {plural(split.used, 'sealed document')} ({plural(split.outputs, 'output')}{systems}; "
        f"{plural(split.lines, 'line')} of an output and a criterion), the judge was compared with "
        f"{plural(people.scores, 'score')} by {plural(people.people, 'person', 'people')}."
    )
    if split.asked_again:
        how = "All figures count" if split.asked_again_counted else "No figure counts"
        yield (
            f"The judge scored {plural(split.asked_again, 'line')} only when it was asked again. {how} these scores, "
            "which often contradict the first answer."
        )
    yield _errors(certificate)
    yield tell_verdict(certificate)
    yield _beside_person(certificate)
    yield _alt_test(certificate)
    yield _correlations(certificate)
    yield _equivalence(certificate)
    yield _flips(certificate)


def _arms(certificate: Certificate) -> str:
    if certificate.people.leaned:
        return (
            "People saw the model's draft when they gave these scores, because the study has no blind "
            "scores. People lean towards a draft, so the judge looks better here than it is."
        )
    return f"People gave these scores {ARMS.get(certificate.people.arms, 'without the draft')}."


def _openings(certificate: Certificate) -> str:
    if certificate.opening == 1:
        return "This is the first opening of the seal: no judge had been compared with these labels before."
    times = "once" if certificate.opening == 2 else f"{certificate.opening - 1} times"
    return (
        f"This is opening {certificate.opening} of the seal: these labels had been read {times} before. "
        "The authors of this judge may have known earlier results, so it may look better here than on "
        "new documents."
    )


def _errors(certificate: Certificate) -> str:
    told = [
        f"{rival.name} {spelled(rival.rmse)}" for rival in certificate.rivals if rival.rmse.value is not None
    ]
    return (
        "Root mean squared error against people's mean, with 95% intervals, in points of the scale: "
        f"{'; '.join(told)}."
    )


def read_verdict(stored: object) -> str:
    """Return the verdict of the certificate in a judge file; empty if the file has none."""
    if stored is None:
        return ""
    try:
        return f"Its certificate: {tell_verdict(Certificate.model_validate(stored))}"
    except ValidationError:
        return "Its certificate cannot be read, so nothing says whether the judge agrees with people."


def tell_verdict(certificate: Certificate) -> str:
    """Return the sentence that compares the judge with constants. Every certificate includes it."""
    rivals = [
        rival
        for name in (CONSTANT, CRITERIA)
        if (rival := certificate.get_rival(name)) and rival.gain.value is not None
    ]
    ahead = [rival for rival in rivals if (rival.gain.value or 0) <= 0]
    unsure = [rival for rival in rivals if rival not in ahead and not (rival.gain.low or 0) > 0]
    if ahead:
        names = " and ".join(_called(rival) for rival in ahead)
        verb = "are" if len(ahead) > 1 else "is"
        return (
            f"{names[0].upper()}{names[1:]} {verb} at least as close to people's scores as this judge: the judge says "
            "no more about quality than numbers that were known without it."
        )
    if unsure:
        names = " and than ".join(_called(rival) for rival in unsure)
        return (
            f"The judge was closer to people's scores than {names}, but not by more than chance can explain."
        )
    return "The judge is closer to people's scores than a constant and than each criterion's mean."


def _called(rival: Rival) -> str:
    return "a constant" if rival.name == CONSTANT else "each criterion's mean"


def _beside_person(certificate: Certificate) -> str:
    person = certificate.get_rival(PERSON)
    if person is None or person.gain.value is None:
        return "The judge was not compared with a single person: nobody's lines were scored by others in both parts."
    how = "closer to the others than" if person.gain.value > 0 else "further from the others than"
    sure = person.gain.bounded and ((person.gain.low or 0) > 0 or (person.gain.high or 0) < 0)
    chance = "" if sure else ", but not by more than chance can explain"
    return f"On the lines they share, the judge is {how} the person who agreed best with the others{chance}."


def _alt_test(certificate: Certificate) -> str:
    test = certificate.alt_test
    if test.passed is None:
        return f"The alternative annotator test was not possible: {test.reason}."
    may = "may" if test.passed else "may not"
    people = plural(test.people, "person", "people")
    return (
        f"By the alternative annotator test (ε {test.epsilon:g}, {people}), the judge {may} stand in for one of these "
        f"people: its winning rate is {number(test.winning_rate.value)}, where 0.50 is needed, and its advantage "
        f"probability is {number(test.advantage.value)}."
    )


def _correlations(certificate: Certificate) -> str:
    told = [
        f"{number(level.kendall.value)}{_bounds(level.kendall)} {where}"
        for level in certificate.levels
        for where in [
            {"dataset": "over all outputs", "document": "within documents", "system": "over systems' means"}[
                level.level
            ]
        ]
        if level.kendall.value is not None
    ]
    if not told:
        return (
            "Correlations with people are undefined: "
            + next(level.kendall.reason for level in certificate.levels)
            + "."
        )
    return f"Kendall's tau-b with people's mean, averaged over criteria, is {'; '.join(told)}."


def _bounds(value: Number) -> str:
    return f" ({number(value.low)} to {number(value.high)})" if value.bounded else ""


def _equivalence(certificate: Certificate) -> str:
    tested = [part for part in certificate.by_criterion if part.equivalence.equivalent is not None]
    shown = [f"“{part.criterion}”" for part in tested if part.equivalence.equivalent]
    margin = f"{100 * certificate.margin_share:.3g}% of the scale's range"
    if not tested:
        return f"It could not be tested whether the judge's means are within {margin} of people's."
    if len(shown) == len(tested):
        return f"On every criterion, the judge's mean was shown to be within {margin} of people's."
    if not shown:
        return f"On no criterion was the judge's mean shown to be within {margin} of people's."
    return f"The judge's mean was shown to be within {margin} of people's on {listed(shown)}, but not on the others."


def _flips(certificate: Certificate) -> str:
    """Return a sentence on the verdict that changes most often between runs."""
    told = [
        (flip.share.value or 0.0, part.criterion, flip)
        for part in certificate.by_criterion
        for flip in part.flips
    ]
    if not told:
        return (
            "Each line has only one answer from the judge, so the rate of changed verdicts between runs "
            "is unknown."
        )
    _, criterion, flip = max(told, key=lambda each: each[0])
    return (
        f"Asked again for one answer, the judge changes a verdict most often on “{criterion}”, at the threshold "
        f"{flip.threshold:g}: on {percent(flip.share)} of {plural(flip.lines, 'unchanged output')}."
    )


def percent(share: Number) -> str:
    """
    >>> percent(Number(value=0.091, low=0.06, high=0.12)), percent(Number(value=0.5))
    ('9.1% (6.0% to 12.0%)', '50.0%')
    """
    bounds = (
        f" ({share.low:.1%} to {share.high:.1%})" if share.low is not None and share.high is not None else ""
    )
    return f"{share.value:.1%}{bounds}" if share.value is not None else f"undefined: {share.reason}"


def write_limits(certificate: Certificate) -> tuple[str, ...]:
    """Return the uses for which the judge has not been validated."""
    return tuple(_limits(certificate))


def _limits(certificate: Certificate) -> Iterator[str]:
    split = certificate.split
    if split.used < FEW_DOCUMENTS:
        yield (
            f"The certificate covers only {plural(split.used, 'document')}: other documents may give "
            "other figures."
        )
    weak = [f"“{part.criterion}”" for part in certificate.by_criterion if not _follows(part.pearson)]
    if weak:
        yield f"It was not shown to tell better outputs from worse on {listed(weak)}: the correlation may be zero."
    for part in certificate.by_criterion:
        if part.slope is not None:
            yield (
                f"{tell_unmoved(part.criterion, part.slope)} On this criterion, it does not distinguish outputs or "
                "systems."
            )
    losing = [f"“{part.criterion}”" for part in certificate.by_criterion if _loses(part.rmse, part.constant)]
    if losing:
        yield f"On {listed(losing)}, people's mean on the dev part is at least as close to people as the judge."
    within = next((level for level in certificate.levels if level.level == "document"), None)
    if within is not None and not _follows(within.kendall):
        yield "It was not shown to rank outputs for the same input as people do."
    yield from _partial(certificate.by_system)
    ends = [group for group in certificate.by_score if _differs(group.bias)]
    if ends:
        told = listed([f"{group.name} ({number(group.bias.value)})" for group in ends])
        yield (
            f"If people's mean score is about {told}, the judge's mean differs by the number in brackets: a person "
            "should read single outputs there."
        )
    judge = certificate.get_rival(JUDGE)
    if judge is not None and judge.mae.value is not None:
        yield (
            f"A single score is off by {number(judge.mae.value)} points on average; means of many "
            "outputs are more precise."
        )
    if split.unread:
        yield (
            f"It gave no score for {plural(split.unread, 'line')} that people scored; no figure "
            "includes them."
        )
    yield (
        "The judge was tested on documents and systems of this study, and its intervals apply to these "
        "people, not to others."
    )


def _follows(value: Number) -> bool:
    """Return whether a correlation is significantly above 0.

    A correlation of 1 in every document counts, without an interval.
    """
    return value.value is not None and (value.value == 1 or (value.low is not None and value.low > 0))


def _loses(judge: Number, constant: Number) -> bool:
    return judge.value is not None and constant.value is not None and judge.value >= constant.value


def _differs(bias: Number) -> bool:
    return bias.low is not None and bias.high is not None and (bias.low > 0 or bias.high < 0)


def _partial(systems: Sequence[Group]) -> Iterator[str]:
    """Return sentences on systems that the judge rates too high or too low, so that it cannot compare their means."""
    told = [f"{group.name} ({number(group.bias.value)})" for group in systems if _differs(group.bias)]
    if told and len(systems) > 1:
        yield (
            f"It scores the outputs of {listed(told)} differently from people: correct its means before you compare "
            "systems."
        )
