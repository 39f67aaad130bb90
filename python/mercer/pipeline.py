"""A learner behind the encoding of a table: dates, categories, gaps and numbers of any unit become inputs, row by row.

>>> import mercer
>>> rows = [{"city": ["Ulm", "Bonn", "Kiel"][t % 3], "size": None if t % 9 == 4 else 40.0 + t * 37 % 80} for t in range(400)]
>>> price = [1e5 * (1 + t % 3) + 2e3 * (t * 37 % 80) for t in range(400)]
>>> model = mercer.Pipeline(mercer.Krls()).fit(rows, price)
>>> bool(abs(model.predict_one(rows[5]) - price[5]) < 2e4)
True
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from . import _data, _learners, _mercer
from ._base import KernelClassifier, KernelRegressor, Learner, alike, array_of, by_label, class_weights, sorted_labels, whole
from ._compat import BaseEstimator, ClassifierMixin, RegressorMixin, RiverClassifier, RiverRegressor, checked_targets, checked_weights, when
from ._learners import Krls
from ._notes import tell
from ._stored import Covered, Explained, Stored, ends

__all__ = ["ClassifierPipeline", "Pipeline", "RegressorPipeline"]


def _texts(names: Any) -> list[str]:
    """The names of columns as texts."""
    return [str(name) for name in names]


#: Rows of a frame whose cells are fetched one by one, which is faster than column by column.
_FEW = 8


def _is_table(X: Any) -> bool:
    """Whether it is a mapping of columns; some sparse matrices of scipy are mappings, too."""
    return isinstance(X, Mapping) and not hasattr(X, "shape")


def _columns(X: Any) -> tuple[list[str], list[list[Any]]]:
    """The names of the columns and their values as Python objects: of frames, of sequences of dictionaries, of tables of numbers."""
    if _is_table(X):
        return _texts(X), [list(column) for column in X.values()]
    if isinstance(X, Sequence) and X and isinstance(X[0], Mapping):
        names = list(dict.fromkeys(name for row in X for name in row))
        return _texts(names), [[row.get(name) for row in X] for name in names]
    X = _data.frame(X)
    module = type(X).__module__.split(".")[0]
    if module == "pandas":
        rows, width = X.shape
        if rows < _FEW:
            return _texts(X.columns.tolist()), [[X.iat[row, place] for row in range(rows)] for place in range(width)]
        return _texts(X.columns), [X.iloc[:, place].astype(object).tolist() for place in range(width)]
    if module == "polars":
        return list(X.columns), [column.to_list() for column in X.get_columns()]
    if module == "pyarrow":
        return list(X.column_names), [column.to_pylist() for column in X.columns]
    rows = _array(X)
    rows = rows if rows.dtype == object and rows.ndim == 2 else _data.table(rows)
    return [f"x{place}" for place in range(rows.shape[1])], [column.tolist() for column in rows.T]


def _array(X: Any) -> Any:
    """Rows in lists, or an array; of objects where there are texts, so that numbers beside them stay numbers."""
    made = np.asarray(X)
    return np.array(X, dtype=object) if made.dtype.kind == "U" else made


class Pipeline(_mercer.TableCore, Covered, Explained, Stored):
    """The encoding of a table before a learner, as the ``mercer`` command has it.

    It is a regressor or a classifier of river and of scikit-learn, as its learner is. The first 256 rows of the first batch settle what each
    column is; statistics then move with every row, and a row is encoded with those of the rows before it. Predictions change nothing. Rows are
    learnt one by one: the numbers are those of the command to the bit, however the rows are cut into batches, as long as the first batch has
    256 of them or all.

    With ``learn_one`` the first row settles its columns by its values; a column that appears later joins, and so does a category. What a
    learner cannot take any more is left out with a warning.

    A cell is a number, a text, a date or time (UTC where it has no zone), or a gap: ``None``, NaN, NaT, an empty text, ``"NA"``, ``"?"`` and the other
    words for gaps that the command knows. Texts that are dates are dates. Truth values are the texts "true" and "false".

    Parameters
    ----------
    learner : Learner, default None
        A learner of numbers or of classes, which is only read for its parameters, also those of intervals; None is
        ``Krls(kernel="median")``, or ``KrlsClassifier(kernel="median")`` in a ``ClassifierPipeline``.
    scale : str, default "standard"
        How numbers are scaled: "none", "standard", "robust" or "range".
    kinds : dict[str, str] | None, default None
        Columns whose kind is told: "number", "category", "time", "text" or "identifier" (the last two are left out), or for times the
        order of their days, "dmy", "mdy" or "ymd".
    outliers : str, default "weigh"
        What is done with targets that are numbers far beyond those of late, as single wrong values are and a stream that has moved is not:
        "weigh" learns them with less weight, "skip" leaves them out, "keep" learns them as they are. The first is warned of.
    gaps : Sequence[str] | None, default None
        Further values that stand for none in every column, such as "-999" or "unknown".
    """

    n_features_in_: int

    def __init__(
        self, learner: Learner | None = None, *, scale: str = "standard", kinds: dict[str, str] | None = None, outliers: str = "weigh",
        gaps: Sequence[str] | None = None,
    ) -> None:  # fmt: skip
        self.learner = learner
        self.scale = scale
        self.kinds = kinds
        self.outliers = outliers
        self.gaps = gaps

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name == "learner" and type(self) in _KINDS and (value is not None or type(self) is Pipeline):
            # A pipeline is what its learner is.
            self.__class__ = ClassifierPipeline if isinstance(value, KernelClassifier) else RegressorPipeline

    def __repr__(self) -> str:
        usual = {"scale": "standard", "kinds": None, "outliers": "weigh", "gaps": None}
        said = [repr(self.learner)] if self.learner is not None else []
        said += [f"{name}={getattr(self, name)!r}" for name in usual if getattr(self, name) != usual[name]]
        name = type(self).__name__ if self.learner is None and self._is_classifier else "Pipeline"
        return f"{name}({', '.join(said)})"

    def _learner(self) -> Learner:
        if self.learner is not None:
            return self.learner
        return _learners.KrlsClassifier(kernel="median") if isinstance(self, ClassifierPipeline) else Krls(kernel="median")

    @property
    def _is_classifier(self) -> bool:
        return isinstance(self._learner(), KernelClassifier)

    def _begin_with(
        self, names: list[str], columns: list[list[Any]], y: Any, weights: Any, rounds: int | None, late: Sequence[tuple[str, str]] = ()
    ) -> None:
        """Begins with the head of a table, or with columns of which the kinds are known."""
        learner = self._learner()
        name, pairs, kernel, seed = learner._settings()
        if kernel in ("auto", "median"):
            # One row has no distances: that of as many standardised columns stands for the median.
            kernel = "median" if columns and len(columns[0]) > 1 else f"gaussian:{(2 * max(len(late) or len(columns), 1)) ** 0.5!r}"
        labels = None
        outputs = 1
        if isinstance(learner, KernelRegressor):
            outputs = _data.targets(y)[1]
        else:
            # Two classes make a learner of two only where all rows are there.
            met = sorted_labels(list(dict.fromkeys(y))) if rounds is not None else []
            if len(met) > 2 and not learner._many:  # type: ignore[attr-defined]
                raise ValueError(f"Only binary classification is supported. The type of the target is multiclass: it has {len(met)} classes.")
            labels = met if len(met) == 2 else []
        extras = (getattr(learner, "intervals", None), bool(getattr(learner, "local_intervals", False)), bool(getattr(learner, "calibrated", False)))
        told = [(column, kind) for column, kind in (self.kinds or {}).items() if rounds is not None or column in names]
        manner = (self.scale, self.outliers, json.dumps(self._gaps()) if self.gaps else None)
        self._begin((name, pairs, kernel, seed), extras, names, columns, weights, manner, list(late) or told, outputs, labels)

    def _gaps(self) -> list[str]:
        """The texts that stand for no value."""
        return [str(text) for text in self.gaps or ()]

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, epochs: int = 1) -> Self:
        """Forgets everything, unless ``warm_start`` of the learner is set, then learns the rows in their order, `epochs` times."""
        passes = whole("epochs", epochs, 1)
        with self._restored():
            if not self._learner().warm_start:
                self._reset()
            self._learn(X, y, sample_weight, passes)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learns further rows in their order; columns are found by their names. `classes` may be told and need not: they join as they come."""
        self._learn(X, y, sample_weight)
        return self

    def predict_then_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learns further rows, and returns the prediction that was made for each before it was learnt."""
        return self._learn(X, y, sample_weight)

    def _cells(self, X: Any, fresh: bool) -> tuple[list[str], list[list[Any]]]:
        """The columns of rows, noted as scikit-learn notes them, whose checks take longer than a prediction."""
        known = vars(self)
        if not fresh and "feature_names_in_" in known and type(X).__module__.startswith("pandas") and len(X):
            return _columns(X)
        if not fresh and "feature_names_in_" not in known and type(X) in (list, np.ndarray) and len(X) and not isinstance(X[0], Mapping):
            rows = _array(X)
            if rows.dtype.kind in "fiuO" and rows.ndim == 2 and rows.shape[1] == known.get("n_features_in_"):
                return _columns(rows)
        names = _data.texts(_data.frame(X))
        plain = not _is_table(X) and not (isinstance(X, Sequence) and len(X) and isinstance(X[0], Mapping))
        if plain and names is None:
            X = _array(X) if isinstance(X, (list, tuple, np.ndarray)) else X
            if "sklearn.base" in sys.modules:
                from sklearn.utils.validation import validate_data

                X = validate_data(self, X, reset=fresh, dtype=None, ensure_all_finite=False)
            else:
                X = np.asarray(X)
                if X.ndim != 2:
                    raise ValueError(f"Expected 2D array, got {X.ndim}D array instead. Reshape your data.")
                if not fresh and X.shape[1] != getattr(self, "n_features_in_", X.shape[1]):
                    raise ValueError(f"X has {X.shape[1]} features, but Pipeline is expecting {self.n_features_in_} features as input")
        if plain and hasattr(X, "shape") and not X.shape[0]:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        told, columns = _columns(X)
        if fresh and plain:
            self.n_features_in_ = len(told)
            vars(self).pop("feature_names_in_", None)
            if names is not None:
                self.feature_names_in_ = np.array(names, dtype=object)
        return told, columns

    def _learn(self, X: Any, y: Any, sample_weight: Any, passes: int | None = None) -> Any:
        fresh = not self._is_made
        before = dict(vars(self))
        try:
            names, columns = self._cells(X, fresh)
            count = len(columns[0]) if columns else 0
            y, weights = self._targets_of(y, count), checked_weights(sample_weight, count)
            if fresh:
                self._begin_with(names, columns, y, weights, None if passes is None else passes * count)
            else:
                self._join(self._kinds_of(dict(zip(names, columns, strict=True))))
            made = self._learn_cells(names, columns, y, weights)
            for _ in range(1, passes or 1):
                self._learn_cells(names, columns, y, weights)
        except Exception:
            if fresh and not self.rows_learnt:
                self._reset()
                vars(self).clear()
                vars(self).update(before)
            raise
        tell(self._notes())
        return made

    def predict(self, X: Any) -> Any:
        """Predictions for rows: numbers, or labels."""
        self._check_fitted()
        made, labels = self._predict(*self._cells(X, False))
        tell(self._notes())
        if self._is_classifier:
            kept = np.empty(len(labels), dtype=object)
            kept[:] = labels
            classes = array_of(sorted_labels(self._labels_met() or []))
            return kept if classes.dtype == object or None in labels else kept.astype(classes.dtype)
        return made[:, 0] if made.shape[1] == 1 else made

    def predict_interval(self, X: Any) -> Any:
        """Ends of the intervals around the predictions, ``(rows, 2)`` (``(rows, targets, 2)`` for several targets); infinite while there is
        none. The learner needs ``intervals=0.9``, say."""
        self._check_fitted()
        made, reach = self._predict(*self._cells(X, False), "reach")
        tell(self._notes())
        return ends(made, reach)

    def learn_one(self, x: Any, y: Any, w: float = 1.0) -> None:
        """Learns one row: a dictionary, or another mapping. A row that is refused as the first settles nothing."""
        row, names = _data.named(x), vars(self).get("_target_names")
        if isinstance(y, Mapping):
            named = sorted(y) if names is None else names
            if set(named) != set(y):
                raise _mercer.DataError(f"the targets are {sorted(y)}, and the first had the names {named}")
            y, names = [y[name] for name in named], named
        if not self._is_made:
            try:
                self._begin_one(row, y)
                self._learn_row(row, y, w)
            except Exception:
                self._reset()
                raise
        elif not self._learn_row(row, y, w):
            self._check_target(y, w)
            self._join(self._kinds_of({name: [value] for name, value in row.items()}))
            self._learn_row(row, y, w)
        if names is not None:
            self._target_names = names

    def _begin_one(self, row: Mapping[Any, Any], y: Any) -> None:
        """Begins with one row: columns are what their values are, in the order of their names; one without a value waits."""
        kinds = self._kinds_of({name: [value] for name, value in row.items()})
        self._begin_with([], [], _data.vector(y)[None] if not self._is_classifier else [y], None, None, kinds)

    def _kinds_of(self, columns: Mapping[Any, list[Any]]) -> list[tuple[str, str]]:
        """What columns are, as is told or as their values are, in the order of their names; none of one without a value."""
        told, known = self.kinds or {}, set(self._column_names()) if self._is_made else set()
        found = [(str(name), told.get(str(name)), values) for name, values in columns.items() if str(name) not in known]
        kinds = [(name, kind, _mercer.column_kind(values, self._gaps())) for name, kind, values in found]
        return sorted((name, kind or seen) for name, kind, seen in kinds if seen is not None)

    def _check_target(self, y: Any, w: float) -> None:
        """Refuses what cannot be learnt, before columns join."""
        if not self._is_classifier:
            made = _data.vector(y)
            if not np.isfinite(made).all() or len(made) != self._outputs():
                raise _mercer.DataError(f"the target is {y!r}; the model learns {self._outputs()} finite numbers a row")
        elif y is None or y != y:
            raise _mercer.DataError(f"{y!r} is no class; drop the rows whose class is missing")
        if not 0 <= w < np.inf:
            raise _mercer.DataError(f"the weight is {w!r}; give a finite number of at least 0")

    def predict_one(self, x: Any) -> Any:
        """The prediction for one row; before anything was learnt 0, or None."""
        if not self._is_made:
            return None if self._is_classifier else 0.0
        made = self._predict_row(_data.named(x))
        names = vars(self).get("_target_names")
        return made if names is None else dict(zip(names, made if len(names) > 1 else [made], strict=True))

    def _one(self, x: Any) -> tuple[list[str], list[list[Any]]]:
        """The columns of one row, those that it lacks without a value."""
        row = {**dict.fromkeys(self._column_names()), **{str(name): value for name, value in _data.named(x).items()}}
        return list(row), [[value] for value in row.values()]

    def learn_many(self, X: Any, y: Any, w: Any = None) -> None:
        """Learns the rows of a frame as ``learn_one`` would one by one."""
        names, columns = _columns(X)
        count = len(columns[0]) if columns else 0
        y, weights = self._targets_of(y, count), checked_weights(w, count)
        weights = np.ones(count) if weights is None else weights
        known = set(self._column_names()) if self._is_made else set()
        # Alone are learnt the rows in which a further column has its first value.
        late = [column for name, column in zip(names, columns, strict=True) if name not in known]
        firsts = (next((row for row, value in enumerate(column) if _mercer.column_kind([value], self._gaps()) is not None), count) for column in late)
        cuts = sorted({*firsts, count} | ({0} if not self._is_made and count else set()))
        first = 0
        for cut in cuts:
            if cut > first:
                given = {name: column[first:cut] for name, column in zip(names, columns, strict=True)}
                part = {name: given.get(name, [None] * (cut - first)) for name in self._column_names()}
                self._learn_cells(list(part), list(part.values()), y[first:cut], weights[first:cut])
            if cut < count:
                row = {name: column[cut] for name, column in zip(names, columns, strict=True)}
                self.learn_one(row, y[cut], float(weights[cut]))
            first = cut + 1
        tell(self._notes())

    def _targets_of(self, y: Any, count: int) -> Any:
        """The targets of rows: labels in a list, or numbers in an array."""
        if self._is_classifier:
            if y is None:
                raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
            if "sklearn.base" in sys.modules and (hasattr(y, "dtype") or hasattr(y, "__array__")):
                from sklearn.utils.multiclass import check_classification_targets

                y = checked_targets(self, range(count), y, numeric=False)
                check_classification_targets(y)
            return y.tolist() if hasattr(y, "tolist") else list(y)
        return checked_targets(self, range(count), y, multi_output=self._learner()._vectors)  # type: ignore[attr-defined]

    def _learn_cells(self, names: list[str], columns: list[list[Any]], y: Any, weights: Any) -> Any:
        """Learns rows, and returns the predictions made before."""
        if self._is_classifier:
            places = {label: place for place, label in enumerate(dict.fromkeys(y))}
            labels = self._learn_rows(names, columns, (list(places), [places[label] for label in y]), weights)
            kept = np.empty(len(labels), dtype=object)
            kept[:] = labels
            return kept
        made = self._learn_rows(names, columns, _data.targets(y)[0], weights)
        return made[:, 0] if made.shape[1] == 1 else made

    def predict_many(self, X: Any) -> Any:
        """Predictions for the rows of a frame: a series with its index if it is one of pandas, else an array."""
        made = self.predict(X) if self._is_made else np.full(len(X), None) if self._is_classifier else np.zeros(len(X))
        return _data.like(X, made)

    @property
    def columns_(self) -> list[dict[str, str | None]]:
        """For each column its name, its kind, its use, why it is that ("" where it is plain), and its treatment: how it becomes numbers."""
        if not self._is_made:
            raise AttributeError("columns_: nothing was learnt yet")
        return [dict(zip(("name", "kind", "use", "why", "treatment"), facts, strict=True)) for facts in self._facts()[0]]

    @property
    def counts_(self) -> dict[str, int]:
        """How many cells of the rows that were learnt and predicted, since this was made or loaded, were gaps, did not fit their column and
        counted as gaps ("misfits"), were categories without a number of their own ("hashed"), or numbers that were read by their size
        among times that are written ("numbered")."""
        return dict(self._counts())

    @property
    def dictionary_size(self) -> int:
        """Points kept."""
        return self._facts()[1] if self._is_made else 0

    @property
    def rows_learnt(self) -> int:
        """Rows learnt so far."""
        return self._facts()[2] if self._is_made else 0

    def _inside(self) -> tuple[Any, ...]:
        labels = self._labels_met()
        return (self._state(), *([] if labels is None else [labels]))

    def _more_kept(self) -> dict[str, Any]:
        kept: dict[str, Any] = {}
        labels = self._labels_met()
        if labels is not None and not alike(labels, self._labels_in_file()):
            kept["labels"] = labels
        for name in ("n_features_in_", "feature_names_in_", "_target_names"):
            if name in vars(self):
                kept[name] = vars(self)[name]
        return kept

    def _take_description(self) -> None:
        kept = self._take_kept(self._kept())
        for name in ("n_features_in_", "feature_names_in_", "_target_names"):
            if name in kept:
                setattr(self, name, kept[name])
        if "labels" in kept:
            self._labels = kept["labels"]
        if kept:
            return
        told, classes = self._description(), self._labels_met() is not None
        base = KernelClassifier if classes else KernelRegressor
        for one in (getattr(_learners, name) for name in _learners.__all__):
            if issubclass(one, base) and one._name == told[0]:
                learner = one()
                learner._take_settings(told, self._extras())
                self.learner = learner
                self.scale, self.outliers = self._scaled(), self._outliers()
                self.gaps = json.loads(dict(self._kept()).get("gaps", "null"))
                return
        raise _mercer.ModelFileError(f"the model holds the learner {told[0]!r}, which has no class here; use the command or a newer mercer")

    def _more_tags(self) -> set[str]:
        return set()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.string = tags.input_tags.categorical = tags.input_tags.allow_nan = True
        return tags


class RegressorPipeline(Pipeline, RegressorMixin, BaseEstimator, RiverRegressor):
    """A :class:`Pipeline` of numbers."""

    def predict_interval_one(self, x: Any) -> tuple[float, float]:
        """The ends of the interval around the prediction for one row; infinite while there is none."""
        if not self._is_made:
            return -np.inf, np.inf
        made, reach = self._predict(*self._one(x), "reach")
        low, high = ends(made, reach)[0]
        return float(low), float(high)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._learner()._vectors  # type: ignore[attr-defined]
        # scikit-learn rounds the inputs of models that take categories, which leaves some of them too little.
        tags.regressor_tags.poor_score = self._learner()._poor_score or self._learner()._name in ("lkapa", "qklms-fb")
        return tags


class ClassifierPipeline(Pipeline, ClassifierMixin, BaseEstimator, RiverClassifier):
    """A :class:`Pipeline` of classes."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, epochs: int = 1, class_weight: Any = None) -> Self:
        """As of a pipeline of numbers. `class_weight`, a dictionary or "balanced", has weights of the classes, which multiply those of rows."""
        return super().fit(X, y, class_weights(y, class_weight, sample_weight, whole=True), epochs=epochs)

    @property
    def _multiclass(self) -> bool:
        return self._learner()._multiclass  # type: ignore[attr-defined]

    @property
    def classes_(self) -> Any:
        """The classes in order: the columns of ``predict_proba``."""
        if not self._is_made:
            raise AttributeError("classes_: nothing was learnt yet")
        return array_of(sorted_labels(self._labels_met() or []))

    def _tells_probabilities(self) -> bool:
        return self._learner()._tells_probabilities()  # type: ignore[attr-defined]

    def _ordered(self, X: Any, probable: bool) -> Any:
        """Columns in the order of ``classes_``; 0 for a class that was not met."""
        self._check_fitted()
        made, _ = self._predict(*self._cells(X, False), "probable" if probable else "")
        tell(self._notes())
        met = self._labels_met() or []
        return made[:, [met.index(label) for label in sorted_labels(met)]]

    @when(lambda self: self._tells_probabilities())
    def predict_proba(self, X: Any) -> Any:
        """Probabilities, a column for each class of ``classes_``."""
        made = self._ordered(X, True)
        if made.shape[1] == 1:
            made[:] = 1.0
        return made

    def decision_function(self, X: Any) -> Any:
        """Scores: of two classes positive for the second, ``(rows,)``; of more one for each, ``(rows, classes)``. Of a calibrated learner these are
        differences of probabilities, and probabilities."""
        made = self._ordered(X, bool(getattr(self._learner(), "calibrated", False)) or self._learner()._calibrates)  # type: ignore[attr-defined]
        return made[:, 1] - made[:, 0] if made.shape[1] == 2 else made

    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """The probability of each class that was met."""
        if not self._tells_probabilities():
            raise NotImplementedError("the loss of this learner has no probabilities; make it with calibrated=True")
        if not self._is_made:
            return by_label([], [], self._multiclass)
        made, _ = self._predict(*self._one(x), "probable")
        return by_label(self._labels_met() or [], made[0].tolist(), self._multiclass)

    def predict_proba_many(self, X: Any) -> Any:
        """Probabilities for the rows of a frame, a column for each class."""
        import pandas as pd

        index = getattr(X, "index", None)
        if not self._is_made:
            return pd.DataFrame(index=index)
        return pd.DataFrame(self.predict_proba(X), index=index, columns=self.classes_.tolist())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._multiclass
        tags.classifier_tags.poor_score = self._learner()._poor_score
        return tags


_KINDS = (Pipeline, RegressorPipeline, ClassifierPipeline)
