"""Settings that suit the data."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _data, _mercer
from ._base import KernelClassifier, Learner, read, whole
from ._notes import shown


@dataclass(frozen=True)
class Trial:
    """One point of the search."""

    #: The parameters, as the class of the learner takes them.
    params: dict[str, Any]
    #: The rows on which it was scored.
    rows: int
    #: The mean squared error, or the share of wrong classes, of predictions made before their row was learnt.
    score: float


@dataclass(frozen=True)
class Tuning:
    """What a search found."""

    #: An untrained learner with the best settings.
    best: Any
    #: Its score on all rows.
    score: float
    #: All trials, best first: those on more rows before those on fewer.
    trials: list[Trial]


def tune(
    model: Learner, X: Any, y: Any, *, trials: int = 64, seed: int = 0, threads: int | None = None, skip: int = 0,
    time_limit: float | None = None, progress: bool | Callable[[int, float], object] = False,
) -> Tuning:  # fmt: skip
    """Looks for the width of the kernel and for the keys worth tuning, by passes over the rows in their order.

    What the model sets itself, to other values than the defaults, is kept. The search does not depend on the number of threads. After
    `time_limit` seconds it ends with the best of what was scored so far, which may be a pass over the first rows only. With `progress` a line tells
    the passes done and the best score; a function is called with these two instead.

    >>> import numpy as np, mercer
    >>> X = np.random.default_rng(1).uniform(size=(600, 2))
    >>> found = mercer.tune(mercer.Krls(), X, np.sin(8 * X[:, 0]), trials=8)
    >>> found.score < 0.1
    True
    """
    rows = _data.finite(X)
    if not 0 <= skip < len(rows):
        raise ValueError(f"skip is {skip!r}, and there are {len(rows)} rows; some must be left to count")
    labels = 0
    if isinstance(model, KernelClassifier):
        classes, codes = np.unique(np.asarray(y), return_inverse=True)
        labels = len(classes)
        if labels > 2:
            # Classes join in the order in which they are met.
            _, first = np.unique(codes, return_index=True)
            order = np.empty(labels, dtype=int)
            order[np.argsort(first)] = np.arange(labels)
            codes = order[codes]
        targets = _data.vector(codes)
    else:
        targets = _data.vector(y)
    name, pairs, kernel, _ = model._settings()
    cores = threads or os.cpu_count() or 1
    numbers = whole("trials", trials, 1), whole("seed", seed)
    with shown(progress) as report:
        found = _mercer.tune(name, pairs, kernel, rows, targets, labels, *numbers, cores, skip, time_limit, report)
    keys = {key: (attribute, default) for attribute, key, default in model._keys}
    made = []
    for spec, chosen, count, score in found:
        params: dict[str, Any] = {"kernel": spec} if hasattr(model, "kernel") else {}
        for pair in chosen:
            key, value = pair.split("=", 1)
            attribute, default = keys[key]
            params[attribute] = read(value, default)
        made.append(Trial({**model.get_params(), **params}, count, score))
    return Tuning(type(model)(**made[0].params), made[0].score, made)
