"""The client: a memory on a service, with the methods of `Engine`, and proofs that the client verifies."""
