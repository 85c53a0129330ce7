"""Every page and tab, and the pages around them, in Chromium."""
