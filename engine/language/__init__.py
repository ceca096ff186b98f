"""Reading questions and texts: names, times, categories. Nothing here reaches a hashed byte."""
