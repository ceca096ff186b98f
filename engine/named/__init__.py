"""Named memories: several memories in one folder or one SQLite file, each of which is a separate store."""
