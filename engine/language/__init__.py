"""Rule-based analysis of questions and texts: names, times, categories. No result is ever hashed."""
