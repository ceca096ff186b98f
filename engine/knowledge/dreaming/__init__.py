"""The dreamer: adds tags, entities and relations for texts without tags, in idle time (Standard 065).

    survey (one snapshot) ──▶ names learned ──▶ known names, phrases, categories of each atom ──▶ commands

All its changes are events by the actor `dreamer`, so replaying a journal does not need this code. It decides
only by what other actors put into the store, never by its own additions. So its work can be split into
cycles at any point, and a second run has nothing to add.
"""
