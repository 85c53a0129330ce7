"""What people did with the drafts, how long it took, and how far the draft pulled them."""
