"""The dreamer: tags, entities and relations for texts that nobody tagged, found in idle time (Standard 065).

    survey (one snapshot) ──▶ names learned ──▶ known names, phrases, categories of each atom ──▶ commands

All it does is events by the actor `dreamer`, so replay needs none of this. What it wants follows from
what others put into the store alone, never from what it added itself: so it may be cut into cycles
anywhere, and a second run has nothing to add.
"""
