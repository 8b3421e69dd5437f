"""Review: a page in the browser on which a person settles what rules could not."""
