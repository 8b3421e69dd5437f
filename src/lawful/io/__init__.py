"""Files in and out: JSON lines, arrays next to them, and atomic writes."""
