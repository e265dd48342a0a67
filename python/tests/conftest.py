"""Shared by the tests: what they run against is the installed package."""

import numpy as np
import pytest


@pytest.fixture
def random() -> np.random.Generator:
    """Numbers that are the same in each run."""
    return np.random.default_rng(7)
