"""Statistics as pure functions on arrays: no I/O, no clock, and randomness only from a generator that is passed in."""
