"""Cut-offs, windows, scores with their uncertainty, and reports."""
