"""From what users have (frames, lists, arrays of any type) to the contiguous tables of ``float64`` that the learners take."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def column_names(X: Any) -> list[Any] | None:
    """The names of the columns of a frame; None for what has none."""
    names = getattr(X, "column_names", None)
    if names is None:
        names = getattr(X, "columns", None)
    if names is None or callable(names):
        return None
    return list(names)


def frame(X: Any) -> Any:
    """Arrow tables and other producers of the Arrow C stream become something numpy can read; everything else is returned."""
    if hasattr(X, "__array__") or not hasattr(X, "__arrow_c_stream__"):
        return X
    import pyarrow

    return pyarrow.table(X)


def numbers(values: Any) -> Floats:
    """An array of ``float64``; complex numbers are refused."""
    array = np.asarray(values)
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported; give the real and the imaginary parts as columns of their own.")
    return np.require(array, dtype=np.float64, requirements="C")


def table(X: Any) -> Floats:
    """A two-dimensional table, copied only where it is not C-contiguous ``float64`` already."""
    X = frame(X)
    if type(X).__module__.split(".")[0] == "pyarrow":
        X = np.column_stack([column.to_numpy() for column in X.columns]) if X.num_columns else np.empty((X.num_rows, 0))
    made = numbers(X)
    if made.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {made.ndim}D array instead. Reshape your data either using array.reshape(-1, 1) if it has a "
            "single feature or array.reshape(1, -1) if it contains a single sample."
        )
    return made


def texts(X: Any) -> list[str] | None:
    """The names of the columns of a frame if all are texts, as scikit-learn takes them."""
    names = column_names(X)
    return names if names and all(isinstance(name, str) for name in names) else None


def finite(X: Any) -> Floats:
    """A table of finite numbers; what is none is refused with its row and its feature."""
    names = texts(X)
    try:
        rows = table(X)
    except (TypeError, ValueError) as error:
        for place, name in enumerate(names or ()):
            try:
                numbers(_column(X, place))
            except (TypeError, ValueError) as inner:
                raise type(inner)(f"feature {name!r}: {inner}; encode it first, or use mercer.Pipeline") from None
        raise error
    if not np.isfinite(rows).all():
        row, place = np.argwhere(~np.isfinite(rows))[0].tolist()
        what = "NaN" if np.isnan(rows[row, place]) else "infinity"
        told = names[place] if names else place
        raise ValueError(f"Input X contains {what}: row {row}, feature {told!r}; drop the row or replace missing values by numbers.")
    return rows


def _column(X: Any, place: int) -> Any:
    """A column of a frame."""
    return X.iloc[:, place] if hasattr(X, "iloc") else X[X.columns[place]] if hasattr(X, "get_columns") else X.column(place)


def vector(y: Any) -> Floats:
    """Numbers in order."""
    return numbers(y).reshape(-1)


def targets(y: Any) -> tuple[Floats, int]:
    """Targets row by row in one vector, and how many numbers a target has."""
    made = numbers(frame(y))
    outputs = made.shape[1] if made.ndim == 2 else 1
    return made.reshape(-1), outputs


def named(x: Any) -> dict[Any, Any]:
    """A row by the names of its columns, or by their numbers."""
    if isinstance(x, dict):
        return x
    for method in ("to_dict", "_asdict"):
        if hasattr(x, method):
            return getattr(x, method)()
    if hasattr(x, "keys"):
        return dict(x)
    return dict(enumerate(x))


def like(X: Any, made: npt.NDArray[Any]) -> Any:
    """Predictions for the rows of `X`: a series with its index if it is a frame of pandas, else as they are."""
    if not hasattr(X, "index") or not hasattr(X, "iloc") or made.ndim == 2:
        return made
    import pandas as pd

    return pd.Series(made, index=X.index)
