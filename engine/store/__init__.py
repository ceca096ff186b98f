"""An open store: committing, catching up, replaying, and reading the past."""
