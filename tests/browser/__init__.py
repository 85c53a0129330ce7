"""The browser side, in Chromium."""
