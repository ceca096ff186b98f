"""Typed relations that the sentences of a text state.

    text ──▶ sentences with a trigger word ──▶ statements (subject, predicate, object) ──▶ commands

The rules are cautious. A question, a condition, a negation or a hope states nothing, and a pronoun counts only
if one name can be meant.
"""
