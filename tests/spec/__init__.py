"""The specification as data, programs written from it alone, and the tests that compare it with the code."""
