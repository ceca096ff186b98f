"""The backend on SQLite: a file holds one store, or several named memories, for several processes."""
