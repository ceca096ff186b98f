"""Files in: found, read, split into atoms, and held by the store as they now read."""
