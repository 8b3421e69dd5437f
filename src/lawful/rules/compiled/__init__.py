"""Rules compiled for the core."""
