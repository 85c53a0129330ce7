"""Worked examples in a run's questions: each question shows those that are not from its own document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from coeval.domain import Instance
from coeval.domain.seals import RunExample
from coeval.judge.examples import with_examples
from coeval.judge.parts import Example
from coeval.llm.protocols.protocol import Protocol
from coeval.llm.protocols.registry import build_protocol


class Beside:
    """Gives the protocol for an instance: ``protocol`` itself where the run shows no examples."""

    def __init__(self, protocol: Protocol, examples: Sequence[RunExample] = ()) -> None:
        self.protocol = protocol
        self._examples = tuple((one.document, Example.model_validate_json(one.json)) for one in examples)
        self._known: dict[str, Protocol] = {}

    def __call__(self, instance: Instance) -> Protocol:
        if not self._examples:
            return self.protocol
        own = instance.document or instance.external_id
        documents = {document for document, _ in self._examples}
        key = own if own in documents else ""
        if key not in self._known:
            self._known[key] = self._build(
                [example for document, example in self._examples if document != key]
            )
        return self._known[key]

    def _build(self, shown: Sequence[Example]) -> Protocol:
        return show_examples(self.protocol, shown)


def show_examples(protocol: Protocol, shown: Sequence[Example]) -> Protocol:
    """The same with examples in the guides of their criteria."""
    brief = protocol.brief
    criteria = {
        number: with_examples(
            criterion, [one for one in shown if one.criterion == criterion.text], brief.task
        )
        for number, criterion in brief.criteria.items()
    }
    return build_protocol(replace(brief, criteria=criteria))
