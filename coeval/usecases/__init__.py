"""Use cases: one call is one authorised, atomic step of a person.

Every use case takes the :class:`~coeval.usecases.access.Context` and the person who asks, checks the person's
role by itself, and does its work in one transaction. No screen is trusted to have checked before.
"""
