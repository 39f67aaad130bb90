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
    assert plot.residuals(first).lines
    for labels in (c, np.where(c, "b", "a"), np.digitize(y, [0.0, 1.0])):
        assert len(plot.calibration(mercer.KrlsClassifier().fit(X, labels), X, labels).lines) == (2 if labels.dtype != int else 4)
    series = np.sin(0.3 * np.arange(200))
    assert len(plot.forecast(mercer.forecasting.Opf().fit(series), series, 20).lines) == 2
    turn = 0.3 * np.arange(200)
    operator = mercer.KoopmanOperator(kernel="gaussian:1").fit(np.column_stack([np.cos(turn), np.sin(turn)]))
    for one in (plot.spectrum(operator), plot.dictionary(operator), plot.eigenfunction(operator, 1)):
        one.figure.savefig(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 1000
    plt.close("all")
