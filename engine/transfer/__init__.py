"""Moving text in and out: ingest, adapters, the mirror, journal export and import, backups."""
