"""A methods paragraph for a paper, written from the data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coeval.stats.agreement.unit_kinds import PLUS_TWO, WORTH
from coeval.stats.clusters import GROUPS
from coeval.stats.estimates import extent, plural
from coeval.stats.frames import (
    ASSISTED,
    BLIND,
    CROWD,
    EXPERT,
    TEAM,
    UNDRAFTED,
    StudyFrames,
)
from coeval.stats.report.agreement import ARM_WORDS, arm_counts

Document = Mapping[str, Any]
UNDEFINED = "undefined"


def methods_paragraph(study: StudyFrames, report: Document) -> str:
    """Return a methods paragraph for a paper, with all numbers from ``report`` (``build_report``).

    Sentences about missing parts (timing, a blind arm, a second judge) are left out.
    """
    sentences = (
        _people(study, report),
        _criteria(report["votes"]),
        _arms(study),
        _agreement(report),
        _actions(report),
        _time(report),
        _alignment(report),
        report["drafts"]["paragraph"],
        _left_out(study),
    )
    return " ".join(sentence for sentence in sentences if sentence)


def _people(study: StudyFrames, report: Document) -> str:
    groups = list(study.group_of.values())
    labels = {TEAM: "team member", EXPERT: "expert", CROWD: "crowd worker"}
    kinds = [plural(groups.count(group), label) for group, label in labels.items() if group in groups]
    scales = {f"{low:g} to {high:g}" for low, high in study.scales.values()}
    scale = f"on a scale from {scales.pop()}" if len(scales) == 1 else "on the criteria's own scales"
    counts, scored = report["agreement"], study.scored["instance"]
    where = study.instances[study.instances["instance"].isin(scored)]
    parts = [
        plural(n, name)
        for name, n in (
            ("document", where["document"].replace("", None).nunique()),
            ("system", where["system"].replace("", None).nunique()),
        )
        if n
    ]
    of = f" ({' by '.join(parts)})" if parts else ""
    return (
        f"{plural(report['annotators'], 'annotator')} ({' and '.join(kinds) or 'nobody yet'}) scored "
        f"{plural(scored.nunique(), 'instance')}{of} by "
        f"{plural(len(study.criteria), 'criterion', 'criteria')} {scale}: {plural(len(study.scored), 'score')} of "
        f"{plural(report['units'], 'unit')} (an instance and a criterion), {counts['n_units']:,} of them scored "
        f"by two or more people."
    )


def _criteria(votes: Document) -> str:
    """Return the origin of the criteria: a vote, or none."""
    if not votes["final_criteria"]:
        return ""
    by_model = f"the model worded {votes['worded_by_model']:.0%} of them"
    if not votes["on_this_version"]:
        return f"The criteria were set without a vote; {by_model}."
    return f"{plural(votes['on_this_version'], 'person', 'people')} voted on the criteria; {by_model}."


def _arms(study: StudyFrames) -> str:
    arms = arm_counts(study)
    if list(arms) in ([ASSISTED], [BLIND]):
        how = "with the model's draft" if ASSISTED in arms else "without a draft"
        return f"All scores were given {how} in view."
    parts = [f"{n:,} ({n / sum(arms.values()):.0%}) {ARM_WORDS[arm]}" for arm, n in arms.items()]
    return f"The scores were given as follows: {', '.join(parts)}." if parts else ""


def _agreement(report: Document) -> str:
    agreement = report["agreement"]
    headline, alphas = agreement["headline"], agreement["humans"]
    if headline["value"] is None:
        return f"Krippendorff's alpha is {UNDEFINED} for every criterion."
    scores = headline["scores"]
    pooled = headline["pooled"]
    criteria = plural(headline["criteria"], "criterion", "criteria")
    return (
        f"Agreement is Krippendorff's ordinal alpha of {scores}: its mean over {criteria} is "
        f"{_number(headline['value'])}{_interval(headline)}; pooled over all units, which differences between criteria "
        f"inflate, it is {_number(pooled['value'])}{_interval(pooled)}. Of all scores pooled, nominal alpha is "
        f"{_number(alphas['nominal'])}, interval alpha {_number(alphas['interval'])}, Gwet's AC2 (quadratic) "
        f"{_number(agreement['ac2']['value'])} and percent agreement {_number(agreement['percent']['value'])}. "
        f"{_sampling(headline)}"
    )


def _sampling(headline: Document) -> str:
    """Return the sampling unit of the intervals and tests."""
    if headline.get("ci_low") is None:
        return ""
    kind, n = headline["resampled"], headline["clusters"]
    whole = {
        "documents": "each with all its instances, criteria and systems",
        "instances": "each with all its criteria",
    }[kind]
    rough = (
        "; with so few, they are approximate, and it is too early to say how far annotators agree"
        if headline["few_clusters"]
        else ""
    )
    return (
        f"Intervals are 95%, from leaving out one of {n:,} {kind} at a time, {whole} (jackknife, Student's t, extended "
        f"by most of the estimated bias){_added(headline)}{rough}. For means of systems, Student's t has the degrees "
        f"of freedom of the effective number of {kind} of equal size. Intervals of correlations are "
        "computed on Fisher's scale. Intervals of correlations between means of systems "
        f"come from resampled {kind} (bootstrap), and apply to means over the same number of {kind}. For statistics "
        f"that are not sums, many {kind} are left out in up to {GROUPS} groups. All intervals apply to other {kind} "
        f"scored by these annotators, not to other annotators; tests treat the same {kind} as independent. "
        "Comparisons of judges, differences between systems and the alternative annotator tests of "
        "criteria are adjusted with Holm's method."
    )


def _added(headline: Document) -> str:
    """Return a note if units were added for the interval, because scores were few and skewed."""
    if not str(headline.get("interval_kind", "")).endswith(PLUS_TWO):
        return ""
    return (
        f", with two units added that each count {WORTH:g} (one of the rarest score, one split between it and the "
        "commonest), because scores are few and skewed"
    )


def _actions(report: Document) -> str:
    overall, change = report["actions"]["overall"], report["score_change"]
    if not overall["n"]:
        return ""
    rates = ", ".join(
        f"{overall[action]:.1%} {past}"
        for action, past in (
            ("approve", "approved"),
            ("revise", "revised"),
            ("delete", "deleted"),
            ("add", "added"),
        )
    )
    sentence = f"Of {overall['n']:,} lines, {rates}."
    if change["n"]:
        sentence += (
            f" Of {change['n']:,} drafted scores, {change['unchanged'] / change['n']:.0%} were kept, "
            f"{change['raised'] / change['n']:.0%} raised and {change['lowered'] / change['n']:.0%} lowered."
        )
    return sentence


def _time(report: Document) -> str:
    time = report["time"]
    if not time["n_timed"]:
        return ""
    return (
        f"A criterion took a median of {time['median_seconds']:.0f} s (mean {time['mean_seconds']:.0f} s, "
        f"{_number(time['mean_seconds_idle_cut'], 0)} s without spans over {time['idle_cut_seconds']:g} s; "
        f"{plural(time['n_timed'], 'timed submission')})."
    )


def _alignment(report: Document) -> str:
    alignment = report["alignment"]
    sentences = []
    for run in alignment["runs"]:
        level = {
            name: run["correlations_mean"][name]["kendall"] for name in ("dataset", "document", "system")
        }
        taus = ", ".join(
            f"{_number(value['value'])}{_interval(value)} at {name} level{_over(run, name)}"
            for name, value in level.items()
        )
        sentence = (
            f"The judge {run['label']} and the people's mean scores ({_labels(alignment)}) correlate, on average over "
            f"criteria, with tau-b {taus}"
        )
        sentence += _alt_test(run)
        sentences.append(sentence + ".")
    if sentences and alignment["leaned"]:
        sentences.append("These scores were given with a draft in view, which can raise agreement with it.")
    return " ".join(sentences)


def _over(run: Document, level: str) -> str:
    """Return the numbers of documents or systems within the criteria whose correlations are averaged."""
    of_criteria = [part["correlations"][level] for part in run["per_criterion"]]
    sizes = [row["groups_used"] or row["n_groups"] for row in of_criteria if row["kendall"] is not None]
    return f" (over {extent(sizes)} {level}s in each criterion)" if sizes and level != "dataset" else ""


def _alt_test(run: Document) -> str:
    """Return the alternative annotator tests by criterion, with the numbers of people, items and clusters."""
    tests = [part["alt_test"] for part in run["per_criterion"] if part["alt_test"]["passed"] is not None]
    if not tests:
        return ""
    people, items, clusters = (
        extent([n for test in tests for n in sizes(test)])
        for sizes in (lambda t: [len(t["people"])], lambda t: t["n_items"], lambda t: t["n_clusters"])
    )
    count = run["alt_test_criteria"]
    rates = ", ".join(_number(test["winning_rate"], 2) for test in tests)
    return (
        f"; the alternative annotator test was run by criterion with {people} people, each over {items} items in "
        f"{clusters} independent clusters (RMSE, epsilon {tests[0]['epsilon']:g}, a {tests[0]['test']}, "
        f"Benjamini-Yekutieli over people): its winning rates are {rates}, and with Holm's method the judge may "
        f"replace a person on {count['passed']} of {plural(count['tested'], 'criterion', 'criteria')}"
    )


def _labels(alignment: Document) -> str:
    """Return the kinds of people's scores that were used, with their numbers."""
    kinds = {
        "n_blind": f"{alignment['n_blind']:,} blind",
        "n_first": f"{alignment['n_first']:,} given before the draft was shown",
    }
    if alignment["labels"] == UNDRAFTED:
        return f"{alignment['n_labels']:,} given with no draft to show"
    return " and ".join(text for name, text in kinds.items() if alignment[name]) or alignment["labels"]


def _left_out(study: StudyFrames) -> str:
    missing, unscored = len(study.scores) - len(study.scored), int(study.drafts["score"].isna().sum())
    parts = []
    if missing:
        parts.append(plural(missing, "submission") + " without a score")
    if unscored:
        parts.append(plural(unscored, "draft") + " whose score could not be read")
    return f"Left out: {' and '.join(parts)}." if parts else ""


def _number(value: float | None, places: int = 3) -> str:
    return UNDEFINED if value is None else f"{value:.{places}f}"


def _interval(entry: Document) -> str:
    if entry.get("ci_low") is None:
        return ""
    return f" [{entry['ci_low']:.3f}, {entry['ci_high']:.3f}]"
