"""The dreamer. In idle time it adds tags, entities and relations for texts without tags (docs/dreaming.md).

    survey of one snapshot ──▶ learn names ──▶ find names, phrases, categories in each atom ──▶ commands

All changes of the dreamer are events by the actor `dreamer`, so replaying a journal does not need this code.
The dreamer's decisions depend only on data of other actors, never on the dreamer's additions. So the work can
be divided into cycles at any point, and a second run adds nothing.
"""
