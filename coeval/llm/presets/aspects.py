"""The aspects of two public sets of human ratings, SummEval and Topical-Chat, in our own words.

What each aspect means, and its scale, is as its raters were told; no text of theirs is repeated. The question is what
a free-text judge is asked.
"""

from __future__ import annotations

from coeval.domain import Criterion, Origin, Scale


def _aspect(name: str, text: str, question: str, scale: Scale) -> Criterion:
    return Criterion(text, name=name, origin=Origin.HUMAN, scale=scale, question=question)


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
        "Each sentence of the summary is well formed: grammar, spelling, punctuation and choice of words do not get in "
        "the way of reading.",
        "How fluent is the summary? That is, how well are its sentences written, each for itself?",
        Scale(1, 3),
    ),
    _aspect(
        "Relevance",
        "The summary holds what matters most in the source text, and neither side issues nor repetitions.",
        "How relevant is the summary? That is, how well does it pick out what matters in the source text?",
        Scale(1, 5),
    ),
)

TOPICAL_CHAT = (
    _aspect(
        "Naturalness",
        "The response sounds like something that a person would say in a conversation.",
        "How natural is the response? That is, how much does it sound like something a person would say?",
        Scale(1, 3),
    ),
    _aspect(
        "Coherence",
        "The response carries on from what was said before in the conversation.",
        "How coherent is the response? That is, how well does it follow from the conversation so far?",
        Scale(1, 3),
    ),
    _aspect(
        "Engagingness",
        "The response is interesting: it brings a thought, a fact or a question that makes one want to go on talking.",
        "How engaging is the response? That is, how interesting is it to somebody in this conversation?",
        Scale(1, 3),
    ),
    _aspect(
        "Groundedness",
        "The response makes use of the given piece of knowledge.",
        "Does the response use the given piece of knowledge?",
        Scale(0, 1),
    ),
)
