"""HTML, PDF and DOCX files are converted to text by a process of its own, which has no other rights."""
