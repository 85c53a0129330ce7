"""Drafts: requests to a model, jobs, and costs."""
