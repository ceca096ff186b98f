"""The filter for passwords, keys and other secrets in texts before they are written to the journal."""
