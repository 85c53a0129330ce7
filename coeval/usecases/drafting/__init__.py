"""Drafts: the questions to a model, the jobs, and the costs."""
