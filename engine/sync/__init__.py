"""Several stores of one family: what a store hands out of its journal, and taking in what others hand out."""
