"""An open store: committing, catching up, replaying, reading the past."""
