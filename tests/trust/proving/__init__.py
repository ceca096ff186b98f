"""The engine's proofs verify, agree with its answers, and are refused for claims that do not hold."""
