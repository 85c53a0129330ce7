"""The crowd study: plans, entry, exams, assignment and completion."""
