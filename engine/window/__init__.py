"""The pages that a browser shows, and the verifier in JavaScript. They are plain files, without a build step.

`verifier/` verifies proofs and notes; it does no input or output. `style/` is the design of all pages.
`page.py` makes one file of a page, for use without a server.
"""
