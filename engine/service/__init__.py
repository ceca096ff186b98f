"""The service: one ASGI program that serves memories over HTTP."""
