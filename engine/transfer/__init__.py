"""Import and export: ingest, exchange with other programs, the mirror, the journal as text, and backups."""
