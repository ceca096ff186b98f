"""Sessions of agents: taking in the transcripts that clients keep, and giving memory to running sessions."""
