"""Tests with engines that run on clusters, here on one machine: ``make test-engines``."""
