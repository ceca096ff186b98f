"""Convert HTML, PDF and DOCX files to text in a separate process that has no other rights."""
