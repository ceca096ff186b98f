"""The service: memories over HTTP, for programs that are elsewhere."""
