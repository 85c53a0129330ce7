"""The public path of this adapter."""

from coeval.extensions.judge.runtime.adapters import judge_scorer as judge_scorer
