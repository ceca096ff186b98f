"""Named memories: several under one folder or in one SQLite file, each a store of its own."""
