"""Scrutiny: queues, submissions, review, planted errors."""
