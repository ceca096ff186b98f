"""The signals of recall. Each signal raises or lowers the scores of the candidates in a pool."""
