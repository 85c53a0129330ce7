"""The real server, and what stands behind and before it."""
