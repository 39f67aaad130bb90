"""Pictures, where matplotlib is installed."""

from __future__ import annotations

import numpy as np
import pytest

import mercer

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


def test_every_picture_is_drawn(data, tmp_path):
    import matplotlib.pyplot as plt

    from mercer import plot

    X, y, c = data
    first, second = mercer.evaluate(mercer.Krls(), X, y), mercer.evaluate(mercer.Fogd(), X, y)
    axes = plot.learning_curve(first, second, labels=["KRLS", "FOGD"], window=50)
    assert len(axes.lines) == 2
    assert plot.learning_curve(mercer.evaluate(mercer.KrlsClassifier(), X, c)).lines
    assert plot.intervals(mercer.Krls(intervals=0.9).fit(X, y), X[:50], y[:50]).lines
    turn = 0.3 * np.arange(200)
    operator = mercer.KoopmanOperator(kernel="gaussian:1").fit(np.column_stack([np.cos(turn), np.sin(turn)]))
    for one in (plot.spectrum(operator), plot.dictionary(operator), plot.eigenfunction(operator, 1)):
        one.figure.savefig(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 1000
    plt.close("all")
