"""CoEval: a language model drafts an evaluation, people scrutinise it."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coeval.frame import judge_frame as judge_frame

__version__ = "0.1.0"
__all__ = ["__version__", "judge_frame"]


def __getattr__(name: str) -> Any:
    """``judge_frame`` is loaded when it is asked for: the app and the commands do not need it."""
    if name == "judge_frame":
        from coeval.frame import judge_frame

        return judge_frame
    raise AttributeError(f"module 'coeval' has no attribute {name!r}")
