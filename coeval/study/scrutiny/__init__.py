"""Stage 2: queues, steps, saves, and looking back."""
