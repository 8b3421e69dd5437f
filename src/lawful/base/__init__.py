"""What everything else rests on: errors, optional imports, clocks and bounded caches."""
