"""Crowd studies: plans, onboarding, exams, giving out work, overview."""
