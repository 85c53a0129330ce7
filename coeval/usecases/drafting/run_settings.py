"""The settings of a pre-fill, from a page, the command line or a stored job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace

from coeval.errors import InputError
from coeval.llm.client.client import resolve_address
from coeval.llm.prompting.template_files import JUDGE_SETTINGS, JudgeOptions, JudgeSettings, find_templates
from coeval.llm.protocols.protocol import get_protocol
from coeval.llm.running.ledger import Prices
from coeval.settings import Settings, show_address


@dataclass(frozen=True, slots=True)
class RunSettings(JudgeSettings):
    """The settings of a run: those of its judge, and how the run goes. ``limit`` is the largest number of drafts; None
    for all.
    """

    templates: str = ""
    """A folder with the user's own templates, or the name of one of CoEval's wordings; empty for the default."""
    endpoint: str = ""
    """The endpoint's address without secrets; ``batch`` for batch files; empty for the configured endpoint."""
    label: str = ""
    concurrency: int = 0
    limit: int | None = None
    prices: Prices = field(default_factory=Prices)
    retry_unscored: bool = False
    replay: bool = False
    steps: bool = False
    """True to include evaluation steps of each criterion; missing ones are written first."""
    plan: str = ""
    plan_model: str = ""
    """The model that writes a missing plan; empty for the model of the run."""
    assistants: tuple[str, ...] = ()
    """Measures by name, or score columns as ``column:low:high:what it measures``; empty for all measures."""
    ablation: bool = False
    """True to send the same requests without assistants, their scores and the plan."""

    def judge_options(self, steps: Mapping[str, str] | None = None) -> JudgeOptions:
        """Return the options of each judgment; ``steps`` has the steps by the text of their criterion."""
        judge = {name: getattr(self, name) for name in JUDGE_SETTINGS}
        return JudgeOptions(**judge, templates=find_templates(self.templates), steps=steps or {})

    @property
    def doubts(self) -> list[str]:
        """Return warnings about settings that may be unintended."""
        if self.explain:
            return [
                "An estimate holds the decisions alone: the number of explanations is known only afterwards."
            ]
        answers = get_protocol(self.protocol).samples if self.samples is None else self.samples
        if self.temperature == 0 and answers > 1:
            return [
                f"{answers} answers to each question at temperature 0 are the same answer {answers} times, and each is "
                "paid for: set a temperature above 0, or ask for 1 sample."
            ]
        return []

    def complete(self, settings: Settings) -> RunSettings:
        """Return the settings with the missing model, concurrency and label filled in.

        Raises:
            InputError: the concurrency is below 0.
        """
        if self.concurrency < 0:
            raise InputError(
                f"The concurrency is {self.concurrency}: give the number of simultaneous calls, from 1."
            )
        model = self.model or settings.model
        parts = [model, self.protocol, *self._peculiarities()]
        return replace(
            self,
            model=model,
            endpoint=self.endpoint or show_address(resolve_address(settings)),
            label=self.label or " · ".join(part for part in parts if part),
            concurrency=self.concurrency or settings.concurrency,
        )

    def _peculiarities(self) -> list[str]:
        """Return the settings that distinguish this run from a default one, for its label."""
        return [
            "ablation" if self.ablation else "steps" if self.steps else "",
            f"{self.samples} samples" if self.samples else "",
            *(
                f"{name.removeprefix('reasoning_')} {value}"
                if isinstance(value, str)
                else f"{name} {value:g}"
                for name, value in self.parameters.items()
                if value not in (None, "") and name != "max_tokens"
            ),
            self.persona,
            "expected score" if self.logprobs else "",
            "reference" if self.reference else "",
            self._together(),
            " ".join(filter(None, ("explained", self.explain, self.explain_model))) if self.explain else "",
        ]

    def _together(self) -> str:
        if self.criteria_per_call == 1:
            return ""
        return (
            f"{self.criteria_per_call} criteria together" if self.criteria_per_call else "criteria together"
        )

    def to_params(self) -> dict[str, object]:
        """Return the settings as parameters for a stored job."""
        return asdict(self)


def read_run_settings(params: Mapping[str, object]) -> RunSettings:
    """Return the settings of a stored job, without those that CoEval no longer has."""
    stored = dict(params["settings"])  # type: ignore[call-overload]
    values = {each.name: stored[each.name] for each in fields(RunSettings) if each.name in stored}
    values["prices"] = Prices(**values["prices"])
    values["assistants"] = tuple(values["assistants"])
    return RunSettings(**values)
