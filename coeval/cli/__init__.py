"""The commands ``python app.py`` and ``python -m coeval ...``: one file per group of commands. Use cases do the
work.
"""
