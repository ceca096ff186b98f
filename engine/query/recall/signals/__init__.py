"""The signals of recall: each adds to the scores of the atoms in a pool."""
