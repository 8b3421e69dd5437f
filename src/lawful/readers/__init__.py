"""Readers: files in, documents out; one small file for each format."""
