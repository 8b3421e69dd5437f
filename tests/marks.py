"""What tests need that is not everywhere."""

import pytest

from tests.fixtures import outputs

needs_shared = pytest.mark.skipif(not outputs.HERE, reason=outputs.NEEDED)
