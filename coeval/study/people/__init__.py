"""Who people are: sessions, accounts, roles."""
