"""CoEval: a language model drafts evaluations of generated texts, and people check every line."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coeval.extensions.judge.runtime.judge import Judge as Judge
    from coeval.frame import judge_frame as judge_frame

__version__ = "1.0.0"
CITATION = f"""@software{{coeval,
  title = {{CoEval: a model drafts evaluations of generated text, and people check every line}},
  author = {{{{The CoEval contributors}}}},
  version = {{{__version__}}},
  year = {{2026}}
}}
@article{{li2023collaborative,
  title = {{Collaborative Evaluation: Exploring the Synergy of Large Language Models and Humans
    for Open-ended Generation Evaluation}},
  author = {{Li, Qintong and Cui, Leyang and Kong, Lingpeng and Bi, Wei}},
  journal = {{arXiv preprint arXiv:2310.19740}},
  year = {{2023}}
}}
"""
"""BibTeX entries of this version, and of the paper with its method."""

__all__ = ["CITATION", "Judge", "__version__", "judge_frame"]


def __getattr__(name: str) -> Any:
    """Load the functions for notebooks on first use, because the app and the commands do not need them."""
    if name == "judge_frame":
        from coeval.frame import judge_frame

        return judge_frame
    if name == "Judge":
        from coeval.extensions.judge.runtime.judge import Judge

        return Judge
    raise AttributeError(f"module 'coeval' has no attribute {name!r}")
