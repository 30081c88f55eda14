"""Statements as pages hold them: to Markdown with their mathematics, their samples, and what their words say. Pure."""
