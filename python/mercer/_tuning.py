"""Settings that suit the data."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from . import _intake, _mercer
from ._base import KernelClassifier, Learner, read, sorted_labels, whole
from ._notes import shown
from .pipeline import Pipeline


@dataclass(frozen=True)
class Trial:
    """One point of the search."""

    #: The parameters, as the class of the learner takes them.
    params: dict[str, Any]
    #: The rows on which it was scored.
    rows: int
    #: The mean squared error, or the share of wrong classes, of predictions made before their row was learnt.
    score: float


M = TypeVar("M", bound="Learner | Pipeline")


@dataclass(frozen=True)
class Tuning(Generic[M]):
    """What a search found."""

    #: An untrained learner with the best settings.
    best: M
    #: Its score on all rows.
    score: float
    #: All trials, best first: those on more rows before those on fewer.
    trials: list[Trial]


def tune(
    model: M, X: Any, y: Any, *, trials: int = 64, seed: int = 0, threads: int | None = None, skip: int = 0,
    time_limit: float | None = None, progress: bool | Callable[[int, float], object] = False,
) -> Tuning[M]:  # fmt: skip
    """Looks for the width of the kernel and for the keys worth tuning, by passes over the rows in their order.

    Of a pipeline it is the learner that is tuned, on the numbers that the encoding makes of each row. What the model sets itself, to other values
    than the defaults, is kept. The search does not depend on the number of threads. After
    `time_limit` seconds it ends with the best of what was scored so far, which may be a pass over the first rows only. With `progress` a line tells
    the passes done and the best score; a function is called with these two instead.

    >>> import numpy as np, mercer
    >>> X = np.random.default_rng(1).uniform(size=(600, 2))
    >>> found = mercer.tune(mercer.Krls(), X, np.sin(8 * X[:, 0]), trials=8)
    >>> found.score < 0.1
    True
    """
    if not isinstance(model, Learner | Pipeline):
        raise _mercer.SettingsError(f"{type(model).__name__} is no learner of the catalogue and no Pipeline; there is nothing here to tune")
    numbers = whole("trials", trials, 1), whole("seed", seed)
    cores = (os.cpu_count() or 1) if threads is None else whole("threads", threads, 1)
    if time_limit is not None and not time_limit > 0:
        raise _mercer.SettingsError(f"the time limit is {time_limit!r}; give seconds above 0")
    learner: Any = model._checked() if isinstance(model, Pipeline) else model
    rows, y = model._encoded(X, y) if isinstance(model, Pipeline) else (_intake.finite(X), y)
    if not 0 <= skip < len(rows):
        raise ValueError(f"skip is {skip!r}, and there are {len(rows)} rows; some must be left to count")
    labels, unit = 0, 1.0
    if isinstance(learner, KernelClassifier):
        # Two classes have the order of their size, more that in which they are met.
        given = _intake.labels(y)
        classes = list(dict.fromkeys(given))
        labels = len(classes)
        codes = {label: place for place, label in enumerate(classes if labels > 2 else sorted_labels(classes))}
        targets = np.array([codes[label] for label in given], dtype=np.float64)
    else:
        targets = _intake.vector(y)
        if isinstance(model, Pipeline) and model.scale != "none" and targets.std() > 0:
            # Behind an encoding a learner has targets without a unit.
            unit = float(targets.std())
            targets = (targets - targets.mean()) / unit
    name, pairs, kernel, _ = learner._settings()
    with shown(progress) as report:
        found = _mercer.tune(name, pairs, kernel, rows, targets, labels, *numbers, cores, skip, time_limit, report)
    keys = {key: (attribute, default) for attribute, key, default in learner._keys}
    made = []
    for spec, chosen, count, score in found:
        params: dict[str, Any] = {"kernel": spec} if hasattr(learner, "kernel") else {}
        for pair in chosen:
            key, value = pair.split("=", 1)
            attribute, default = keys[key]
            params[attribute] = read(value, default)
        params = {**learner.get_params(deep=False), **params}
        if isinstance(model, Pipeline):
            params = {**model.get_params(deep=False), "learner": type(learner)(**params)}  # type: ignore[attr-defined]
        made.append(Trial(params, count, score * unit**2))
    return Tuning(type(model)(**made[0].params), made[0].score, made)
