"""Parsers for a model's words: ratings, evaluations, lists and quotes. Pure; they never raise."""
