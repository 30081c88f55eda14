"""From the world into the store: reading problems from files and packages, and saving them without doubling any."""
