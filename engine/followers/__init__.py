"""The projections of the journal, each with its own rows and its own cursor."""
