"""Asking hosts politely: ``fetch`` is what runs use, ``exchange`` below it the only module that touches a network."""
