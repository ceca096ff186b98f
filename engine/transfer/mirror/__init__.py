"""The mirror: the live atoms of a memory as a folder of Markdown pages."""
