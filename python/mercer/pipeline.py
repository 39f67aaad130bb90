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
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self, TypedDict, Unpack, get_args, overload

import numpy as np

from . import _intake, _learners, _mercer
from ._base import KernelClassifier, KernelRegressor, Learner, alike, array_of, by_label, class_weights, sorted_labels, whole
from ._compat import BaseEstimator, ClassifierMixin, RegressorMixin, RiverClassifier, RiverRegressor, check_classes, checked_targets, checked_weights, when
from ._explanation import Explained, shown_cells
from ._intake import Columns, Floats
from ._learners import Krls
from ._notes import tell
from ._stored import Covered, Stored, ends

__all__ = ["ClassifierPipeline", "Pipeline", "RegressorPipeline"]

Scale = Literal["none", "standard", "robust", "range"]
Outliers = Literal["weigh", "skip", "keep"]


class _Options(TypedDict, total=False):
    """What a pipeline takes beside its learner."""

    scale: Scale
    kinds: dict[str, str] | None
    outliers: Outliers
    gaps: Sequence[str] | None


class Pipeline(_mercer.TableCore, Covered, Explained, Stored):
    """The encoding of a table before a learner, as the ``mercer`` command has it.

    It is a regressor or a classifier of river and of scikit-learn, as its learner is. The first 256 rows of the first batch settle what each
    column is; statistics then move with every row, and a row is encoded with those of the rows before it. Predictions change nothing. Rows are
    learnt one by one: the numbers are those of the command to the bit, however the rows are cut into batches, as long as the first batch has
    256 of them or all.

    With ``learn_one`` the first row settles its columns by its values; a column that appears later joins, and so does a category. What a
    learner cannot take any more is left out with a warning.

    A cell is what its type says, a number, a truth value, a date or time (UTC where it has no zone), a time of day, a duration, or a gap (``None``, NaN,
    NaT, NA, a masked cell), and then what its text says: texts of numbers are numbers, those of dates are dates, and an empty text, ``"NA"``, ``"?"`` and
    the other words that the command knows are gaps. A column whose type is that of categories is one. Learners of tokens (``Auto``, ``Coin``, ``DiagonalKalman``,
    ``Pairs``) take the words of texts and the members of lists, sets, tuples, arrays of texts and dictionaries of numbers.

    Parameters
    ----------
    learner : Learner, default None
        A learner of numbers or of classes, which is only read for its parameters, also those of intervals; None is
        ``Krls(kernel="median")``, or ``KrlsClassifier(kernel="median")`` in a ``ClassifierPipeline``.
    scale : {"none", "standard", "robust", "range"}, default "standard"
        How numbers are scaled.
    kinds : dict[str, str] | None, default None
        Columns whose kind is told: "number", "category", "duration", "time", "text", "list" or "identifier" (the last is left out), or for times the
        order of their days, "dmy", "mdy" or "ymd".
    outliers : {"weigh", "skip", "keep"}, default "weigh"
        What is done with targets that are numbers far beyond those of late, as single wrong values are and a stream that has moved is not:
        "weigh" learns them with less weight, "skip" leaves them out, "keep" learns them as they are. The first is warned of.
    gaps : Sequence[str] | None, default None
        Further values that stand for none in every column, such as "-999" or "unknown".
    """

    n_features_in_: int

    # A pipeline is what its learner is.
    @overload
    def __init__(self: ClassifierPipeline, learner: KernelClassifier, **options: Unpack[_Options]) -> None: ...  # type: ignore[misc]
    @overload
    def __init__(self: RegressorPipeline, learner: KernelRegressor | None = None, **options: Unpack[_Options]) -> None: ...  # type: ignore[misc]
    def __init__(
        self, learner: Learner | None = None, *, scale: Scale = "standard", kinds: dict[str, str] | None = None, outliers: Outliers = "weigh",
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

    def set_params(self, **params: Any) -> Self:
        """Sets parameters; those of ``learner``, such as ``learner__lambda_``, are those of the default learner where none is set."""
        if self.learner is None and "learner" not in params and any(name.startswith("learner__") for name in params):
            self.learner = self._learner()
        super().set_params(**params)  # type: ignore[misc]
        return self

    @property
    def _is_classifier(self) -> bool:
        return isinstance(self._learner(), KernelClassifier)

    def _checked(self) -> Learner:
        """The learner, once all parameters are what they can be."""
        learner = self._learner()
        if not isinstance(learner, Learner):
            example = "give one with its parameters, such as mercer.Krls()"
            raise _mercer.SettingsError(f"learner is {learner!r}, and no learner of the catalogue; {example}")
        if not isinstance(self.kinds, Mapping | None):
            raise _mercer.SettingsError(f'kinds is {self.kinds!r}; give a dictionary such as {{"zip": "category"}}')
        for name, known in (("scale", get_args(Scale)), ("outliers", get_args(Outliers))):
            if getattr(self, name) not in known:
                raise _mercer.SettingsError(f"{name} is {getattr(self, name)!r}; give one of {', '.join(known)}")
        return learner

    def _begin_with(
        self, names: list[str], columns: list[list[Any]], y: Any, weights: Any, settled: bool, late: Sequence[tuple[str, str]] = (),
        seen: Mapping[str, str] | None = None,
    ) -> Floats | None:  # fmt: skip
        """Begins with the head of a table, some of whose kinds were `seen` by their types, or with columns of which the kinds are known. It gives the
        targets whose means categories have: numbers, or of two classes whether it is the first."""
        learner = self._checked()
        (name, pairs, kernel, seed), extras = learner._spec()
        if kernel in ("auto", "median"):
            # One row has no distances: that of as many standardised columns stands for the median.
            kernel = "median" if columns and len(columns[0]) > 1 else f"gaussian:{(2 * max(len(late) or len(columns), 1)) ** 0.5!r}"
        labels, outputs, means = None, 1, None
        if isinstance(learner, KernelRegressor):
            numbers, outputs = _intake.targets(y)
            means = numbers if outputs == 1 else None
        else:
            # Two classes make a learner of two only where all rows are there.
            met = sorted_labels(list(dict.fromkeys(y))) if settled else []
            if len(met) > 2 and not learner._many:  # type: ignore[attr-defined]
                raise ValueError(f"Only binary classification is supported. The type of the target is multiclass: it has {len(met)} classes.")
            labels = met if len(met) == 2 else []
            if labels:
                means = np.array([label == y[0] for label in y], dtype=np.float64)
        # A place may be told by its number.
        told = {f"x{column}" if str(column) not in names and f"x{column}" in names else str(column): kind for column, kind in (self.kinds or {}).items()}
        kinds = [*{**(seen or {}), **{column: kind for column, kind in told.items() if settled or column in names}}.items()]
        manner = (self.scale, self.outliers, json.dumps(self._gaps()) if self.gaps else None)
        self._begin((name, pairs, kernel, seed), extras, names, columns, weights, means, manner, list(late) or kinds, outputs, labels)
        return means

    def _gaps(self) -> list[str]:
        """The texts that stand for no value."""
        return [self.gaps] if isinstance(self.gaps, str) else [str(text) for text in self.gaps or ()]

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, epochs: int = 1) -> Self:
        """Forgets everything, unless ``warm_start`` of the learner is set, then learns the rows in their order, `epochs` times."""
        passes = whole("epochs", epochs, 1)
        with self._renewed(not (self._checked().warm_start and self._is_made)) as model:
            model._learn(X, y, sample_weight, passes)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learns further rows in their order; columns are found by their names. `classes` may be told and need not: they join as they come."""
        self.predict_then_fit(X, y, sample_weight)
        return self

    def predict_then_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learns further rows, and returns the prediction that was made for each before it was learnt."""
        with self._renewed(not self._is_made, whole=False) as model:
            return model._learn(X, y, sample_weight)

    def _cells(self, X: Any, fresh: bool) -> Columns:
        """The columns of rows, noted as scikit-learn notes them."""
        found = _intake.columns(X)
        width = len(found.values)
        if found.names is None and not fresh and width != vars(self).get("n_features_in_", width):
            raise ValueError(f"X has {width} features, but Pipeline is expecting {self.n_features_in_} features as input")
        if not width:
            raise ValueError("Found array with 0 feature(s) (shape=(0, 0)) while a minimum of 1 is required.")
        if not len(found):
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        if fresh:
            _intake.note(self, _intake.frame(X), width)
        return found

    def _learn(self, X: Any, y: Any, sample_weight: Any, passes: int | None = None) -> Any:
        begins = not self._is_made
        cells = self._cells(X, begins)
        y, weights = self._targets_of(y, len(cells), begins), checked_weights(sample_weight, len(cells))
        if begins:
            names = cells.names or [f"x{place}" for place in range(len(cells.values))]
            self._begin_with(names, cells.values, y, weights, passes is not None, seen=cells.kinds)
            self._in_order = True
        elif cells.names is not None:
            self._join_late(cells)
        made = self._learn_cells(cells, y, weights)
        for _ in range(1, passes or 1):
            self._learn_cells(cells, y, weights)
        tell(self._notes())
        return made

    def _encoded(self, X: Any, y: Any) -> Any:
        """The numbers that the encoding makes of each row, with the statistics of the rows before it; and the targets."""
        fresh = type(self)(**self.get_params(deep=False))  # type: ignore[attr-defined]
        cells = fresh._cells(X, True)
        y = fresh._targets_of(y, len(cells), True)
        names = cells.names or [f"x{place}" for place in range(len(cells.values))]
        means = fresh._begin_with(names, cells.values, y, None, True, seen=cells.kinds)
        return fresh._encode_rows(names, cells.values, means), y

    def _join_late(self, cells: Columns) -> None:
        """Columns that are new join, with the kind of their first value."""
        known = set(self._column_names())
        for name, values in zip(cells.names or (), cells.values, strict=True):
            if name not in known:
                late: list[tuple[str, str]] = []
                for value in values:
                    late = late or self._late({name: value}, {**cells.kinds, **(self.kinds or {})}, self._gaps())
                self._join(late)

    def predict(self, X: Any) -> Any:
        """Predictions for rows: numbers, or labels."""
        self._check_fitted()
        made, labels = self._predict(*self._cells(X, False)[:2])
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
        made, reach = self._predict(*self._cells(X, False)[:2], "reach")
        tell(self._notes())
        return ends(made, reach)

    def learn_one(self, x: Any, y: Any, w: float = 1.0) -> None:
        """Learns one row: a dictionary, another mapping, a list, an array. A row that is refused as the first settles nothing."""
        names = vars(self).get("_target_names")
        if isinstance(y, Mapping):
            named = sorted(y) if names is None else names
            if set(named) != set(y):
                raise _mercer.DataError(f"the targets are {sorted(y)}, and the first had the names {named}")
            y, names = [y[name] for name in named], named
        if not self._is_made:
            with self._renewed(True) as model:
                model._begin_one(x, y)
                model._learn_row(x, y, w, True)
        elif not self._learn_row(x, y, w, False):
            self._check_target(y, w)
            self._join(self._late(x, self.kinds or {}, self._gaps()))
            self._learn_row(x, y, w, True)
        if names is not None:
            self._target_names = names

    def _begin_one(self, x: Any, y: Any) -> None:
        """Begins with one row: columns are what their values are, in the order of their names; one without a value waits."""
        kinds = self._late(x, self.kinds or {}, self._gaps())
        if not kinds:
            raise _mercer.DataError("the first row has no value; begin with one that has some")
        self._begin_with([], [], _intake.vector(y)[None] if not self._is_classifier else [y], None, False, kinds)

    def _check_target(self, y: Any, w: float) -> None:
        """Refuses what cannot be learnt, before columns join."""
        if not self._is_classifier:
            made = _intake.vector(y)
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
        made = self._predict_row(x)
        names = vars(self).get("_target_names")
        return made if names is None else dict(zip(names, made if len(names) > 1 else [made], strict=True))

    def _met_labels(self) -> list[Any] | None:
        return self._labels_met()

    def _width(self) -> int:
        return self._outputs()

    def _explicable(self, X: Any) -> tuple[Any, ...]:
        return tuple(self._cells(X, False)[:2])

    def _shown(self, given: tuple[Any, ...], names: list[str]) -> Any:
        return shown_cells(given[0], given[1], names)

    def learn_many(self, X: Any, y: Any, w: Any = None) -> None:
        """Learns the rows of a frame as ``learn_one`` would one by one."""
        cells = _intake.columns(X)
        names, count = cells.names or [f"x{place}" for place in range(len(cells.values))], len(cells)
        y, weights = self._targets_of(y, count, not self._is_made), checked_weights(w, count)
        weights = np.ones(count) if weights is None else weights
        # One by one are learnt the rows until every column has had a value.
        first = 0
        while first < count and not (self._is_made and set(names) <= set(self._column_names())):
            self.learn_one({name: column[first] for name, column in zip(names, cells.values, strict=True)}, y[first], float(weights[first]))
            first += 1
        if first < count:
            rest = {name: [None] * (count - first) for name in self._column_names()}
            rest.update((name, column[first:]) for name, column in zip(names, cells.values, strict=True))
            self._learn_cells(Columns(list(rest), list(rest.values()), {}), y[first:], weights[first:])
        tell(self._notes())

    def _targets_of(self, y: Any, count: int, begins: bool) -> Any:
        """The targets of rows: labels in a list, or numbers in an array."""
        if not self._is_classifier:
            vectors = self._learner()._vectors  # type: ignore[attr-defined]
            return checked_targets(self, range(count), _intake.outputs(self, y, begins), multi_output=vectors)
        made = self._learner()._read_targets(y, begins)
        if made is None or made.dtype != object:
            made = checked_targets(self, range(count), made, numeric=False)
            check_classes(made)
        return made.tolist()

    def _learn_cells(self, cells: Columns, y: Any, weights: Any) -> Any:
        """Learns rows, and returns the predictions made before."""
        if self._is_classifier:
            places = {label: place for place, label in enumerate(dict.fromkeys(y))}
            labels = self._learn_rows(cells.names, cells.values, (list(places), [places[label] for label in y]), weights)
            kept = np.empty(len(labels), dtype=object)
            kept[:] = labels
            return kept
        made = self._learn_rows(cells.names, cells.values, _intake.targets(y)[0], weights)
        return made[:, 0] if made.shape[1] == 1 else made

    def predict_many(self, X: Any) -> Any:
        """Predictions for the rows of a frame: a series with its index if it is one of pandas, else an array."""
        made = self.predict(X) if self._is_made else np.full(len(X), None) if self._is_classifier else np.zeros(len(X))
        return _intake.like(X, made)

    @property
    def columns_(self) -> list[dict[str, str | None]]:
        """For each column its name, its kind, its use, why it is that ("" where it is plain), and its treatment: how it becomes numbers."""
        if not self._is_made:
            raise AttributeError("columns_: nothing was learnt yet")
        return [dict(zip(("name", "kind", "use", "why", "treatment"), facts, strict=True)) for facts in self._facts()[0]]

    @property
    def counts_(self) -> dict[str, int]:
        """How many cells of the rows that were learnt and predicted, since this was made or loaded, were gaps, did not fit their column and
        counted as gaps ("misfits"), were categories without a number of their own ("hashed"), or times written otherwise
        than those that were learnt, and read as they stand ("otherwise")."""
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
        return self._state(), self._labels_met(), self._in_order

    def _set_inside(self, *inside: Any) -> None:
        state, labels, in_order = inside
        self._set_bytes(state, labels)
        self._in_order = in_order

    def _more_kept(self) -> dict[str, Any]:
        kept: dict[str, Any] = {"in_order": self._in_order}
        labels = self._labels_met()
        if labels is not None and not alike(labels, self._labels_in_file()):
            kept["labels"] = labels
        for name in ("n_features_in_", "feature_names_in_", "_target_names"):
            if name in vars(self):
                kept[name] = vars(self)[name]
        return kept

    def _take_description(self) -> None:
        kept = self._take_kept(self._kept())
        self._in_order = kept.get("in_order", "parameters" not in kept)
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

    @overload
    def predict(self, X: Any, return_std: Literal[False] = False) -> Floats: ...
    @overload
    def predict(self, X: Any, return_std: Literal[True]) -> tuple[Floats, Floats]: ...
    def predict(self, X: Any, return_std: bool = False) -> Floats | tuple[Floats, Floats]:
        """Predictions for rows. With `return_std` also the standard deviation of a target there, NaN where the learner tells none."""
        if not return_std:
            return super().predict(X)
        self._check_fitted()
        made, beside = self._predict(*self._cells(X, False)[:2], "deviation")
        tell(self._notes())
        return (made[:, 0], beside[:, 0]) if made.shape[1] == 1 else (made, beside)

    def predict_interval_one(self, x: Any) -> tuple[float, float]:
        """The ends of the interval around the prediction for one row; infinite while there is none."""
        if not self._is_made:
            return -np.inf, np.inf
        made, reach = self._predict_row(x, "reach")
        return made[0] - reach[0], made[0] + reach[1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._learner()._vectors  # type: ignore[attr-defined]
        # scikit-learn rounds the inputs of models that take categories, which leaves some of them too little.
        tags.regressor_tags.poor_score = self._learner()._poor_score or self._learner()._name in ("lkapa", "qklms-fb")
        return tags


class ClassifierPipeline(Pipeline, ClassifierMixin, BaseEstimator, RiverClassifier):
    """A :class:`Pipeline` of classes."""

    if TYPE_CHECKING:

        def __init__(self, learner: KernelClassifier | None = None, **options: Unpack[_Options]) -> None: ...

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
        made, _ = self._predict(*self._cells(X, False)[:2], "probable" if probable else "")
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
        return by_label(self._labels_met() or [], self._predict_row(x, "probable")[0], self._multiclass)

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
