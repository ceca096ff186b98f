"""Rule-based analysis of questions and texts: names, times, categories. The results are never hashed."""
