"""Set-up and the Agreement tab in Chromium."""
