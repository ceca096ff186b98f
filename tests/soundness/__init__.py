"""Whether the verifier refuses what it must: named rejects, mutations, and the checks that catch them."""
