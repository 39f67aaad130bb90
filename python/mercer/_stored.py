"""What models have in common whose state is in the extension: fitted or not, pickles, files, intervals."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from . import _mercer, _own
from ._compat import not_fitted
from ._intake import Floats, aligned, noted


class Pickled:
    """A model with a state in the extension, which is there once it was begun."""

    if TYPE_CHECKING:
        # What the extension gives.
        @property
        def _is_made(self) -> bool: ...
        def _take_over(self, other: Any) -> None: ...
        def _set_bytes(self, *args: Any, **kwargs: Any) -> None: ...
        def to_bytes(self) -> bytes: ...

    #: What begins it.
    _begun_by = "'fit', 'partial_fit' or 'learn_one'"

    def __sklearn_is_fitted__(self) -> bool:
        return self._is_made

    def _check_fitted(self) -> None:
        if not self._is_made:
            raise not_fitted(f"This {type(self).__name__} instance is not fitted yet. Call {self._begun_by} first.")

    def _states(self, X: Any) -> Floats:
        """Rows, in the order of the columns of those that were learnt."""
        self._check_fitted()
        return aligned(self, X, noted(self))

    def _inside(self) -> tuple[Any, ...]:
        """The state, as :meth:`_set_inside` takes it."""
        return (self.to_bytes(),)

    def _set_inside(self, *inside: Any) -> None:
        self._set_bytes(*inside)

    @contextmanager
    def _renewed(self, anew: bool, whole: bool = True) -> Iterator[Self]:
        """The model to learn with: this one, or `anew` a fresh one that takes its place when all is learnt, so that this one answers until then.
        After an error all is as before; where nothing was learnt before, what a signal (and unless `whole` an error) leaves is kept."""
        if not anew:
            yield self
            return
        fresh = type(self).__new__(type(self))
        vars(fresh).update(vars(self))
        try:
            yield fresh
        except BaseException as error:
            if not self._is_made and (not whole or not isinstance(error, Exception)) and getattr(fresh, "rows_learnt", False):
                self._adopt(fresh)
            raise
        self._adopt(fresh)

    def _adopt(self, fresh: Self) -> None:
        """Takes over what another has learnt."""
        self._take_over(fresh)
        theirs = vars(fresh)
        for name in vars(self).keys() - theirs.keys():
            del vars(self)[name]
        vars(self).update(theirs)

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
    def from_bytes(cls, data: bytes | bytearray | memoryview) -> Self:
        """The model of a file's bytes."""
        data, model = bytes(data), cls()
        model._set_bytes(data)
        model._take_description()
        return model

    def _own(self) -> list[tuple[str, str]]:
        """What Python keeps for itself in the file: the parameters as they were given, and more."""
        kept = {"parameters": self.get_params(deep=False), **self._more_kept()}  # type: ignore[attr-defined]
        if "_output_names" in vars(self):
            kept["outputs"] = vars(self)["_output_names"]
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
        if "outputs" in read:
            self._output_names = read["outputs"]
        return read

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The model of a file, by :meth:`save` or by the ``mercer`` command."""
        with open(path, "rb") as file:
            return cls.from_bytes(file.read())

    def _take_description(self) -> None:
        """Parameters as the file tells them."""


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
