"""Models of any kind from files and bytes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from . import _learners, _mercer
from ._base import KernelClassifier, KernelRegressor
from ._forecaster import Forecaster
from ._notes import tell
from .moments import RidgeMoments
from .operators import KoopmanOperator, OperatorSums


def from_bytes(data: bytes | bytearray | memoryview) -> Any:
    """The model that these bytes hold, as an object of its class."""
    data = bytes(data)
    kind, name = _mercer.model_kind(data)
    if kind == "prediction":
        return Forecaster.from_bytes(data)
    if kind == "operator":
        return (OperatorSums if name == "sums" else KoopmanOperator).from_bytes(data)
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


def read(
    path: str | os.PathLike[str], *, format: str | None = None, separator: str | None = None, decimal: str | None = None,
    thousands: str | None = None, header: str | None = None, gaps: Sequence[str] = (), keep_totals: bool = False,
) -> dict[str, list[Any]]:  # fmt: skip
    """The columns of a file by name, as the ``mercer`` command reads them: CSV, TSV, JSON and LIBSVM, each plain or compressed. Columns of numbers have
    numbers, all others texts as they are written; a gap is None. What is in doubt is warned of. :class:`mercer.Pipeline` takes such a table as it is,
    ``pandas.DataFrame(mercer.read(path))`` makes a frame of it.

    The options are those of the command: `format`, `separator`, `decimal`, `thousands`, `header` ("yes", "no" or "auto"), `gaps`, further values
    that stand for none, and `keep_totals`: rows that sum up others are left out unless it is set, which is told.
    """
    names, columns, said = _mercer.read(path, [format, separator, decimal, thousands, header], list(gaps), keep_totals)
    tell(said)
    return dict(zip(names, columns, strict=True))


def load(path: str | os.PathLike[str]) -> Any:
    """The model of a file, by ``save``, by the ``mercer`` command or by the Rust library, as an object of its class."""
    with open(path, "rb") as file:
        return from_bytes(file.read())


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Writes a model of any kind to a file, in one step: a file that is there stays as it is if that fails."""
    _mercer.write_model(path, model.to_bytes())
