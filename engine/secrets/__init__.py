"""The filter for passwords and keys in text that is about to be written to the journal."""
