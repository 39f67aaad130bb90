"""Why a prediction: effects of the columns that add up to it, as the ``mercer explain`` command has them."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _mercer
from ._intake import Floats, row

#: What columns share.
_SHARED = "(other categories)"


class Effects(dict[Any, float]):
    """The effect of each column on the prediction for a row: ``base + sum(effects.values()) == prediction`` to rounding.

    ``standard_errors`` are those of effects that were sampled, by column, and None where effects are exact. Of classes ``label`` is the one whose
    score is explained.
    """

    def __init__(self, effects: Mapping[Any, float], base: float, prediction: float, standard_errors: dict[Any, float] | None, label: Any) -> None:
        super().__init__(effects)
        self.base = base
        self.prediction = prediction
        self.standard_errors = standard_errors
        self.label = label


class Explanation:
    """Effects on the predictions for rows, with the attributes of ``shap.Explanation``: ``base_values + values.sum(axis=1)`` are the predictions.

    ``values`` and ``data`` are ``(rows, columns)``; of several targets, or of more than two classes, ``values`` are ``(rows, columns, outputs)`` and
    ``base_values`` ``(rows, outputs)``. ``error_std`` are the standard errors of effects that were sampled, None where they are exact.
    """

    def __init__(self, values: Floats, base_values: Floats, data: Any, feature_names: list[str], output_names: list[str] | None, error_std: Floats | None) -> None:
        self.values = values
        self.base_values = base_values
        self.data = data
        self.feature_names = feature_names
        self.output_names = output_names
        self.error_std = error_std

    def __len__(self) -> int:
        return len(self.values)

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the values."""
        return self.values.shape


def _made(*parts: Any) -> Any:
    """An explanation: one of shap where it is installed."""
    if importlib.util.find_spec("shap") is None:
        return Explanation(*parts)
    import shap

    names = ("values", "base_values", "data", "feature_names", "output_names", "error_std")
    return shap.Explanation(**dict(zip(names, parts, strict=True)))


class Explained:
    """A model that predicts rows of named columns."""

    if TYPE_CHECKING:

        def _check_fitted(self) -> None: ...
        def _explain_one(self, x: Any, aim: int, permutations: int) -> Any: ...
        def _explain_rows(self, *args: Any) -> Any: ...
        def _met_labels(self) -> list[Any] | None: ...
        def _width(self) -> int: ...
        def _explicable(self, X: Any) -> tuple[Any, ...]: ...
        def _shown(self, given: tuple[Any, ...], names: list[str]) -> Any: ...
        def predict_one(self, x: Any) -> Any: ...

    def _output_names(self) -> list[Any]:
        named: list[Any] = vars(self).get("_target_names") or vars(self).get("_targets") or []
        return named if len(named) == self._width() else list(range(self._width()))

    def _output_place(self, output: Any) -> int:
        """The place of the number that is explained: the only one, or that of a name, or the place itself."""
        names = self._output_names()
        if output is None and len(names) == 1:
            return 0
        if output is None:
            raise _mercer.DataError(f"the model predicts {names}; say with output which is explained")
        if output in names:
            return names.index(output)
        if isinstance(output, int) and 0 <= output < len(names):
            return output
        raise _mercer.DataError(f"the model predicts no {output!r}; its targets are {names}")

    def explain_one(self, x: Any, *, output: Any = None, permutations: int = 200) -> Effects:
        """The effect of each column of a row on its prediction: Shapley values, which add up to the prediction with ``base``, the mean prediction
        where no column is known. A column that is not known has the values of a sample of the rows learnt.

        Effects are exact for sums of Gaussian and linear kernels, for random Fourier features, and for learners that are linear in words (``Coin``,
        ``DiagonalKalman``); for others, ``Auto`` among them, they are means over so many `permutations` of the columns, with ``standard_errors``. Of classes they are those on the score, the logit where the loss is logistic: of
        two that of the second, half of the difference that ``decision_function`` tells; of more that of the class predicted. Of several targets
        `output` is the name, or the place from 0, of the one whose prediction is explained.
        """
        self._check_fitted()
        labels, aim = self._met_labels(), 0
        if labels is None:
            aim = self._output_place(output)
        elif output is not None:
            raise _mercer.DataError("the model predicts classes, and output is for several numbers; leave it out")
        elif labels:
            aim = labels.index(_later(labels) if len(labels) == 2 else self.predict_one(x))
        names, bases, made, effects, errors = self._explain_one(x, aim, permutations)
        # By the names that the row has for its columns.
        given = {str(name): name for name in row(x)}
        kept = [place for place, name in enumerate(names) if name != _SHARED or effects[0, place] != 0.0]

        def named(numbers: Floats) -> dict[Any, float]:
            return {given.get(names[place], names[place]): float(numbers[0, place]) for place in kept}

        label = labels[aim] if labels else None
        return Effects(named(effects), float(bases[0]), float(made[0]), None if errors is None else named(errors), label)

    def explain(self, X: Any, *, background: Any = None, permutations: int = 200) -> Any:
        """Effects on the predictions for rows, as a ``shap.Explanation`` where shap is installed, else an object with its attributes: see :meth:`explain_one`.

        Several targets, and more than two classes, each have their effects. Columns that are not known are each as in a sample of the rows learnt; with
        a `background`, rows with the same columns, they stay together as in its rows, which is what SHAP calls interventional.
        """
        self._check_fitted()
        labels, given = self._met_labels(), self._explicable(X)
        aims = list(range(self._width()))
        if labels is not None:
            aims = [labels.index(_later(labels))] if len(labels) == 2 else list(range(len(labels)))
        beside = () if background is None else (self._packed(self._explicable(background)),)
        parts = [self._explain_rows(*given, aim, permutations, *beside) for aim in aims]
        names = parts[0][0]
        kept = [place for place, name in enumerate(names) if name != _SHARED or any(part[3][:, place].any() for part in parts)]
        errors = None if parts[0][4] is None else np.stack([part[4][:, kept] for part in parts], axis=-1)
        values, bases = np.stack([part[3][:, kept] for part in parts], axis=-1), np.stack([part[1] for part in parts], axis=-1)
        if len(aims) == 1:
            values, bases, errors = values[..., 0], bases[:, 0], None if errors is None else errors[..., 0]
        names = [names[place] for place in kept]
        told = labels or self._output_names()
        outputs = None if len(aims) == 1 else [str(told[aim]) for aim in aims]
        return _made(values, bases, self._shown(given, names), names, outputs, errors)

    def _packed(self, given: tuple[Any, ...]) -> Any:
        return given[0] if len(given) == 1 else given


def _later(labels: list[Any]) -> Any:
    """The second of two classes in sorted order."""
    from ._base import sorted_labels

    return sorted_labels(labels)[-1]


def shown_cells(names: list[str] | None, columns: list[list[Any]], wanted: list[str]) -> Any:
    """The cells of a table by the columns of an explanation."""
    places = {name: place for place, name in enumerate(names or [f"x{place}" for place in range(len(columns))])}
    cells = np.empty((len(columns[0]), len(wanted)), dtype=object)
    for column, name in enumerate(wanted):
        place = places.get(name)
        cells[:, column] = None if place is None else columns[place]
    return cells


__all__ = ["Effects", "Explained", "Explanation", "shown_cells"]
