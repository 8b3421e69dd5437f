"""Tests of the HTTP service, by requests to loopback; `make test-server` runs them."""
