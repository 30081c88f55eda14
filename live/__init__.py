"""The ``live`` command: parses, calls one function, prints."""
