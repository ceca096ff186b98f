"""The mirror: the live atoms of a store as a folder of Markdown pages."""
