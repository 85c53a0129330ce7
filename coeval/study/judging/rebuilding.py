"""How a run asked, from its record: to ask again in the same way, here or from a file."""

from __future__ import annotations

from collections.abc import Iterator

from coeval.domain import CriteriaSet, Run, Task
from coeval.errors import InputError
from coeval.llm.presets.wordings import find_templates, list_wordings
from coeval.llm.prompting.options import JudgeOptions
from coeval.llm.protocols.protocol import Brief, Protocol
from coeval.llm.protocols.registry import build_protocol, list_protocols
from coeval.study.drafting.run_settings import RunSettings

_OPTIONS = (
    "samples", "temperature", "top_p", "max_tokens", "reasoning_effort", "persona", "logprobs", "reference",
    "criteria_per_call", "steps",
)  # fmt: skip
"""What a run records of how it asked, by the names of ``JudgeOptions``."""

MISSING = "its protocol, the texts of its prompts, the model's settings and the number of answers"
"""What nothing here knows of a run that was imported."""


def asked_here(run: Run) -> bool:
    """Whether a run asked a model here, so that how it asked is known."""
    return run.protocol in list_protocols()


def rebuild_protocol(task: Task, current: CriteriaSet, run: Run) -> Protocol:
    """How a run asked; its prompts are those whose hash it recorded.

    Raises:
        InputError: it did not ask here, or its prompts are not here any more.
    """
    return _rebuild(task, current, run)[1]


def rebuild_settings(task: Task, current: CriteriaSet, run: Run) -> RunSettings:
    """What a further run is drafted with that asks as this one did.

    Raises:
        InputError: see ``rebuild_protocol``.
    """
    wording, _ = _rebuild(task, current, run)
    kept = {name: run.params[name] for name in _OPTIONS if name in run.params and name != "steps"}
    return RunSettings(
        model=run.model,
        protocol=run.protocol,
        templates=wording,
        steps=bool(run.params.get("steps")),
        **kept,  # type: ignore[arg-type]
    )


def _rebuild(task: Task, current: CriteriaSet, run: Run) -> tuple[str, Protocol]:
    if not asked_here(run):
        raise InputError(
            f"The run “{run.label}” was imported, so nothing here knows how it asked: {MISSING} are missing. Say how "
            "it asks (on the Judge tab, or judge take --asks), or draft a run with a model in Set-up and learn from "
            "that one. The certificate is yours all the same."
        )
    for wording, protocol in _list_candidates(task, current, run):
        if _has_prompts(protocol, run):
            return wording, protocol
    raise InputError(
        f"The run “{run.label}” asked with prompts that are not here any more: draft a run with the prompts at hand, "
        "and learn from that one."
    )


def _list_candidates(task: Task, current: CriteriaSet, run: Run) -> Iterator[tuple[str, Protocol]]:
    by_id = {criterion.id: criterion for criterion in current.criteria}
    kept = {name: run.params[name] for name in _OPTIONS if name in run.params}
    for wording in ("", *list_wordings()):
        options = JudgeOptions(run.model, run.protocol, templates=find_templates(wording), **kept)  # type: ignore[arg-type]
        yield wording, build_protocol(Brief(task, by_id, options))


def _has_prompts(protocol: Protocol, run: Run) -> bool:
    try:
        return protocol.prompt_hash == run.prompt_hash
    except InputError:  # a wording that has no such template
        return False
