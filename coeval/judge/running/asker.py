"""One of a judge's askers at work: its prompt texts from the file, its examples, and none from the document judged."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from coeval.datasets.tables.instances import name_document
from coeval.domain import Instance
from coeval.errors import InputError
from coeval.judge.artifact.schema import Asking, JudgeFile
from coeval.judge.examples import with_examples
from coeval.judge.parts import Example, mark_document
from coeval.llm.prompting.options import JudgeOptions
from coeval.llm.protocols.protocol import Brief, Protocol
from coeval.llm.protocols.registry import build_protocol, get_protocol


def document_of(instance: Instance) -> str:
    """The document of an instance: the one it names, or the one that its input is."""
    return instance.document or name_document(instance.input)


class Asker:
    """How one of a judge's models asks, as the file has it.

    ``protocol`` shows every example, ``plain`` none; ``beside`` gives the one for an instance, which shows all but
    those from its document.
    """

    def __init__(self, judge: JudgeFile, asking: Asking, templates: Path) -> None:
        base = get_protocol(asking.protocol)
        if base.compares or base.uses_assistants:
            raise InputError(
                f"The protocol {asking.protocol} of “{asking.judge}” does not score outputs by itself."
            )
        self._judge = judge
        self._options = _build_options(asking, templates)
        self._criteria = {number: each.build() for number, each in enumerate(judge.criteria, 1)}
        self._task = judge.task.build()
        self._known: dict[tuple[Example, ...], Protocol] = {}
        self.protocol, self.plain = self._with(judge.fitted.examples), self._with(())
        if self.protocol.prompt_hash != asking.prompt_hash:
            raise InputError(
                f"The prompt texts of “{asking.judge}” are not those that the judge was made with (their hash is "
                f"{self.protocol.prompt_hash[:12]} and not {asking.prompt_hash[:12]}): get the file anew."
            )

    def beside(self, instance: Instance) -> Protocol:
        """The protocol for an instance: without the examples that are from its document or hold its texts."""
        own = mark_document(document_of(instance), self._judge.salt)
        shown = (
            example
            for example in self._judge.fitted.examples
            if example.document != own
            and (example.input, example.output) != (instance.input, instance.output)
        )
        return self._with(tuple(shown))

    def _with(self, examples: tuple[Example, ...]) -> Protocol:
        if examples not in self._known:
            by_text = _by_criterion(examples)
            criteria = {
                number: with_examples(criterion, by_text.get(criterion.text, ()), self._task)
                for number, criterion in self._criteria.items()
            }
            self._known[examples] = build_protocol(Brief(self._task, criteria, self._options))
        return self._known[examples]


def _by_criterion(examples: Sequence[Example]) -> dict[str, list[Example]]:
    grouped: dict[str, list[Example]] = {}
    for example in examples:
        grouped.setdefault(example.criterion, []).append(example)
    return grouped


def _build_options(asking: Asking, templates: Path) -> JudgeOptions:
    return JudgeOptions(
        model=asking.model,
        protocol=asking.protocol,
        samples=asking.samples,
        temperature=asking.temperature,
        top_p=asking.top_p,
        max_tokens=asking.max_tokens,
        reasoning_effort=asking.reasoning_effort,
        persona=asking.persona,
        logprobs=asking.logprobs,
        reference=asking.reference,
        criteria_per_call=asking.criteria_per_call,
        templates=templates,
        steps=asking.steps,
    )


@contextmanager
def open_askers(judge: JudgeFile) -> Iterator[Mapping[str, Asker]]:
    """The askers of a judge by name; their prompt texts lie in a folder of their own while this is open.

    Raises:
        InputError: a protocol is not known, or the prompt texts are not those that their hash says.
    """
    with tempfile.TemporaryDirectory(prefix="coeval-judge-") as folder:
        askers = {}
        for place, asking in enumerate(judge.judges):
            own = Path(folder, str(place))
            own.mkdir()
            for name, text in asking.templates.items():
                (own / f"{name}.md").write_text(text, encoding="utf-8", newline="\n")
            askers[asking.judge] = Asker(judge, asking, own)
        yield askers
