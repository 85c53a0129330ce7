"""The public import path of the assertion for pytest."""

from coeval.extensions.judge.runtime.adapters import assert_judged as assert_judged
