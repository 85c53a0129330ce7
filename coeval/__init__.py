"""CoEval: a language model drafts an evaluation, people scrutinise it."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coeval.frame import judge_frame as judge_frame
    from coeval.judge.running.judge import Judge as Judge

__version__ = "0.1.0"
__all__ = ["Judge", "__version__", "judge_frame"]


def __getattr__(name: str) -> Any:
    """``judge_frame`` and ``Judge`` are loaded when they are asked for: the app and the commands do not need them."""
    if name == "judge_frame":
        from coeval.frame import judge_frame

        return judge_frame
    if name == "Judge":
        from coeval.judge.running.judge import Judge

        return Judge
    raise AttributeError(f"module 'coeval' has no attribute {name!r}")
