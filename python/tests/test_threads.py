"""Threads, interrupts and memory."""

from __future__ import annotations

import gc
import os
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time

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
    end = time.monotonic() + 4
    learnt = 200
    while time.monotonic() < end and not failures:
        model.partial_fit(X[200:2200], y[200:2200])
        model.learn_one(single, 0.5)
        learnt += 2001
    stop.set()
    for thread in threads:
        thread.join()
    assert not failures
    assert min(counts) > 0 and learnt > 2500 and model.rows_learnt == learnt


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


@pytest.mark.skipif(not hasattr(signal, "SIGINT") or os.name == "nt", reason="signals of Unix")
def test_long_batches_are_interrupted():
    code = textwrap.dedent(
        """
        import numpy as np, os, signal, threading, time, mercer
        X = np.random.default_rng(0).normal(size=(400_000, 8))
        model = mercer.Krls(kernel="gaussian:0.3", nu=1e-9)
        threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        start = time.monotonic()
        try:
            model.fit(X, X[:, 0])
        except KeyboardInterrupt:
            took = time.monotonic() - start
            assert took < 4, took
            assert 0 < model.rows_learnt < 400_000
            model.predict(X[:5])
            print("interrupted")
        """
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "interrupted", done.stderr


INTERRUPTED = """
import numpy as np, os, signal, threading, time, mercer
X = np.random.default_rng(0).normal(size=(60_000, 8))
y = np.sin(X[:, 0])
table = [dict(zip("abcdefgh", row)) for row in X.tolist()]
start = []
def press():
    start.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
threading.Timer(1.0, press).start()
try:
    {call}
except KeyboardInterrupt:
    took = time.monotonic() - start[0]
    assert took < 1.5, took
    print("interrupted")
"""


@pytest.mark.skipif(not hasattr(signal, "SIGINT") or os.name == "nt", reason="signals of Unix")
@pytest.mark.parametrize(
    "call",
    [
        'mercer.tune(mercer.Krls(), X, y, trials=500)',
        'mercer.tune(mercer.Experts(), X, y, trials=500)',
        'mercer.tune(mercer.KrlsClassifier(), X, y > 0, trials=500)',
        'mercer.evaluate(mercer.Auto(), X, y)',
        'mercer.Pipeline(mercer.Auto()).fit(table, y)',
        'model = mercer.Krls(kernel="gaussian:0.3", nu=1e-9).fit(X[:2000], y[:2000]); [model.predict(X, return_std=True) for _ in range(100)]',
        'mercer.KoopmanOperator(kernel="gaussian:0.5", max_dictionary=3000).fit(X)',
        'mercer.forecasting.Experts().fit(X)',
        '[mercer.RidgeMoments(learner="pkrr-fourier", features=500).fit(X, y) for _ in range(100)]',
    ],
    ids=lambda call: call.split("(")[0] + call.split("(")[1].removeprefix("mercer."),
)
def test_every_long_call_is_interrupted(call):
    done = subprocess.run([sys.executable, "-c", INTERRUPTED.format(call=call)], capture_output=True, text=True, timeout=240)
    assert done.stdout.strip() == "interrupted", done.stderr


def test_tuning_ends_at_its_time_limit():
    X = np.random.default_rng(0).normal(size=(30_000, 8))
    y = np.sin(X[:, 0])
    start = time.monotonic()
    found = mercer.tune(mercer.Krls(), X, y, trials=200, time_limit=2.0)
    assert time.monotonic() - start < 6 and found.trials and found.score == found.trials[0].score
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
    X = np.zeros((100, 2))
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
