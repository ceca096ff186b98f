"""Rule-based analysis of questions and texts: names, times, categories. Its results are never hashed."""
