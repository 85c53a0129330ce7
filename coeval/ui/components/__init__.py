"""Common parts of pages: tables, views, charts, the theme."""
