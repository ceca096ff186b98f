"""The values of `Engine` as JSON, and the methods of `Engine` that a service offers."""
