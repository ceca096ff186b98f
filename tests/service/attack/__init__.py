"""Attacking the service with schemathesis: `make attack` (needs the dependency group `attack`)."""
