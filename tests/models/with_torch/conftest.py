"""What these tests share."""

from pathlib import Path

import pytest

from tests.fixtures.small_models import encoder


@pytest.fixture(scope="session")
def bert(tmp_path_factory) -> Path:
    """A BERT that knows nothing."""
    return encoder("bert", tmp_path_factory.mktemp("bert"))
