"""A model of docs/spec/merge.md: stores that exchange their journals, in memory, without the engine."""
