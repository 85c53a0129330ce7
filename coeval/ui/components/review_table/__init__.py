"""The editable table."""
