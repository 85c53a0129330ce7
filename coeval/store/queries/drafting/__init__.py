"""Drafting: runs and drafts, the ledger of calls, jobs, what helps a judge."""
