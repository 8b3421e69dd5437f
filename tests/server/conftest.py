"""A service that most tests share."""

import pytest

from tests.server.services import serving


@pytest.fixture(scope="session")
def service():
    """A service with the demo's rules, small bodies, and enough time to prove all answers."""
    options = ("--seconds", 60, "--max-bytes", 2**20, "--body-seconds", 5, "--max-cells", 20_000)
    with serving(*options) as found:
        yield found
