"""The gate in front of the journal: what looks like a secret is kept out, since nothing is ever unwritten."""
