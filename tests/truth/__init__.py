"""Values instead of labels."""
