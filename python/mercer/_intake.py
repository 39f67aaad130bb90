"""One intake of names and cells, for all faces: from what users have (frames, mappings, lists, arrays) to columns by name.

A column has one name, the text of what its library calls it; columns without names are ``x0``, ``x1``, … by their places. A cell is read by its
type: see ``crates/python/src/cells.rs``; rows by their names, ``names.rs`` beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _mercer
from ._notes import tell

Floats = npt.NDArray[np.float64]


class Columns(NamedTuple):
    """The columns of a table: their names, if they have some, their values as Python objects, and the kinds that their types tell."""

    names: list[str] | None
    values: list[list[Any]]
    kinds: dict[str, str]

    def __len__(self) -> int:
        return len(self.values[0]) if self.values else 0


def _library(X: Any) -> str:
    return type(X).__module__.split(".")[0]


#: What is no table, by what it has, with what to give instead.
_OTHERS = (
    (lambda X: is_sparse(X), "Sparse data was passed, but dense data is required. Use '.toarray()' to convert it, or a learner of tokens such as mercer.Coin."),
    (lambda X: type(X).__name__ == "LazyFrame", "a LazyFrame is a plan and has no rows yet; give its '.collect()'"),
    (lambda X: isinstance(X, (str, bytes)), "a text is no table; give a frame, an array or a list of rows, or read the file with mercer.read"),
    (lambda X: hasattr(X, "__next__"), "a generator has its rows only once; give a list of rows: list(X)"),
    (lambda X: getattr(getattr(X, "dtype", None), "names", None), "a structured array is refused; give a frame: pandas.DataFrame(X)"),
    (lambda X: _library(X) == "pandas" and np.ndim(X) == 1 and len(X) and isinstance(X.iloc[0], Mapping), "a Series of rows is refused; give its '.tolist()'"),
)  # fmt: skip


def frame(X: Any) -> Any:
    """A table in a form that the others read: a frame of pandas, polars or pyarrow, a mapping of columns, a list of rows, an array."""
    if type(X) is np.ndarray and X.dtype.names is None:
        return X
    for is_one, words in _OTHERS:
        if is_one(X):
            raise TypeError(words)
    if not hasattr(X, "__array__") and hasattr(X, "__arrow_c_stream__") or type(X).__name__ == "RecordBatch":
        import pyarrow

        return pyarrow.table(X)
    return X


def is_sparse(X: Any) -> bool:
    """Whether it is a sparse matrix or array of scipy."""
    return hasattr(X, "toarray") and hasattr(X, "nnz")


class Sparse(NamedTuple):
    """Sparse rows: where each begins and ends, the columns of its cells, and their numbers."""

    bounds: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int64]
    values: Floats
    shape: tuple[int, int]

    @property
    def parts(self) -> tuple[Any, ...]:
        """As the extension takes them."""
        return self[:3]


def sparse(X: Any) -> Sparse:
    """Sparse rows, of a matrix of scipy or of a table of numbers."""
    if is_sparse(X):
        if X.ndim != 2:
            raise ValueError(_no_table(X.ndim))
        X = X.tocsr()
        X.sum_duplicates()
        return Sparse(X.indptr.astype(np.int64), X.indices.astype(np.int64), numbers(X.data), X.shape)
    rows = finite(X)
    places = np.nonzero(rows)
    bounds = np.concatenate([[0], np.cumsum(np.bincount(places[0], minlength=len(rows)))]).astype(np.int64)
    return Sparse(bounds, places[1].astype(np.int64), rows[places], rows.shape)


def is_mapping(X: Any) -> bool:
    """Whether it is a mapping of columns."""
    return isinstance(X, Mapping)


def is_rows(X: Any) -> bool:
    """Whether it is a sequence of rows by name."""
    return isinstance(X, Sequence) and len(X) > 0 and isinstance(X[0], Mapping)


def keys(X: Any) -> list[Any] | None:
    """What the library calls the columns; None where they have no names."""
    if is_mapping(X):
        return list(X)
    if is_rows(X):
        odd = next((place for place, row in enumerate(X) if not isinstance(row, Mapping)), None)
        if odd is not None:
            raise TypeError(f"row {odd} is {X[odd]!r:.60}, and the first has names; give all rows with names")
        return list(dict.fromkeys(name for row in X for name in row))
    names = getattr(X, "column_names", None)
    if names is None:
        names = getattr(X, "columns", None)
    return None if names is None or callable(names) else list(names)


def names_of(X: Any) -> list[str] | None:
    """The names of the columns; None where they have none."""
    found = keys(X)
    return None if found is None else [str(name) for name in found]


def _values(X: Any) -> Iterator[Any]:
    """The columns of a table with names, one after the other."""
    library = _library(X)
    if is_mapping(X):
        for name, column in X.items():
            if isinstance(column, (str, bytes)) or not hasattr(column, "__len__"):
                raise TypeError(f"column {name!r} is {column!r:.60}, and not the values of a column; for one row there are predict_one and learn_one")
            yield column
    elif is_rows(X):
        for name in keys(X) or ():
            yield [row.get(name) for row in X]
    elif library == "pandas":
        yield from (X.iloc[:, place] for place in range(X.shape[1]))
    elif library == "polars":
        yield from X.get_columns()
    else:
        yield from X.columns


def _objects(column: Any) -> list[Any]:
    """The values of a column as Python objects."""
    if np.ma.isMaskedArray(column):
        return list(np.ma.filled(column.astype(object), None))
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)


def _is_category(column: Any) -> bool:
    """Whether the type of a column says that it is a category."""
    kind = str(getattr(column, "dtype", getattr(column, "type", "")))
    return kind.startswith(("category", "Categorical", "Enum", "dictionary"))


#: Rows of a frame of pandas whose cells are fetched one by one, which is faster than column by column.
_FEW = 8


def columns(X: Any) -> Columns:
    """The columns of a table of any cells."""
    X = frame(X)
    names = names_of(X)
    if names is None:
        rows = _array(X)
        if rows.ndim != 2:
            raise ValueError(_no_table(rows.ndim))
        return Columns(None, [_objects(column) for column in rows.T], {})
    if _library(X) == "pandas" and len(X) < _FEW:
        kinds = [str(kind) for kind in X.dtypes]
        told = {name: "category" for name, kind in zip(names, kinds, strict=True) if kind == "category"}
        return Columns(names, [[X.iat[row, place] for row in range(len(X))] for place in range(len(names))], told)
    found = list(_values(X))
    told = {name: "category" for name, column in zip(names, found, strict=True) if _is_category(column)}
    if _library(X) == "pandas":
        found = [column.astype(object) for column in found]
    values = [_objects(column) for column in found]
    if len({len(column) for column in values}) > 1:
        raise _mercer.DataError("the columns differ in length")
    return Columns(names, values, told)


def _array(X: Any) -> Any:
    """Rows in lists, or an array; of objects where there are texts or times, so that what is beside them stays what it is."""
    if isinstance(X, np.ndarray) and X.dtype.kind in "Mm":
        # Scalars keep their unit.
        kept = np.empty(X.shape, dtype=object)
        kept[...] = [list(row) for row in X] if X.ndim == 2 else list(X)
        return kept
    made = X if isinstance(X, np.ndarray) else np.asarray(X)
    return np.array(X, dtype=object) if made.dtype.kind in "UMm" else made


def _no_table(dimensions: int) -> str:
    return (
        f"Expected 2D array, got {dimensions}D array instead. Reshape your data either using array.reshape(-1, 1) if it has a "
        "single feature or array.reshape(1, -1) if it contains a single sample."
    )


def numbers(values: Any) -> Floats:
    """An array of ``float64``, NaN behind a mask; what counts in units that nobody told is refused: complex numbers, times."""
    if np.ma.isMaskedArray(values):
        values = np.ma.filled(values.astype(np.float64), np.nan)
    kind = getattr(values, "dtype", None)
    if _library(values) == "pandas" and kind is not None and not isinstance(kind, np.dtype) and getattr(kind, "kind", "O") in "iufb":
        # Numbers with gaps of their own.
        values = values.to_numpy(dtype=np.float64, na_value=np.nan)
    array = np.asarray(values)
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported; give the real and the imaginary parts as columns of their own.")
    if array.dtype.kind in "Mm":
        raise TypeError("times are no numbers; encode them first, or use mercer.Pipeline")
    return np.require(array, dtype=np.float64, requirements="C")


def table(X: Any) -> Floats:
    """A table of numbers, copied only where it is not C-contiguous ``float64`` already."""
    X = frame(X)
    names = names_of(X)
    if names is None:
        made = numbers(X)
        if made.ndim != 2:
            raise ValueError(_no_table(made.ndim))
        return made
    if _library(X) == "pandas" and all(kind == np.float64 for kind in X.dtypes):
        return numbers(X)
    made = np.empty((len(X) if not is_mapping(X) else len(next(iter(X.values()), ())), len(names)))
    for place, (name, column) in enumerate(zip(names, _values(X), strict=True)):
        try:
            made[:, place] = numbers(column)
        except (TypeError, ValueError) as error:
            raise type(error)(f"feature {name!r}: {error}; encode it first, or use mercer.Pipeline") from None
    return made


def finite(X: Any) -> Floats:
    """A table of one row of finite numbers or more; what is none is refused with its row and its feature."""
    rows = table(X)
    if not rows.shape[1]:
        raise ValueError(f"Found array with 0 feature(s) (shape={rows.shape}) while a minimum of 1 is required.")
    if not len(rows):
        raise ValueError(f"Found array with 0 sample(s) (shape={rows.shape}) while a minimum of 1 is required.")
    if not np.isfinite(rows).all():
        row, place = np.argwhere(~np.isfinite(rows))[0].tolist()
        what = "NaN" if np.isnan(rows[row, place]) else "infinity"
        names = names_of(frame(X)) or [f"x{place}" for place in range(rows.shape[1])]
        raise ValueError(f"Input X contains {what}: row {row}, feature {names[place]!r}; drop the row or replace missing values by numbers.")
    return rows


def resemble(model: Any, other: Any) -> None:
    """Has a model the columns of another."""
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(other, name):
            setattr(model, name, getattr(other, name))


def check_names(names: list[str]) -> None:
    """Refuses a name that comes twice."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise _mercer.DataError(f"two columns are called {twice!r}; rename one, so that columns can be told by their names")


def note(model: Any, X: Any, width: int) -> list[str] | None:
    """Notes what scikit-learn notes of a first batch, and gives the names of its columns; None where they have none but their places."""
    model.n_features_in_ = width
    vars(model).pop("feature_names_in_", None)
    names = names_of(X)
    check_names(names or [])
    if names is not None and names != [str(place) for place in range(width)]:
        model.feature_names_in_ = np.array(names, dtype=object)
    return names


def noted(model: Any) -> list[str]:
    """The names of the columns of a model, as :func:`note` noted them."""
    names = vars(model).get("feature_names_in_")
    return [f"x{place}" for place in range(model.n_features_in_)] if names is None else list(names)


def aligned(model: Any, X: Any, own: list[str], *, needed: int | None = None, in_order: bool = True) -> Floats:
    """The rows of a table of numbers in the order of the columns `own` of a model: by name, or refused. Columns behind the first `needed` may
    lack, and are 0 then."""
    X = frame(X)
    names, rows = names_of(X), finite(X)
    needed = len(own) if needed is None else needed
    width = rows.shape[1]
    if names is None and width not in (needed, len(own)):
        raise ValueError(f"X has {width} features, but {type(model).__name__} is expecting {needed} features as input")
    places, said = _mercer.places(own, names, width, in_order)
    if said is not None:
        tell([said])
    met = set(places)
    unseen = [name for name, place in zip(names or (), places, strict=False) if place is None]
    missing = [name for place, name in enumerate(own[:needed]) if place not in met]
    if unseen or missing:
        raise ValueError(_mismatch(unseen, missing))
    if places == list(range(len(own))):
        return rows
    full = np.zeros((len(rows), len(own)))
    full[:, places] = rows
    return full


def _mismatch(unseen: list[str], missing: list[str]) -> str:
    """What scikit-learn says of columns that are not those of before."""
    lines = ["The feature names should match those that were passed during fit."]
    for title, names in (("Feature names unseen at fit time:", unseen), ("Feature names seen at fit time, yet now missing:", missing)):
        lines += [title, *(f"- {name}" for name in names)] if names else []
    return "\n".join(lines) + "\n"


def vector(y: Any) -> Floats:
    """Numbers in order."""
    return numbers(y).reshape(-1)


def outputs(model: Any, y: Any, fresh: bool) -> Any:
    """Targets, those of a frame of several in the order of the first, by name or refused."""
    names = names_of(y) if hasattr(y, "columns") or hasattr(y, "column_names") else None
    known = None if fresh else vars(model).get("_output_names")
    if fresh:
        vars(model).pop("_output_names", None)
    if names is None or len(names) < 2:
        return y
    if known is None:
        model._output_names = names
        return y
    if sorted(names) != sorted(known):
        raise _mercer.DataError(f"the targets are {', '.join(names)}, and those before {', '.join(known)}; give them the same names")
    return y if names == known else table(y)[:, [names.index(name) for name in known]]


def targets(y: Any) -> tuple[Floats, int]:
    """Targets row by row in one vector, and how many numbers a target has."""
    made = table(y) if hasattr(y, "columns") or hasattr(y, "column_names") else numbers(y)
    outputs = made.shape[1] if made.ndim == 2 else 1
    return made.reshape(-1), outputs


def labels(y: Any) -> list[Any]:
    """Labels as Python objects; a missing one is refused with its row."""
    if not isinstance(y, np.ndarray) and hasattr(y, "__array__") and not hasattr(y, "tolist"):
        y = np.asarray(y)
    made = _objects(y.reshape(-1) if isinstance(y, np.ndarray) else y)
    for row, label in enumerate(made):
        if label is None or type(label).__name__ in ("NAType", "NaTType") or (isinstance(label, float) and label != label):
            raise _mercer.DataError(f"row {row}: {label!r} is no class; drop the rows whose class is missing")
    return made


row = _mercer.row


def like(X: Any, made: npt.NDArray[Any]) -> Any:
    """Predictions for the rows of `X`: a series with its index if it is a frame of pandas, else as they are."""
    if not hasattr(X, "index") or not hasattr(X, "iloc") or made.ndim == 2:
        return made
    import pandas as pd

    return pd.Series(made, index=X.index)
