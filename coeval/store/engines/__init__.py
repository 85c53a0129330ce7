"""Database engines: connections, transactions, and health checks."""
