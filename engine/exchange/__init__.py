"""Exchange: exports of other programs, the journal as text, backups, and rescue from damaged stores."""
