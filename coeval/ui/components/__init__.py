"""What pages share: tables, views, charts, the theme."""
