"""A learner behind the encoding of a table: dates, categories, gaps and numbers of any unit become inputs, row by row.

>>> import mercer
>>> rows = [{"city": ["Ulm", "Bonn", "Kiel"][t % 3], "size": None if t % 9 == 4 else 40.0 + t * 37 % 80} for t in range(400)]
>>> price = [1e5 * (1 + t % 3) + 2e3 * (t * 37 % 80) for t in range(400)]
>>> model = mercer.Pipeline(mercer.Krls()).fit(rows, price)
>>> bool(abs(model.predict_one(rows[5]) - price[5]) < 2e4)
True
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from . import _data, _mercer
from ._base import KernelClassifier, KernelRegressor, Learner
from ._compat import BaseEstimator
from ._learners import Krls
from ._notes import tell
from ._stored import Covered, Stored, ends

__all__ = ["Pipeline"]


def _columns(X: Any) -> tuple[list[str], list[list[Any]]]:
    """The names of the columns and their values as Python objects: of frames, of sequences of dictionaries, of tables of numbers."""
    if isinstance(X, Mapping):
        return [str(name) for name in X], [list(column) for column in X.values()]
    if isinstance(X, Sequence) and X and isinstance(X[0], Mapping):
        names = list(dict.fromkeys(name for row in X for name in row))
        return [str(name) for name in names], [[row.get(name) for row in X] for name in names]
    X = _data.frame(X)
    module = type(X).__module__.split(".")[0]
    if module == "pandas":
        import pandas as pd

        lists = []
        for place in range(X.shape[1]):
            column = X.iloc[:, place]
            values = column.astype(object).where(pd.notna(column), None).tolist()
            lists.append(values)
        return [str(name) for name in X.columns], lists
    if module == "polars":
        return list(X.columns), [column.to_list() for column in X.get_columns()]
    if module == "pyarrow":
        return list(X.column_names), [column.to_pylist() for column in X.columns]
    rows = _data.table(X)
    return [f"x{place}" for place in range(rows.shape[1])], [column.tolist() for column in rows.T]


def _label(value: Any) -> str:
    return str(value.item() if isinstance(value, np.generic) else value)


class Pipeline(_mercer.TableCore, Covered, Stored, BaseEstimator):
    """The encoding of a table before a learner, as the ``mercer`` command has it.

    The first 256 rows of the first batch settle what each column is; statistics then move with every row, and a row is encoded with those of
    the rows before it. Targets may have any unit. Predictions change nothing. Rows are learnt one by one: the numbers are those of the
    command to the bit, however the rows are cut into batches, as long as the first batch has 256 of them or all.

    A cell is a number, a text, a date or time (UTC where it has no zone), or a gap: ``None``, NaN, NaT, an empty text, ``"NA"``, ``"?"`` and the other
    words for gaps that the command knows. Texts that are dates are dates. Truth values are the texts "true" and "false".

    Parameters
    ----------
    learner : Learner, default None
        A learner of numbers or of classes, which is only read for its parameters, also those of intervals; None is
        ``Krls(kernel="median")``.
    scale : str, default "standard"
        How numbers are scaled: "none", "standard", "robust" or "range".
    kinds : dict[str, str] | None, default None
        Columns whose kind is told: "number", "category", "time", "text" or "identifier" (the last two are left out).
    """

    def __init__(self, learner: Learner | None = None, *, scale: str = "standard", kinds: dict[str, str] | None = None) -> None:
        self.learner = learner
        self.scale = scale
        self.kinds = kinds

    def _learner(self) -> Learner:
        return Krls(kernel="median") if self.learner is None else self.learner

    @property
    def _is_classifier(self) -> bool:
        if self._is_made:
            return self._labels() is not None
        return isinstance(self._learner(), KernelClassifier)

    def _begin_with(self, names: list[str], columns: list[list[Any]], y: Any, weights: Any, rounds: int | None) -> None:
        learner = self._learner()
        name, pairs, kernel, seed = learner._settings()
        spec = (name, pairs, "median" if kernel == "auto" else kernel, seed)
        labels = None
        outputs = 1
        if isinstance(learner, KernelRegressor):
            outputs = _data.targets(y)[1]
        else:
            # Two classes make a learner of two only where all rows are there.
            met = sorted({_label(one) for one in y}) if rounds is not None else []
            labels = met if len(met) == 2 else []
        extras = (getattr(learner, "intervals", None), bool(getattr(learner, "local_intervals", False)), bool(getattr(learner, "calibrated", False)))
        kinds = list((self.kinds or {}).items())
        self._begin(spec, extras, names, columns, weights, self.scale, kinds, outputs, labels, rounds)
        self._types = {_label(one): one for one in y} if labels is not None else {}

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forgets everything, then learns the rows in their order."""
        self._reset()
        self._learn(X, y, sample_weight, rounds=True)
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learns further rows in their order; columns are found by their names."""
        self._learn(X, y, sample_weight)
        return self

    def predict_then_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learns further rows, and returns the prediction that was made for each before it was learnt."""
        return self._learn(X, y, sample_weight)

    def _learn(self, X: Any, y: Any, sample_weight: Any, rounds: bool = False) -> Any:
        names, columns = _columns(X)
        weights = None if sample_weight is None else _data.vector(sample_weight)
        if not self._is_made:
            self._begin_with(names, columns, y, weights, len(columns[0]) if rounds and columns else None)
        if not self._is_classifier:
            made = self._learn_numbers(names, columns, _data.targets(y)[0], weights)
            tell(self._notes())
            return made[:, 0] if made.shape[1] == 1 else made
        known = self.__dict__.setdefault("_types", {})
        known.update({_label(one): one for one in y})
        labels = self._learn_classes(names, columns, [_label(one) for one in y], weights)
        tell(self._notes())
        return np.array([known.get(label) if label else None for label in labels], dtype=object)

    def predict(self, X: Any) -> Any:
        """Predictions for rows: numbers, or labels."""
        made, labels = self._predict(*_columns(X))
        tell(self._notes())
        if self._is_classifier:
            known = self.__dict__.get("_types", {})
            return np.array([known.get(label, label) for label in labels])
        return made[:, 0] if made.shape[1] == 1 else made

    def predict_interval(self, X: Any) -> Any:
        """Ends of the intervals around the predictions, ``(rows, 2)`` (``(rows, targets, 2)`` for several targets); infinite while there is
        none. The learner needs ``intervals=0.9``, say."""
        made, radii = self._predict_radii(*_columns(X))
        tell(self._notes())
        return ends(made, radii)

    def predict_proba(self, X: Any) -> Any:
        """Probabilities, a column for each class of ``classes_``."""
        made, _ = self._predict(*_columns(X))
        tell(self._notes())
        order = np.argsort(self._labels() or [])
        return made[:, order]

    @property
    def classes_(self) -> Any:
        """The classes in the order of their names."""
        known = self.__dict__.get("_types", {})
        return np.array([known.get(label, label) for label in sorted(self._labels() or [])])

    def learn_one(self, x: Mapping[str, Any], y: Any) -> None:
        """Learns one row, a dictionary."""
        if not self._is_made:
            raise _mercer.SettingsError("a pipeline settles its columns from the first rows; begin with fit or partial_fit")
        self._learn([x], [y], None)

    def predict_one(self, x: Mapping[str, Any]) -> Any:
        """The prediction for one row, a dictionary."""
        made = self.predict([x])[0]
        return made.item() if isinstance(made, np.generic) else made

    def score(self, X: Any, y: Any) -> float:
        """R², or the share of rows whose class is predicted."""
        made, y = self.predict(X), np.asarray(y)
        if self._is_classifier:
            return float(np.mean([_label(a) == _label(b) for a, b in zip(made, y, strict=True)]))
        return float(1 - ((made - y) ** 2).sum() / ((y - y.mean(axis=0)) ** 2).sum())

    @property
    def columns_(self) -> list[tuple[str, str, str, str | None]]:
        """For each column its name, what it is, whether it is used, and how it becomes numbers."""
        if not self._is_made:
            raise AttributeError("columns_: nothing was learnt yet")
        return self._facts()[0]

    @property
    def dictionary_size(self) -> int:
        """Points kept."""
        return self._facts()[1] if self._is_made else 0

    @property
    def rows_learnt(self) -> int:
        """Rows learnt so far."""
        return self._facts()[2] if self._is_made else 0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = tags.input_tags.allow_nan = True
        tags.estimator_type = "classifier" if self._is_classifier else "regressor"
        tags.no_validation = True
        return tags
