"""The backend on PostgreSQL: a database holds many memories, for several servers."""
