"""Crowd studies: plans, reservations, answer keys."""
