"""The open store: committing commands, updating derived data, replaying, and reading the past."""
