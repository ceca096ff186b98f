"""The backend on LevelDB, the default: a store is a folder that one process has open."""
