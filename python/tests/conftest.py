"""What several tests use."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import mercer
from mercer import _mercer
from mercer._base import KernelClassifier, KernelRegressor

#: The repository; python/ci runs a copy of the tests.
ROOT = Path(os.environ.get("MERCER_ROOT", Path(__file__).resolve().parents[2]))
CLASSES = [getattr(mercer, name) for name in mercer.__all__ if hasattr(getattr(mercer, name), "_keys")]
REGRESSORS = [one for one in CLASSES if issubclass(one, KernelRegressor)]
CLASSIFIERS = [one for one in CLASSES if issubclass(one, KernelClassifier)]
ENTRIES = {entry["name"]: entry for entry in _mercer.catalogue()}


@pytest.fixture
def data():
    """Six hundred rows of three standardised features, a target, and a class."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(600, 3))
    y = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] ** 2 + 0.05 * rng.normal(size=600)
    return X, y, y > 0.5


@pytest.fixture(scope="session")
def command():
    """The `mercer` command, if it has been built; MERCER_COMMAND names another."""
    if "MERCER_COMMAND" in os.environ:
        return Path(os.environ["MERCER_COMMAND"])
    for profile in ("debug", "release"):
        path = ROOT / "target" / profile / "mercer"
        if path.exists():
            return path
    pytest.skip("the command is not built: cargo build -p mercer")
