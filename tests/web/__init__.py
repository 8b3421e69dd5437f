"""The review page in a real browser, against a real server."""
