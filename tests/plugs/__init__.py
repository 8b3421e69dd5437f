"""Tests of the plugs: lawful where people have their documents, models and pipelines."""
