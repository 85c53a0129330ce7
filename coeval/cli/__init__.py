"""The commands: ``python app.py`` and ``python -m coeval ...``. A file a group of commands; use cases do the work."""
