"""The projections: data that are computed from the journal. Each projection has its own rows and cursor."""
