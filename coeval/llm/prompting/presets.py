"""Presets: published judges with their settings, criteria, sources, and the differences in our version.

The aspects of SummEval and Topical-Chat keep the meanings and scales of their raters' instructions, in our own words.
A criterion's question is for a free-text judge.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from coeval.domain import Criterion, Guide, Origin, Scale
from coeval.errors import InputError


@dataclass(frozen=True, slots=True)
class Preset:
    """A published way to judge.

    ``settings`` configure a run by the names of the command's options, and ``ideation`` a request for criteria. Missing
    options keep their defaults. ``facts`` list the sources, and ``differences`` the deliberate deviations from the
    publication.
    """

    name: str
    title: str
    source: str
    settings: Mapping[str, object]
    facts: tuple[str, ...]
    differences: tuple[str, ...]
    criteria: tuple[Criterion, ...] = ()
    ideation: Mapping[str, object] = field(default_factory=dict)


def _aspect(name: str, text: str, question: str, scale: Scale, *meanings: str) -> Criterion:
    """Return a criterion. ``meanings`` explain the scores, the lowest first."""
    guide = Guide(anchors=tuple(zip(scale.steps, meanings, strict=bool(meanings))))
    return Criterion(text, name=name, origin=Origin.HUMAN, scale=scale, question=question, guide=guide)


SUMMEVAL = (
    _aspect(
        "Coherence",
        "The sentences of the summary build on one another, so that it reads as one ordered account of its subject "
        "and not as a heap of facts.",
        "How coherent is the summary? That is, how well do its sentences fit together and follow one another?",
        Scale(1, 5),
    ),
    _aspect(
        "Consistency",
        "Every statement of the summary follows from the source text; nothing is invented and nothing contradicts it.",
        "How consistent is the summary with the source text? That is, is everything that it states supported there?",
        Scale(1, 5),
    ),
    _aspect(
        "Fluency",
        "The sentences of the summary, each for itself, are well written and follow the rules of grammar.",
        "How fluent is the summary? That is, how well are its sentences written, each for itself?",
        Scale(1, 5),
    ),
    _aspect(
        "Relevance",
        "The summary holds what matters most in the source text, and neither side issues nor repetitions.",
        "How relevant is the summary? That is, how well does it pick out what matters in the source text?",
        Scale(1, 5),
    ),
)

_G_EVAL_FLUENCY = _aspect(
    "Fluency",
    "Each sentence of the summary is well formed: grammar, spelling, punctuation and choice of words do not get in "
    "the way of reading.",
    SUMMEVAL[2].question,
    Scale(1, 3),
    "So many mistakes that it is hard to follow or sounds wrong.",
    "Some mistakes disturb the reading, but its main points come across.",
    "Hardly any mistakes; it reads with ease.",
)
SUMMEVAL_G_EVAL = (*SUMMEVAL[:2], _G_EVAL_FLUENCY, SUMMEVAL[3])
"""The criteria of G-Eval, whose fluency differs from that of SummEval's raters."""

TOPICAL_CHAT = (
    _aspect(
        "Naturalness",
        "The response sounds like something that a person would say in a conversation.",
        "How natural is the response? That is, how much does it sound like something a person would say?",
        Scale(1, 3),
        "bad: nobody would say this.",
        "fair: it sounds odd, but a person could have said it.",
        "good: it sounds like a person.",
    ),
    _aspect(
        "Coherence",
        "The response carries on from what was said before in the conversation.",
        "How coherent is the response? That is, how well does it follow from the conversation so far?",
        Scale(1, 3),
        "no: it takes no notice of what was said, or leaves the subject abruptly.",
        "in part: it takes up what was said only vaguely, and moves to another subject.",
        "yes: it stays on the subject and clearly takes up what was said.",
    ),
    _aspect(
        "Engagingness",
        "The response is interesting: it brings a thought, a fact or a question that makes one want to go on talking.",
        "How engaging is the response? That is, how interesting is it to somebody in this conversation?",
        Scale(1, 3),
        "dull: it could be said anywhere and interests nobody.",
        "in part: a thought or an opinion in it could keep the conversation going.",
        "interesting: it captures the attention, or tells a fact worth knowing.",
    ),
    _aspect(
        "Groundedness",
        "The response makes use of the given piece of knowledge.",
        "Does the response use the given piece of knowledge?",
        Scale(0, 1),
        "no: nothing in it comes from the piece of knowledge.",
        "yes: it makes good use of the piece of knowledge.",
    ),
)

_OF_THE_WHOLE = (
    _aspect(
        "Understandability",
        "The response can be understood as it stands in the conversation.",
        "Can the response be understood?",
        Scale(0, 1),
        "no: it is not clear what it says.",
        "yes: it is clear what it says.",
    ),
    _aspect(
        "Overall", "The response as a whole is good.", "How good is the response as a whole?", Scale(1, 5)
    ),
)
"""The two criteria that Fusion-Eval adds to those of G-Eval."""


# Every preset by its name. A new entry appears on the page, on the command line and in the help.

_SAMPLED = {"samples": 20, "temperature": 1.0, "top_p": 1.0}
_FENCED = (
    "The sample is marked as data between tags, so that a text cannot instruct the judge; the publications insert it "
    "directly into the question."
)
_ASKED_AGAIN = (
    "If an answer does not state its score in the form, the score alone is asked for once more, and the draft says so. "
    "No score is guessed."
)
_G_EVAL = (
    "Section 2.1: the question has a description of the task, the criterion, the steps, the sample and a form for the "
    "score alone, in this order.",
    "Section 2.1: the steps are written by the model once for each criterion (auto-CoT).",
    "Section 2.3: the score is the mean over the scale, weighted by how likely the model is to give each step.",
    "Section 3.1: if the endpoint gives no probabilities, they are estimated from 20 answers at temperature 1 and "
    "top_p 1. The mean of 20 answers is this estimate. “Expected score from log-probabilities” gives the weighted "
    "mean itself; then one sample at temperature 0 is enough.",
)
_G_EVAL_DIFFERENCES = (
    "The wording is ours. Your model writes the steps; Pre-fill shows them, and you can edit them.",
    "Answers are not cut off after a few tokens, because models that think first would never reach the score.",
    _FENCED,
    _ASKED_AGAIN,
)

_KNOWLEDGE = "The piece of knowledge is a column of the import with the role “shown to judge and people”."
_CHIANG_AND_LEE = "Chiang and Lee, A Closer Look into Automatic Evaluation Using Large Language Models (2023)"
_CLOSER_LOOK_SETTINGS: Mapping[str, object] = {
    "protocol": "analyze-rate",
    "templates": "closer-look",
    **_SAMPLED,
}
_CLOSER_LOOK = (
    "Appendix C: 20 answers at temperature 1 and top_p 1; the score is their mean.",
    "Section 3.1: no evaluation steps, which did not help reliably.",
    "Section 3.2: the model explains itself. Analysis first is the preset; the protocols rate-explain, "
    "free-text and score-only are the other three forms. All four give the task, the criterion and the sample in "
    "this order. Only free-text ends with the criterion's question.",
    "Section 3.4.2: the personas “assistant” and “evaluator” come before the task in the same message.",
)
_CLOSER_LOOK_DIFFERENCES = ("The wording is ours, that of the personas too.", _FENCED, _ASKED_AGAIN)

_SHU = "Shu et al., Fusion-Eval: Integrating Assistant Evaluators with LLMs (2024)"
_FUSION_SETTINGS: Mapping[str, object] = {"protocol": "fusion", "samples": 8, "temperature": 0.5}
_FUSION = (
    "Section 2.1: a model writes a plan from the task, the criteria and the assistants: what each one measures, the "
    "texts that it reads, its range and its direction. It can be another model than the judge.",
    "Section 2.2: the question holds the plan, the sample and the assistants' scores, and asks for a score and an "
    "explanation for each criterion and for the whole. Scores may have decimals.",
    "Section 3.1: the scores are the mean of 8 answers, at temperature 0.5 for PaLM 2 (the preset) and 0.1 for GPT-4.",
    "Section 3.2: the ablation asks the same question without assistants and without a plan.",
)
_FUSION_DIFFERENCES = (
    "The wording is ours, and a person can edit the plan before the run freezes it.",
    "The available assistants are measures that need no download, imported columns (such as BLEURT or NLI) and "
    "plug-ins. Without references there is no n-gram overlap, because similarity to the input is not quality.",
    "A score that is asked for once more is a whole number.",
    _FENCED,
    _ASKED_AGAIN,
)

_PRESETS = (
    Preset(
        "coeval-paper",
        "CoEval, as published",
        "Li et al., Collaborative Evaluation: Exploring the Synergy of Large Language Models and Humans for Open-ended "
        "Generation Evaluation (2023)",
        {"protocol": "coeval", "samples": 1, "temperature": 0.0, "top_p": 1.0},
        (
            "Section 3: temperature 0, for criteria and for evaluations. The authors' scripts add top_p 1.",
            "Section 3.1: the model lists criteria in one answer. The request names the task and the output, and sets "
            "no number of criteria.",
            "Section 3.2: one draft for each instance and criterion, with a conclusion, a score from 1 to 5 "
            "and evidence quoted from the output.",
            "Section 5: ten answers at temperature 0.7 are a check of how consistent the criteria are. To repeat it, "
            "ask for 10 samples at this temperature.",
        ),
        (
            "The wording is ours. Criteria and drafts are requested as JSON instead of numbered lines, and each "
            "quotation is located in the output.",
            "The sample comes before the criterion, and the criterion before the form; the publication names the "
            "criterion first.",
            "Criteria with nearly the same wording are merged if you ask for several samples.",
            _FENCED,
            _ASKED_AGAIN,
        ),
        ideation={"samples": 1, "temperature": 0.0, "top_p": 1.0, "templates": "coeval-paper"},
    ),
    Preset(
        "closer-look",
        "A Closer Look, summaries",
        _CHIANG_AND_LEE,
        _CLOSER_LOOK_SETTINGS,
        (
            *_CLOSER_LOOK,
            "Appendix F.1: every criterion is on 1-5, fluency too, as SummEval's raters had it. G-Eval's fluency on "
            "1-3 lowers the correlation of this protocol with people.",
        ),
        _CLOSER_LOOK_DIFFERENCES,
        criteria=SUMMEVAL,
    ),
    Preset(
        "closer-look-topical-chat",
        "A Closer Look, dialogue",
        _CHIANG_AND_LEE,
        _CLOSER_LOOK_SETTINGS,
        (
            *_CLOSER_LOOK,
            "Appendix F.2: naturalness, coherence and engagingness are on 1-3, and groundedness on 0-1, each with the "
            "meaning of every score.",
        ),
        (*_CLOSER_LOOK_DIFFERENCES, _KNOWLEDGE),
        criteria=TOPICAL_CHAT,
    ),
    Preset(
        "g-eval-summeval",
        "G-Eval, summaries",
        "Liu et al., G-Eval: NLG Evaluation using GPT-4 with Better Human Alignment (2023)",
        {"protocol": "score-only", "steps": True, "templates": "g-eval", **_SAMPLED},
        (
            *_G_EVAL,
            "Coherence, consistency and relevance are on 1-5, and fluency on 1-3, as in the publication.",
        ),
        (
            *_G_EVAL_DIFFERENCES,
            "The published request about fluency has neither the article nor steps; this one has both, like those "
            "about the other criteria.",
            "The people of SummEval rated fluency on 1-5: compare ranks, not levels.",
        ),
        criteria=SUMMEVAL_G_EVAL,
    ),
    Preset(
        "g-eval-topical-chat",
        "G-Eval, dialogue",
        "Liu et al., G-Eval: NLG Evaluation using GPT-4 with Better Human Alignment (2023); the aspects are those of "
        "Mehri and Eskenazi, USR (2020)",
        {"protocol": "score-only", "steps": True, "templates": "g-eval", **_SAMPLED},
        (
            *_G_EVAL,
            "Naturalness, coherence and engagingness are on 1-3, and groundedness on 0-1, each with the meaning of "
            "every score.",
        ),
        (*_G_EVAL_DIFFERENCES, _KNOWLEDGE),
        criteria=TOPICAL_CHAT,
    ),
    Preset(
        "fusion-eval",
        "Fusion-Eval, summaries",
        _SHU,
        _FUSION_SETTINGS,
        (*_FUSION, "Table 2: people's overall score is their mean over the four criteria."),
        _FUSION_DIFFERENCES,
        criteria=SUMMEVAL,
    ),
    Preset(
        "fusion-eval-topical-chat",
        "Fusion-Eval, dialogue",
        _SHU,
        _FUSION_SETTINGS,
        (*_FUSION, "Table 3: understandability is on 0-1, and people rate the whole response on 1-5."),
        (
            *_FUSION_DIFFERENCES,
            "The question asks for the criterion Overall, and at its end for the whole once more.",
            _KNOWLEDGE,
        ),
        criteria=(*TOPICAL_CHAT, *_OF_THE_WHOLE),
    ),
)

PRESETS: Mapping[str, Preset] = {preset.name: preset for preset in _PRESETS}


def get_preset(name: str) -> Preset:
    """Return the preset with this name.

    Raises:
        InputError: there is no such preset; the message lists the names.
    """
    if name not in PRESETS:
        raise InputError(f"There is no preset “{name[:60]}”: use one of {', '.join(PRESETS)}.")
    return PRESETS[name]


def describe_presets() -> str:
    """Return every preset as Markdown, for the help."""
    return "\n".join(line for preset in PRESETS.values() for line in _describe(preset))


def _describe(preset: Preset) -> Iterator[str]:
    yield from (f"## {preset.title}", f"`--preset {preset.name}`. {preset.source}.", "")
    if preset.ideation:
        yield f"Criteria: {_list_settings(preset.ideation)}.\n"
    yield f"Evaluations: {_list_settings(preset.settings)}."
    yield from ("", "What is taken from it:")
    yield from (f"- {fact}" for fact in preset.facts)
    yield from ("", "What is different here:")
    yield from (f"- {difference}" for difference in preset.differences)
    yield ""
    if preset.criteria:
        yield from (
            "| Criterion | Scale | What it says | The question of a free-text judge |",
            "|---|---|---|---|",
        )
        for one in preset.criteria:
            said = " ".join([one.text, *(f"{score}: {meaning}" for score, meaning in one.guide.anchors)])
            yield f"| {one.name} | {one.scale} | {said} | {one.question} |"
        yield ""


def _list_settings(settings: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in settings.items())
