"""Tests of asking language models, with recorded traffic and a scripted server on loopback."""
