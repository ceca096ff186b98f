"""Proofs and the hashes they rest on: standalone, without any of the other packages of ours."""
