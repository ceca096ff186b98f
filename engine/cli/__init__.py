"""The command line `engine`: one file per group of commands, none of which decides anything itself."""
