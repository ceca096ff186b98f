"""The full-text index: the follower that keeps it, its stored form, and the view that queries read."""
