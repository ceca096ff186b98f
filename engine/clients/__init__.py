"""Other ways to use a memory: over HTTP, with proofs that the client verifies, and awaited."""
