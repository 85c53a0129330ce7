"""Use cases: each call is one authorised, atomic step of a person.

Every use case takes the :class:`~coeval.usecases.access.Context` and the person, checks the person's role
itself, and works in one transaction. It does not rely on a check by the screen.
"""
