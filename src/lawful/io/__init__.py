"""Files in and out: JSON lines, arrays beside them, and atomic writes."""
