"""The projections: data that are computed from the journal. Each has its own rows and its own cursor."""
