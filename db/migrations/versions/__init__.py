"""Migration steps, named ``NNNN_what.py`` after their revision id."""
