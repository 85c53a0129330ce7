"""Parsers of a model's answers: ratings, evaluations, lists and quotations. They are pure and never raise."""
