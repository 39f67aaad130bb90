"""What models have in common whose state is in the extension: fitted or not, pickles, files, intervals."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from . import _mercer, _own
from ._compat import not_fitted
from ._data import Floats, named


class Pickled:
    """A model with a state in the extension, which is there once it was begun."""

    if TYPE_CHECKING:
        # What the extension gives.
        @property
        def _is_made(self) -> bool: ...
        def _reset(self) -> None: ...
        def _set_bytes(self, *args: Any, **kwargs: Any) -> None: ...
        def to_bytes(self) -> bytes: ...

    #: What begins it.
    _begun_by = "'fit', 'partial_fit' or 'learn_one'"

    def __sklearn_is_fitted__(self) -> bool:
        return self._is_made

    def _check_fitted(self) -> None:
        if not self._is_made:
            raise not_fitted(f"This {type(self).__name__} instance is not fitted yet. Call {self._begun_by} first.")

    def _inside(self) -> tuple[Any, ...]:
        """The state, as :meth:`_set_inside` takes it."""
        return (self.to_bytes(),)

    def _set_inside(self, *inside: Any) -> None:
        self._set_bytes(*inside)

    @contextmanager
    def _restored(self) -> Iterator[None]:
        """Lets the model be begun anew; after an error all is as before."""
        before, state = dict(vars(self)), self._inside() if self._is_made else None
        try:
            yield
        except Exception:
            self._reset()
            vars(self).clear()
            vars(self).update(before)
            if state is not None:
                self._set_inside(*state)
            raise

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, **({"_state": self._inside()} if self._is_made else {})}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        inside = state.pop("_state", None)
        self.__dict__.update(state)
        if inside is not None:
            self._set_inside(*inside)


class Stored(Pickled):
    """A model that the ``mercer`` command and the Rust library have files for."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to a file that the ``mercer`` command and the Rust library read; the parameters that made it are in it.

        A file that is there stays as it is if this fails, and is not replaced while another process learns it.
        """
        _mercer.write_model(path, self.to_bytes())

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """The model of a file's bytes."""
        model = cls()
        model._set_bytes(data)
        model._take_description()
        return model

    def _own(self) -> list[tuple[str, str]]:
        """What Python keeps for itself in the file: the parameters as they were given, and more."""
        kept = {"parameters": self.get_params(deep=False), **self._more_kept()}  # type: ignore[attr-defined]
        return [(key, _own.to_text(value)) for key, value in kept.items()]

    def _more_kept(self) -> dict[str, Any]:
        return {}

    def _take_kept(self, kept: list[tuple[str, str]]) -> dict[str, Any]:
        """What Python has kept, nothing in a file of another program; the parameters are set."""
        # What stands for no value is the command's to keep.
        read = {key: _own.of_text(text) for key, text in kept if key != "gaps"}
        known = self.get_params(deep=False)  # type: ignore[attr-defined]
        for name, value in read.get("parameters", {}).items():
            if name not in known:
                raise _mercer.ModelFileError(f"the model was made with {name}={value!r}, and {type(self).__name__} has no such parameter; use mercer.load")
            setattr(self, name, value)
        return read

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The model of a file, by :meth:`save` or by the ``mercer`` command."""
        with open(path, "rb") as file:
            return cls.from_bytes(file.read())

    def _take_description(self) -> None:
        """Parameters as the file tells them."""


class Explained:
    """A model that predicts rows of named features."""

    if TYPE_CHECKING:

        def predict_one(self, x: Any) -> Any: ...

    def explain_one(self, x: Any) -> dict[Any, float]:
        """What each feature of a row does to its prediction: the prediction, less the one that is made without the feature. In a pipeline it is then
        missing, and 0 otherwise, the mean of standardised inputs. Of classes it is the probability of the class predicted."""
        row = named(x)
        guess = self.predict_one(row)

        def value(row: dict[Any, Any]) -> float:
            one = getattr(self, "predict_proba_one", self.predict_one)(row)
            made = one.get(guess, 0.0) if hasattr(type(self), "predict_proba_one") else one
            if not isinstance(made, float):
                raise _mercer.DataError("explain_one is for one target")
            return made

        whole = value(row)
        return {name: whole - value({other: cell for other, cell in row.items() if other != name}) for name in row}


class Covered:
    """A model with intervals around its predictions."""

    if TYPE_CHECKING:
        # What the extension gives.
        @property
        def _coverage(self) -> list[float] | None: ...

    @property
    def coverage_(self) -> float | list[float]:
        """The share of the targets so far that lay in their intervals, which were made before; one number a target."""
        held = self._coverage
        if held is None:
            raise AttributeError("coverage_: the model has no intervals")
        return held[0] if len(held) == 1 else held


def ends(made: Floats, reach: Floats) -> Floats:
    """Ends of the intervals that go so far below and above each number, ``(rows, 2)``, or ``(rows, targets, 2)`` for several targets."""
    both = np.stack([made - reach[:, ::2], made + reach[:, 1::2]], axis=-1)
    return both[:, 0] if made.shape[1] == 1 else both
