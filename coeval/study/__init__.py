"""Use cases: what a person in a role may do. One call is one authorised, atomic step.

Every use case takes the :class:`~coeval.study.access.Context` and the person who asks, checks the person's
role by itself, and does its work in one transaction. No screen is trusted to have checked before.
"""
