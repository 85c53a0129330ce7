"""The running server: snapshots, backups, shipping and readiness."""
