"""Named memories: several memories in one folder or one SQLite file, each a store of its own."""
