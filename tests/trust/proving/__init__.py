"""Whether the engine's proofs verify, say what it says itself, and are refused where it is not so."""
