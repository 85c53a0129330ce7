"""The public path of this adapter."""

from coeval.extensions.judge.runtime.adapters import assert_judged as assert_judged
