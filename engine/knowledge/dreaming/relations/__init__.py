"""Typed relations that the sentences of a text state.

    text ──▶ sentences with a trigger word ──▶ statements (subject, predicate, object) ──▶ commands

A question, a condition, a negation or a hope states nothing. A pronoun counts only if one name can be meant.
"""
