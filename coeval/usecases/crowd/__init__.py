"""Crowd studies: plans, entry, exams, assignment and completion."""
