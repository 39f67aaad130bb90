"""Models of any kind from files and bytes."""

from __future__ import annotations

import os
from typing import Any

from . import _learners, _mercer
from ._base import KernelClassifier, KernelRegressor
from .forecasting import Forecaster
from .moments import RidgeMoments
from .operators import KoopmanOperator


def from_bytes(data: bytes) -> Any:
    """The model that these bytes hold, as an object of its class."""
    kind, name = _mercer.model_kind(data)
    if kind == "prediction":
        return Forecaster.from_bytes(data)
    if kind == "operator":
        return KoopmanOperator.from_bytes(data)
    if kind in ("table", "classes of a table"):
        from .pipeline import Pipeline

        return Pipeline.from_bytes(data)
    if kind == "sums":
        return RidgeMoments.from_bytes(data)
    base: type[KernelRegressor | KernelClassifier] = KernelRegressor if kind == "regression" else KernelClassifier
    for one in vars(_learners).values():
        if isinstance(one, type) and issubclass(one, base) and getattr(one, "_name", "") == name:
            return one.from_bytes(data)
    raise _mercer.ModelFileError(f"the model holds the learner {name!r}, which has no class here; save it with the command or a newer mercer")


def load(path: str | os.PathLike[str]) -> Any:
    """The model of a file, by ``save``, by the ``mercer`` command or by the Rust library, as an object of its class."""
    with open(path, "rb") as file:
        return from_bytes(file.read())


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Writes a model of any kind to a file."""
    with open(path, "wb") as file:
        file.write(model.to_bytes())
