"""What operators that are learnt from pairs of a state and its successor have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from . import _intake, _mercer
from ._compat import BaseEstimator
from ._intake import Floats
from ._stored import Pickled


def states(x: Any) -> tuple[Any, bool]:
    """States as the rows of a table, and whether it is one alone: a vector, a series, or a mapping of numbers."""
    if _intake.is_mapping(x):
        single = not any(map(np.ndim, x.values()))
    else:
        single = np.ndim(x) == 1 and not _intake.is_rows(x)
    if not single:
        return x, False
    return [x if isinstance(x, (list, tuple, np.ndarray)) else _intake.row(x)], True


class Paired(Pickled, BaseEstimator):
    """An operator that is learnt from pairs."""

    n_features_in_: int

    if TYPE_CHECKING:
        # What the extension gives.
        def _facts(self) -> Any: ...
        def _learn_rows(self, x: Floats, y: Floats) -> None: ...

    def _begin_with(self, x: Floats, y: Floats) -> None:
        """Makes the state for such pairs."""
        raise NotImplementedError

    def fit(self, X: Any, Y: Any = None) -> Self:
        """Forgets everything, then learns pairs: row `t` of `X` with row `t` of `Y`, or with row `t + 1` of `X`, a trajectory, if there is no `Y`."""
        with self._renewed(True) as model:
            model._learn(*model._pairs(X, Y, True))
        return self

    def partial_fit(self, X: Any, Y: Any = None) -> Self:
        """Learns further pairs, in their order."""
        if not self._is_made:
            return self.fit(X, Y)
        return self._learn(*self._pairs(X, Y, False))

    def _learn(self, x: Floats, y: Floats) -> Self:
        if not self._is_made:
            self._begin_with(x, y)
        self._learn_rows(x, y)
        return self

    def _pairs(self, X: Any, Y: Any, fresh: bool) -> tuple[Floats, Floats]:
        """States and successors as tables of finite numbers, the columns of both in the order of the first states."""
        if fresh:
            x = _intake.finite(X)
            _intake.note(self, _intake.frame(X), x.shape[1])
        else:
            x = _intake.aligned(self, X, _intake.noted(self))
        if Y is None:
            if len(x) < 2:
                raise ValueError("1 sample is no trajectory: give two states or more, or their successors Y")
            return np.ascontiguousarray(x[:-1]), np.ascontiguousarray(x[1:])
        names, own = _intake.names_of(_intake.frame(Y)), _intake.noted(self)
        y = _intake.table(Y) if names is not None else _intake.numbers(Y)
        y = y.reshape(-1, 1) if y.ndim == 1 else y
        if not np.isfinite(y).all():
            raise ValueError("Input Y contains NaN or infinity; drop these pairs.")
        if names is not None and "feature_names_in_" in vars(self):
            # Inputs may stand behind the state, and have no successors.
            state = own[: y.shape[1]]
            if sorted(names) != sorted(state):
                raise _mercer.DataError(f"the successors are {', '.join(names)}, and the states {', '.join(state)}; give them the same names")
            y = np.ascontiguousarray(y[:, [names.index(name) for name in state]])
        return x, y

    def _more_kept(self) -> dict[str, Any]:
        return {"feature_names_in_": vars(self)["feature_names_in_"]} if "feature_names_in_" in vars(self) else {}

    def _take_kept(self, kept: list[tuple[str, str]]) -> dict[str, Any]:
        read: dict[str, Any] = super()._take_kept(kept)  # type: ignore[misc]
        self.n_features_in_ = self._facts()[0]
        if "feature_names_in_" in read:
            self.feature_names_in_ = read["feature_names_in_"]
        return read


class Stepping(Paired):
    """An operator that tells what comes after a state."""

    if TYPE_CHECKING:

        def forecast(self, x: Any) -> Any: ...

    def predict(self, X: Any) -> Floats:
        """The expected successors of states."""
        rows, single = states(X)
        if single and isinstance(X, (list, tuple, np.ndarray)):
            # scikit-learn's estimators refuse a vector without names.
            rows = self._states(X)
        made: Floats = self.forecast(rows)[:, 0]
        return made[0] if single else made
