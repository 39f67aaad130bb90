"""Threads, interrupts and memory."""

from __future__ import annotations

import gc
import os
import resource
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import mercer


def test_eight_threads_predict_while_one_learns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 5))
    y = np.sin(X[:, 0])
    model = mercer.Krls(max_dictionary=100).fit(X[:200], y[:200])
    single = X[0].tolist()
    stop, failures, counts = threading.Event(), [], [0] * 8

    def predict(which):
        try:
            while not stop.is_set():
                assert np.isfinite(model.predict(X[:500])).all() and np.isfinite(model.predict_one(single))
                counts[which] += 1
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=predict, args=(which,)) for which in range(8)]
    for thread in threads:
        thread.start()
    learnt = 200
    while (learnt < 20_000 or min(counts) == 0) and not failures:
        model.partial_fit(X[200:2200], y[200:2200])
        model.learn_one(single, 0.5)
        learnt += 2001
    stop.set()
    for thread in threads:
        thread.join()
    assert not failures
    assert model.rows_learnt == learnt


def test_several_threads_learn_all_rows():
    model = mercer.Fogd(features=64)
    model.learn_one({"a": 0.1, "b": 0.2}, 1.0)

    def learn():
        for _ in range(2000):
            model.learn_one({"a": 0.3, "b": 0.1}, 0.5)

    threads = [threading.Thread(target=learn) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert model.rows_learnt == 8001


INTERRUPTED = """
import numpy as np, os, signal, threading, time, mercer
from mercer.moments import OperatorMoments
X = np.random.default_rng(0).normal(size=(400_000, 8))
y = np.sin(X[:, 0])
model = {model}
# A shell may have its jobs ignore the signal.
signal.signal(signal.SIGINT, signal.default_int_handler)
start = []
def press():
    start.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
threading.Timer(0.5, press).start()
try:
    {call}
except KeyboardInterrupt:
    print("seconds to the interrupt:", round(time.monotonic() - start[0], 2))
    print("rows learnt:", getattr(model, "rows_learnt", None))
    os._exit(0)
os._exit(1)
"""

#: A model, and what it does for longer than a test waits.
CALLS = {
    "tune": ("mercer.Krls()", "mercer.tune(model, X, y, trials=5000)"),
    "tune experts": ("mercer.Experts()", "mercer.tune(model, X, y, trials=5000)"),
    "tune classes": ("mercer.KrlsClassifier()", "mercer.tune(model, X, y > 0, trials=5000)"),
    "fit": ('mercer.Krls(kernel="gaussian:0.3", nu=1e-9, max_dictionary=None)', "model.fit(X, y)"),
    "evaluate": ("mercer.Auto(budget=10**9)", "mercer.evaluate(model, X, y)"),
    "fit a pipeline": ("mercer.Pipeline(mercer.Auto(budget=10**8))", "model.fit(X, y)"),
    "predict": (
        'mercer.Krls(kernel="gaussian:0.3", nu=1e-9, max_dictionary=2000).fit(X[:2000], y[:2000])',
        "model.predict(X, return_std=True)",
    ),
    "pairs": ('mercer.KoopmanOperator(kernel="gaussian:0.5", max_dictionary=5000, budget=1e-9)', "model.fit(X)"),
    "eigenvalues": ('OperatorMoments("fourier", features=2000).fit(X[:40])', "model.eigenvalues_"),
    "series": ("mercer.forecasting.Experts()", "model.fit(X)"),
    "series of many columns": ("mercer.forecasting.Experts(beta=8)", "model.fit(np.hstack([X, X]))"),
    "a large system": ("mercer.forecasting.Kalman(A=0.9 * np.eye(800), C=X[:1, :1] * np.ones((1, 800)), Q=np.eye(800), R=np.eye(1))", "model.fit(X[:, 0])"),
    "filters": ("mercer.forecasting.Slip(horizon=4000)", "model.fit(X[:, 0])"),
    "sums of an operator": ("mercer.operators.OperatorSums(max_dictionary=1500)", "model.fit(X)"),
    "forecast": ("mercer.forecasting.Experts().fit(X[:2000, 0])", "model.predict(30_000_000)"),
    "sums": ('mercer.RidgeMoments("pkrr-fourier", features=200)', "[model.partial_fit(X, y) for _ in range(1000)]"),
    "path": ('mercer.RidgeMoments("pkrr-fourier", features=2000, lambda_=None).fit(X[:40], y[:40])', "model.predict(X[:1])"),
}


@pytest.mark.skipif(not hasattr(signal, "SIGINT") or os.name == "nt", reason="signals of Unix")
@pytest.mark.parametrize("name", CALLS)
def test_every_long_call_is_interrupted(name):
    """``pytest -rP`` shows how soon."""
    model, call = CALLS[name]
    done = subprocess.run([sys.executable, "-c", INTERRUPTED.format(model=model, call=call)], capture_output=True, text=True, timeout=240)
    print(done.stdout)
    assert done.returncode == 0 and done.stdout.startswith("seconds to the interrupt"), done.stderr
    if name == "fit":
        # What was learnt stays learnt.
        assert 0 < int(done.stdout.split()[-1]) < 400_000


def test_tuning_ends_at_its_time_limit():
    X = np.random.default_rng(0).normal(size=(30_000, 8))
    y = np.sin(X[:, 0])
    limit, found = 1.0, None
    while found is None:
        # On a machine with other work a pass may take longer.
        try:
            found = mercer.tune(mercer.Krls(), X, y, trials=5000, time_limit=limit)
        except mercer.SettingsError:
            limit *= 2
    assert 0 < len(found.trials) < 5000 and found.score == found.trials[0].score
    assert found.best.get_params() == found.trials[0].params
    with pytest.raises(mercer.SettingsError, match="time limit"):
        mercer.tune(mercer.Krls(), X, y, time_limit=0.0)


def test_tuning_tells_its_progress(capsys):
    X = np.random.default_rng(0).normal(size=(4000, 4))
    y = np.sin(X[:, 0])
    heard = []
    found = mercer.tune(mercer.Krls(), X, y, trials=40, progress=lambda done, best: heard.append((done, best)))
    assert heard and [done for done, _ in heard] == sorted({done for done, _ in heard}) and heard[-1][1] >= found.score
    assert mercer.tune(mercer.Krls(), X, y, trials=40, progress=True).best.get_params() == found.best.get_params()
    assert "score" in capsys.readouterr().err

    def stop(done, best):
        raise InterruptedError("enough")

    with pytest.raises(InterruptedError, match="enough"):
        mercer.tune(mercer.Krls(), X, y, trials=40, progress=stop)


def test_memory_does_not_grow():
    model = mercer.Fogd(features=16)
    x = {"a": 0.1, "b": 0.2}
    X = {"a": np.zeros(100), "b": np.zeros(100)}
    target = np.zeros(100)

    def calls(count):
        for t in range(count):
            model.learn_one(x, 0.5)
            model.predict_one(x)
            if t % 100 == 0:
                model.partial_fit(X, target)
                model.predict(X)
                with pytest.raises(ValueError):
                    model.learn_one({"a": "text"}, 0.5)

    calls(20_000)
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    calls(200_000)
    gc.collect()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4096
