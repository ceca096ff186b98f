"""The projections of the journal. Each has rows and a cursor of its own."""
