"""What the paper says, to be run beside it."""
