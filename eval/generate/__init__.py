"""Completions from models: what is asked, how endpoints are asked, and what is found in their answers."""
