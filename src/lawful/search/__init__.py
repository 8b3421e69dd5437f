"""The search that decoders share: the problem, the walk over candidates, readings, explanations."""
