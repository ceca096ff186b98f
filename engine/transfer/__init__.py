"""Moving text in and out: ingest, exports of other programs, the mirror, the journal as text, backups."""
