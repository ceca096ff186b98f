"""What a question asks for: its words with their parts of speech, its names, its times (Standard 065)."""
