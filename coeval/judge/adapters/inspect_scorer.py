"""The public import path of the scorer for Inspect."""

from coeval.extensions.judge.runtime.adapters import judge_scorer as judge_scorer
