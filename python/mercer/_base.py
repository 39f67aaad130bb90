"""What all learners from examples have in common: parameters, saving, and the three faces (river, scikit-learn, arrays and frames).

The classes of :mod:`mercer` itself are made by ``_catalogue.py``. The state and all work on it are in the
extension: see ``crates/python``.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, overload

import numpy as np
import numpy.typing as npt

from . import _intake, _mercer
from ._compat import BaseEstimator, ClassifierMixin, RegressorMixin, RiverClassifier, RiverRegressor
from ._compat import check_classes, checked_targets, checked_weights, when
from ._explanation import Explained
from ._intake import Floats
from ._notes import tell
from ._stored import Covered, Stored, ends

#: Parameters that are no keys of the catalogue.
OWN = ("kernel", "seed", "intervals", "local_intervals", "calibrated")


def written(value: Any) -> str:
    """The value of a key as the catalogue reads it."""
    if value is None:
        return "none"
    if isinstance(value, (str, bool)):
        return str(value)
    if isinstance(value, Learner):
        return value._written_whole()
    if isinstance(value, (list, tuple, np.ndarray)):
        members = any(isinstance(one, Learner) or (isinstance(one, str)) for one in value)
        return ("; " if members else ",").join(written(one) for one in value)
    if isinstance(value, np.generic):
        return str(value.item())
    return repr(value)


class Learner(Stored, Explained, BaseEstimator):
    """A learner of the catalogue with its parameters."""

    #: The name in the catalogue, and its keys: attribute, key, default.
    _name: ClassVar[str] = ""
    _keys: ClassVar[tuple[tuple[str, str, Any], ...]] = ()
    _poor_score: ClassVar[bool] = False
    warm_start: bool = False

    def _pairs(self) -> list[str]:
        """``KEY=VALUE`` for what is not at its default: others may depend on the data."""
        pairs = []
        for attribute, key, default in self._keys:
            value = getattr(self, attribute)
            if type(value) is not type(default) or value != default:
                pairs.append(f"{key}={written(value)}")
        return pairs

    def _written_whole(self) -> str:
        """Name and settings, as a member of a mixture is written."""
        kernel = kernel_text(getattr(self, "kernel", "auto"))
        words = [self._name, *self._pairs(), *([] if kernel == "auto" else [f"kernel={kernel}"])]
        return " ".join(words)

    def _settings(self) -> tuple[str, list[str], str, int]:
        name = "seed" if getattr(self, "random_state", None) is None else "random_state"
        seed = getattr(self, name, 0)
        if hasattr(seed, "randint"):
            # A generator of numpy draws it.
            seed = int(seed.randint(2**31))
        return self._name, self._pairs(), kernel_text(getattr(self, "kernel", "auto")), whole(name, seed or 0)

    if TYPE_CHECKING:
        # What the extension gives.
        @property
        def _names(self) -> list[str]: ...
        _in_order: bool
        @property
        def _is_nameless(self) -> bool: ...
        @property
        def _sizes(self) -> Any: ...
        def _description(self) -> tuple[str, str, list[tuple[str, str]], int]: ...
        def _grow(self, new: list[str]) -> bool: ...
        def _begin(self, *args: Any, **kwargs: Any) -> Any: ...
        def _learn_rows(self, *args: Any, **kwargs: Any) -> Any: ...
        _targets: list[Any]
        def _notes(self) -> list[str]: ...
        def _expansion(self) -> Any: ...
        def _targets_of(self, y: Any, beginning: bool, classes: Any) -> tuple[Any, Any]: ...
        def _targets_one_by_one(self, y: Any) -> tuple[Any, Any]: ...
        def _kept(self) -> list[tuple[str, str]]: ...
        def _extras(self) -> tuple[float | None, bool, bool]: ...
        def _state(self) -> bytes: ...
        n_features_in_: int
        feature_names_in_: npt.NDArray[Any]

    def _inside(self) -> tuple[Any, ...]:
        return self._state(), self._names, list(self._targets), self._in_order

    def _set_inside(self, *inside: Any) -> None:
        state, names, targets, in_order = inside
        self._set_bytes(state, names)
        self._targets, self._in_order = targets, in_order

    def _spec(self) -> tuple[tuple[str, list[str], str, int], tuple[Any, bool, bool]]:
        intervals, local, calibrated = (getattr(self, name, None) for name in OWN[2:])
        if intervals is not None and (isinstance(intervals, bool) or not isinstance(intervals, (int, float, np.number))):
            raise _mercer.SettingsError(f"intervals is {intervals!r}; give the share of targets that they are to hold, such as 0.9")
        return self._settings(), (intervals, bool(local), bool(calibrated))

    def _take_description(self) -> None:
        """Parameters and names as the file tells them."""
        name = self._description()[0]
        if name and name != self._name:
            raise _mercer.ModelFileError(f"the model holds a learner {name!r}, and {type(self).__name__} is {self._name!r}; use mercer.load")
        kept = self._take_kept(self._kept())
        if not kept:
            self._take_settings(self._description(), self._extras())
        self._take_more(kept)
        # Of another program's file all columns are those of a frame, if they have names.
        foreign = "parameters" not in kept
        width = len(self._names) if foreign else kept.get("n_features_in_")
        if width is not None:
            self.n_features_in_ = width
        self._in_order = bool(kept.get("named", foreign))
        if self._in_order and not self._is_nameless:
            self.feature_names_in_ = np.array(self._names[:width], dtype=object)

    def _take_more(self, kept: dict[str, Any]) -> None:
        """What else was kept."""

    def _take_settings(self, told: tuple[str, str, list[tuple[str, str]], int], extras: tuple[float | None, bool, bool]) -> None:
        """Parameters as they came out."""
        _, kernel, parameters, seed = told
        values = dict(parameters)
        for attribute, key, default in self._keys:
            if key in values:
                setattr(self, attribute, read(values[key], default))
        others = {"kernel": kernel, "seed": seed, **dict(zip(OWN[2:], extras, strict=True))}
        for name, value in others.items():
            if hasattr(type(self)(), name) and value != "":
                setattr(self, name, value)

    def _more_kept(self) -> dict[str, Any]:
        kept: dict[str, Any] = {}
        if hasattr(self, "n_features_in_"):
            kept["n_features_in_"] = self.n_features_in_
            kept["named"] = hasattr(self, "feature_names_in_")
        return kept

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, epochs: int = 1) -> Self:
        """Forgets everything, unless ``warm_start`` is set, then learns the rows in their order, `epochs` times. Settings may depend on the number of
        rows ``T``, over all epochs. Two classes make a learner of two."""
        passes = whole("epochs", epochs, 1)
        with self._renewed(not (self.warm_start and self._is_made)) as model:
            model._learn(X, y, sample_weight, passes=passes)
        return self

    @property
    def _takes(self) -> dict[str, bool]:
        """What targets may be, to the checks."""
        return {}

    def _read_targets(self, y: Any, begins: bool) -> Any:
        """Targets as an array."""
        return _intake.outputs(self, y, begins)

    def _go_on(self, *args: Any, **options: Any) -> Any:
        """Learns further rows; the first ones whole, or as far as the learner takes them."""
        with self._renewed(not self._is_made, whole=False) as model:
            return model._learn(*args, **options)

    def _learn(
        self, X: Any, y: Any, sample_weight: Any, *, classes: Any = None, keep: bool = False, passes: int | None = None
    ) -> Any:
        """Learns further rows, or those of a ``fit`` in so many passes."""
        begins, names = not self._is_made, None
        if begins:
            if y is None:
                raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
            if _intake.is_sparse(X) and self._takes_sparse:
                X = _intake.sparse(X)
                self.n_features_in_ = X.shape[1]
                if 0 in X.shape:
                    raise ValueError(f"Found array with shape={X.shape} while a minimum of one row and one feature is required.")
            else:
                X, table = _intake.finite(X), _intake.frame(X)
                names = _intake.note(self, table, X.shape[1])
        else:
            X = self._rows(X)
        y = checked_targets(self, range(X.shape[0]), self._read_targets(y, begins), **self._takes)
        weights = checked_weights(sample_weight, X.shape[0])
        told, targets = self._targets_of(y, passes is not None and begins, classes)
        if begins:
            self._begin(getattr(X, "parts", X), told, weights, names, names is not None)
        for _ in range(passes or 1):
            made = self._learn_rows(getattr(X, "parts", X), targets, weights, keep)
        tell(self._notes())
        return made

    def learn_many(self, X: Any, y: Any, w: Any = None) -> None:
        """Learns the rows of a frame as ``learn_one`` would one by one; its columns are found by name, and new ones become features."""
        with self._renewed(not self._is_made, whole=False) as model:
            told, targets = model._targets_one_by_one(y)
            if not model._is_made:
                model._begin_many(X, told)
            model._learn_rows(model._aligned(X, grow=True), targets, None if w is None else _intake.vector(w))
        tell(self._notes())

    @property
    def _takes_sparse(self) -> bool:
        """Whether the learner takes sparse rows, as tokens."""
        return _mercer.takes_tokens(self._settings())

    def _given(self, X: Any) -> Any:
        """Rows to predict, as the extension takes them."""
        rows = self._rows(X)
        return getattr(rows, "parts", rows)

    def _rows(self, X: Any) -> Any:
        """The rows of a model that was begun, in the order of its features: by name, those of an array by place. Features that appeared later than
        the first batch are 0 where they are not there."""
        known = vars(self).get("n_features_in_")
        if type(X) is np.ndarray and X.dtype == np.float64 and X.shape == (len(X), known) and X.flags.c_contiguous and len(X):
            # The learner refuses what is not finite.
            width = len(self._names)
            if width and "feature_names_in_" not in vars(self):
                return X if known == width else np.hstack([X, np.zeros((len(X), width - X.shape[1]))])
        if not self._names and self._takes_sparse:
            # The model was begun with sparse rows, or by LIBSVM, which tells no width.
            rows = _intake.sparse(X)
            if known and rows.shape[1] != known:
                raise ValueError(f"X has {rows.shape[1]} features, but {type(self).__name__} is expecting {known} features as input")
            return rows
        if _intake.is_sparse(X) and self._takes_sparse:
            X = X.toarray()
        return _intake.aligned(self, X, self._names, needed=known, in_order=self._in_order)

    def _met_labels(self) -> list[Any] | None:
        return list(self._targets) if getattr(type(self), "_of_classes", False) else None

    def _width(self) -> int:
        sizes = self._sizes
        return 1 if sizes is None else int(sizes[1])

    def _explicable(self, X: Any) -> tuple[Any, ...]:
        return (self._given(X),)

    def _shown(self, given: tuple[Any, ...], names: list[str]) -> Any:
        return given[0]

    @property
    def dictionary_size(self) -> int:
        """Points kept, or random features of a learner that keeps none; 0 before anything was learnt."""
        sizes = self._sizes
        return 0 if sizes is None else int(sizes[2])

    @property
    def points_(self) -> Floats:
        """The points of the dictionary, a row each, with the features in their order: `x_j` of `f(x) = Σ α_j k(x_j, x)`."""
        return self._expanded("points_")[0]

    @property
    def coef_(self) -> Floats:
        """The coefficients `α` of ``points_``, ``(points,)``, or ``(outputs, points)`` of several outputs; their kernel is that of ``settings``. A learner may clip the sum."""
        made = self._expanded("coef_")[1]
        return made[0] if made.shape[0] == 1 else made

    def _expanded(self, name: str) -> list[Floats]:
        if not self._is_made:
            raise AttributeError(f"{name}: nothing was learnt yet")
        made: list[Floats] | None = self._expansion()
        if made is None:
            raise AttributeError(f"{name}: {type(self).__name__} is no sum of kernels at points of its own")
        return made

    @property
    def rows_learnt(self) -> int:
        """Rows learnt so far."""
        sizes = self._sizes
        return 0 if sizes is None else int(sizes[3])

    @property
    def feature_names(self) -> list[str]:
        """The names of the features in their order; ``x0``, ``x1``, … for arrays."""
        return list(self._names)

    @property
    def settings(self) -> dict[str, str]:
        """What the parameters came to: the kernel and every key with its value. Of a model that has begun to learn."""
        if not self._is_made:
            raise AttributeError("settings: nothing was learnt yet, and they may depend on the data")
        _, kernel, parameters, seed = self._description()
        return {"kernel": kernel, **dict(parameters), "seed": str(seed)}

    def _aligned(self, X: Any, *, grow: bool) -> Floats:
        """The columns of a frame in the order of the features, 0 where it lacks one. With `grow` new columns become features."""
        X = _intake.frame(X)
        names, rows = _intake.names_of(X), _intake.table(X)

        def found() -> list[int | None]:
            places, said = _mercer.places(self._names, names, rows.shape[1], self._in_order)
            tell([] if said is None else [said])
            return list(places)

        places = found()
        new = sorted(name for name, place in zip(names or (), places, strict=False) if place is None)
        if grow and new and self._grow(new):
            places = found()
        width = len(self._names)
        if places == list(range(width)):
            return rows
        full = np.zeros((rows.shape[0], width))
        for column, place in enumerate(places):
            if place is not None:
                full[:, place] = rows[:, column]
        return full

    def _begin_many(self, X: Any, target: Any) -> None:
        """Makes the learner for a frame as the first dictionary would: features in the order of their names."""
        X = _intake.frame(X)
        names, keys, rows = _intake.names_of(X), _intake.keys(X), _intake.table(X)
        if names is not None:
            try:
                order = sorted(range(len(names)), key=(keys or names).__getitem__)
            except TypeError:
                order = np.argsort([repr(name) for name in keys or names], kind="stable").tolist()
            rows, names = np.ascontiguousarray(rows[:, order]), [names[column] for column in order]
        # Only the median looks at the rows here: all else is as if they had come one by one.
        looked = rows if getattr(self, "kernel", "") == "median" else rows[:0]
        self._begin(looked, target, names=names)


def kernel_text(kernel: Any) -> str:
    """A kernel as the catalogue reads it; scikit-learn's "rbf" is the Gaussian of the usual width."""
    return "auto" if isinstance(kernel, str) and kernel == "rbf" else str(kernel)


def whole(name: str, value: Any, least: int = 0) -> int:
    """A whole number of at least `least`."""
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if not least <= number < 2**63:
        raise _mercer.SettingsError(f"{name} is {value!r}; give a whole number of at least {least}")
    return number


def class_weights(y: Any, told: Any, weights: Any, whole: bool = False) -> Any:
    """The weights of rows times those of their classes; balanced ones only of a whole batch."""
    if told is None:
        return weights
    labels = y.tolist() if hasattr(y, "tolist") else list(y)
    if isinstance(told, str) and told == "balanced" and whole:
        counts = Counter(labels)
        told = {label: len(labels) / (len(counts) * count) for label, count in counts.items()}
    if not isinstance(told, Mapping):
        known = 'give the weight of each class in a dictionary; "balanced" is for fit, which has all rows'
        raise ValueError(f"class_weight is {told!r}: {known}")
    factors = np.array([told.get(label, 1.0) for label in labels], dtype=np.float64)
    return factors if weights is None else factors * np.asarray(weights, dtype=np.float64)


def alike(labels: list[Any], others: list[Any]) -> bool:
    """Whether labels are equal and of equal types, those of numpy as those of Python."""
    plain = [one.item() if isinstance(one, np.generic) else one for one in labels]
    return plain == others and [type(one) for one in plain] == [type(one) for one in others]


def sorted_labels(labels: list[Any]) -> list[Any]:
    """Labels in their order of size; those of several types by how they are written."""
    try:
        return sorted(labels)
    except TypeError:
        return sorted(labels, key=repr)


def array_of(labels: list[Any]) -> npt.NDArray[Any]:
    """Labels as an array of their type, or of objects where they have several."""
    made: npt.NDArray[Any] = np.array(labels)
    if made.ndim == 1 and alike(labels, made.tolist()):
        return made
    made = np.empty(len(labels), dtype=object)
    made[:] = labels
    return made


def by_label(labels: list[Any], probabilities: list[float], many: bool) -> dict[Any, float]:
    """The probability of each class; a learner of two classes that has not met both has others for them, False and True at first."""
    if len(labels) < 2 and not many:
        labels = [labels[0], not labels[0]] if labels and labels[0] in (0, 1) else [*labels, *[False, True][len(labels) :]]
        probabilities = [*probabilities, *[0.0] * (2 - len(probabilities))] if probabilities else [0.5, 0.5]
    return dict(zip(labels, probabilities, strict=False))


def read(text: str, default: Any) -> Any:
    """The value of a key of a file, as the type of its default."""
    if text == "none":
        return None
    for kind in (int, float):
        try:
            return kind(text) if not (kind is int and isinstance(default, float)) else float(text)
        except ValueError:
            pass
    return text


def _river_tags(self: Any) -> set[str]:
    """river's tags: none."""
    return set()


class KernelRegressor(_mercer.LearnerCore, RegressorMixin, Covered, Learner, RiverRegressor):
    """A learner of numbers, one or several at once.

    It is a river regressor (``learn_one``, ``predict_one``, ``learn_many``, ``predict_many``) and a scikit-learn regressor (``fit``,
    ``partial_fit``, ``predict``, ``score``) in one object; rows are learnt in their order.
    """

    _vectors: ClassVar[bool] = False
    intervals: float | None = None
    local_intervals: bool = False

    def _more_kept(self) -> dict[str, Any]:
        kept = super()._more_kept()
        if self._targets:
            kept["target_names"] = list(self._targets)
        return kept

    def _take_more(self, kept: dict[str, Any]) -> None:
        self._targets = kept.get("target_names", [])

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learns further rows in their order."""
        self._go_on(X, y, sample_weight)
        return self

    def predict_then_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Floats:
        """Learns further rows, and returns the prediction that was made for each before it was learnt."""
        made: Floats = self._go_on(X, y, sample_weight, keep=True)
        return made[:, 0] if made.shape[1] == 1 else made

    @property
    def _takes(self) -> dict[str, bool]:
        return {"multi_output": self._vectors}

    def _targets_of(self, y: Any, beginning: bool, classes: Any) -> tuple[Any, Any]:
        ys, outputs = _intake.targets(y)
        return outputs, ys

    def _targets_one_by_one(self, y: Any) -> tuple[Any, Any]:
        return self._targets_of(y, False, None)

    @overload
    def predict(self, X: Any, return_std: Literal[False] = False) -> Floats: ...
    @overload
    def predict(self, X: Any, return_std: Literal[True]) -> tuple[Floats, Floats]: ...
    def predict(self, X: Any, return_std: bool = False) -> Floats | tuple[Floats, Floats]:
        """Predictions for rows. With `return_std` also the standard deviation of a target there, NaN where the learner tells none."""
        self._check_fitted()
        made, beside = self._predict_rows(self._given(X), "deviation" if return_std else "")
        flat = made.shape[1] == 1
        made = made[:, 0] if flat else made
        if beside is None:
            return made
        return made, beside[:, 0] if flat else beside

    def predict_interval_one(self, x: Any) -> tuple[float, float]:
        """The ends of the interval around the prediction for one input; infinite while there is none."""
        low, high = self._interval_one(x)
        return low, high

    def predict_interval(self, X: Any) -> Floats:
        """Ends of the intervals around the predictions, ``(rows, 2)`` (``(rows, targets, 2)`` for several targets); infinite while there is
        none. The model needs ``intervals=0.9``, say."""
        self._check_fitted()
        made, reach = self._predict_rows(self._given(X), "reach")
        assert reach is not None
        return ends(made, reach)

    def predict_many(self, X: Any) -> Any:
        """Predictions for the rows of a frame: a series with its index if it is one of pandas, else an array."""
        made: Floats = np.zeros(len(X))
        if self._is_made:
            made = self._predict_rows(self._aligned(X, grow=False))[0]
            made = made[:, 0] if made.shape[1] == 1 else made
        return _intake.like(X, made)

    _more_tags = _river_tags

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._vectors
        tags.input_tags.sparse = self._takes_sparse
        tags.regressor_tags.poor_score = self._poor_score
        return tags


class KernelClassifier(_mercer.LearnerCore, ClassifierMixin, Learner, RiverClassifier):
    """A learner of classes.

    It is a river classifier (``learn_one``, ``predict_one``, ``predict_proba_one``, ``learn_many``, ``predict_many``) and a scikit-learn classifier
    (``fit``, ``partial_fit``, ``predict``, ``predict_proba``, ``decision_function``) in one object. Labels may be anything hashable; further
    classes join as they come, unless two were settled by ``fit`` or the learner knows only two.
    """

    _of_classes: ClassVar[bool] = True
    _many: ClassVar[bool] = False
    _losses: ClassVar[tuple[str, ...]] = ("squared",)
    _calibrates: ClassVar[bool] = False
    _classes: npt.NDArray[Any] | None
    calibrated: bool = False

    @property
    def _multiclass(self) -> bool:
        return self._many

    def _tells_probabilities(self) -> bool:
        if self._is_made:
            sizes = self._sizes
            return sizes is not None and sizes[4]
        loss = str(getattr(self, "loss", self._losses[0])).split(":")[0]
        return bool(self.calibrated) or self._calibrates or loss in ("squared", "logistic", "softmax")

    @property
    def _takes(self) -> dict[str, bool]:
        return {"numeric": False}

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, epochs: int = 1, class_weight: Any = None) -> Self:
        """Forgets everything, unless ``warm_start`` is set, then learns the rows in their order, `epochs` times. Two classes make a learner of two.
        `class_weight`, a dictionary or "balanced", has weights of the classes, which multiply those of rows."""
        return super().fit(X, y, class_weights(y, class_weight, sample_weight, whole=True), epochs=epochs)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, *, class_weight: Any = None) -> Self:
        """Learns further rows in their order. `classes`, given with the first rows, settles the columns of ``predict_proba``; without it
        classes join as they come. `class_weight` is a dictionary with weights of the classes, which multiply those of rows."""
        self._go_on(X, y, class_weights(y, class_weight, sample_weight), classes=classes)
        return self

    def predict_then_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learns further rows, and returns the class that was predicted for each before it was learnt; None (in an array of objects) before
        any class was met."""
        made = self._go_on(X, y, sample_weight, keep=True)
        labels = [*self._targets, None]
        return np.array([labels[place] for place in made], dtype=object)

    def _targets_of(self, y: Any, beginning: bool, classes: Any) -> tuple[Any, Any]:
        """Labels in their order of size, and each row's place among them."""
        if y.dtype == object:
            given = y.tolist()
            labels = sorted_labels(list(dict.fromkeys(given)))
            places = {label: place for place, label in enumerate(labels)}
            met, codes = array_of(labels), np.fromiter((places[label] for label in given), dtype=np.int64, count=len(given))
        else:
            check_classes(y)
            met, codes = np.unique(y, return_inverse=True)
            labels = met.tolist()
        if beginning or not self._is_made:
            # Those that are settled.
            self._classes = met if beginning else None if classes is None else array_of(sorted_labels(_intake.labels(np.unique(classes))))
        known = getattr(self, "_classes", None)
        settled = [] if known is None else known.tolist()
        if len(settled) > 2 and not self._many:
            raise ValueError(f"Only binary classification is supported. The type of the target is multiclass: it has {len(settled)} classes.")
        return settled, (labels, np.ascontiguousarray(codes.reshape(-1), dtype=np.int64))

    def _targets_one_by_one(self, y: Any) -> tuple[Any, Any]:
        given = _intake.labels(y)
        places = {label: place for place, label in enumerate(dict.fromkeys(given))}
        return [], (list(places), np.fromiter((places[label] for label in given), dtype=np.int64))

    def _read_targets(self, y: Any, begins: bool) -> Any:
        if y is None or isinstance(y, np.ndarray) and y.dtype.kind in "iubU":
            return y
        labels = _intake.labels(y)
        return y if isinstance(y, np.ndarray) and y.dtype != object else array_of(labels)

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The classes in order: the columns of ``predict_proba``."""
        if not self._is_made:
            raise AttributeError("classes_: nothing was learnt yet")
        settled, met = getattr(self, "_classes", None), list(self._targets)
        if settled is not None and set(met) <= set(settled.tolist()):
            return settled
        return array_of(sorted_labels([*met, *(label for label in ([] if settled is None else settled.tolist()) if label not in met)]))

    def _columns(self, made: Floats) -> Floats:
        """Columns in the order of ``classes_``; 0 for a class that was not met."""
        places = {label: place for place, label in enumerate(self._targets)}
        classes = self.classes_.tolist()
        full = np.zeros((made.shape[0], len(classes)))
        for column, label in enumerate(classes):
            place = places.get(label)
            if place is not None and place < made.shape[1]:
                full[:, column] = made[:, place]
        return full

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of each row."""
        self._check_fitted()
        _, choices = self._predict_rows(self._given(X))
        return self._labelled(choices)

    def _labelled(self, choices: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        labels, classes = self._targets, self.classes_
        kept = np.empty(max(len(labels), 1), dtype=classes.dtype if len(labels) else object)
        kept[: len(labels)] = labels
        # Of two classes one may never have been met.
        return kept[np.where(choices < len(labels), choices, 0)]

    @when(lambda self: self._tells_probabilities())
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, ``(rows, classes)``."""
        self._check_fitted()
        made = self._columns(self._predict_rows(self._given(X), "probable")[0])
        if made.shape[1] == 1:
            made[:] = 1.0
        return made

    def decision_function(self, X: Any) -> Floats:
        """Scores: of two classes positive for the second, ``(rows,)``; of more one for each, ``(rows, classes)``. Of a calibrated learner these are
        differences of probabilities, and probabilities."""
        self._check_fitted()
        calibrated = bool(self.calibrated) or self._calibrates
        made = self._columns(self._predict_rows(self._given(X), "probable" if calibrated else "")[0])
        if made.shape[1] == 2:
            difference: Floats = made[:, 1] - made[:, 0]
            return difference
        return made

    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """The probability of each class that was met. A learner of two classes that has not met both answers for False and True."""
        labels, scores, probable = self._scores_one(x)
        if not (probable if self._is_made else self._tells_probabilities()):
            raise NotImplementedError("the loss of this learner has no probabilities; make it with calibrated=True")
        return by_label(labels, scores, self._many)

    def predict_many(self, X: Any) -> Any:
        """The class of each row of a frame: a series with its index if it is one of pandas, else an array. None before any class was met."""
        made: npt.NDArray[Any] = np.full(len(X), None, dtype=object)
        if self._is_made and self._targets:
            made = self._labelled(self._predict_rows(self._aligned(X, grow=False))[1])
        return _intake.like(X, made)

    def predict_proba_many(self, X: Any) -> Any:
        """Probabilities for the rows of a frame, a column for each class."""
        import pandas as pd

        if not self._is_made:
            return pd.DataFrame(index=getattr(X, "index", None))
        if not self._tells_probabilities():
            raise NotImplementedError("the loss of this learner has no probabilities; make it with calibrated=True")
        made = self._predict_rows(self._aligned(X, grow=False), "probable")[0]
        labels = list(self._targets)
        if len(labels) < made.shape[1]:
            labels = [*labels, not labels[0]] if labels and labels[0] in (0, 1) else [False, True][: made.shape[1]]
            made = made[:, : len(labels)]
        return pd.DataFrame(made, index=getattr(X, "index", None), columns=labels)

    def _more_kept(self) -> dict[str, Any]:
        kept = super()._more_kept()
        labels = list(self._targets)
        if not alike(labels, self._labels_in_file()):
            kept["labels"] = labels
        if getattr(self, "_classes", None) is not None:
            kept["classes"] = self._classes
        return kept

    def _take_more(self, kept: dict[str, Any]) -> None:
        if "labels" in kept:
            self._targets = kept["labels"]
        if "classes" in kept:
            self._classes = kept["classes"]

    _more_tags = _river_tags

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._many
        tags.input_tags.sparse = self._takes_sparse
        tags.classifier_tags.poor_score = self._poor_score
        return tags


def members(learners: Sequence[Learner]) -> str:
    """Learners as the parameter ``members`` of a mixture takes them."""
    return "; ".join(one._written_whole() for one in learners)
