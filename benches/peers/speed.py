"""Steps a second of river or scikit-learn on a stream of `cargo xtask bench-report`.

Usage: python speed.py river|sklearn version
       python speed.py river|sklearn krls|fogd STREAM

The stream is a file of little-endian doubles, as benches/src/peer.rs writes
it: J, the number of examples, d, then J anchors and the examples, each d
coordinates and a target. The model learns the anchors; then every example is
predicted and learnt, row by row, over and over for a second. Printed is the
rate of the fastest 64 successive examples.

fogd: random Fourier features of a Gaussian of width 1, J frequencies, and a
gradient step on the squared loss. Both libraries use one cosine a frequency,
with a random phase, where Mercer uses a sine and a cosine. Neither library has
kernel recursive least squares, so the answer to krls is "none".
"""

import math
import os
import sys
import time

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402

WIDTH = 1.0
BATCH = 64
STEP = 0.01


def stream(path):
    """Return J, and inputs and targets of anchors and then of examples."""
    numbers = np.fromfile(path, dtype="<f8")
    size, dimension = int(numbers[0]), int(numbers[2])
    rows = numbers[3:].reshape(-1, dimension + 1)
    return size, rows[:, :-1], rows[:, -1]


def of_river(size):
    """Return river's version, and a function that predicts and learns."""
    import river
    from river import feature_extraction, linear_model, optim

    if size is None:
        return river.__version__, None
    model = feature_extraction.RBFSampler(
        gamma=1 / (2 * WIDTH**2), n_components=size, seed=1
    ) | linear_model.LinearRegression(optimizer=optim.SGD(STEP))

    def step(x, y):
        model.predict_one(x)
        model.learn_one(x, y)

    return river.__version__, step


def of_sklearn(size):
    """Return scikit-learn's version, and a function that predicts and learns."""
    import sklearn
    from sklearn.kernel_approximation import RBFSampler
    from sklearn.linear_model import SGDRegressor

    if size is None:
        return sklearn.__version__, None
    sampler = RBFSampler(gamma=1 / (2 * WIDTH**2), n_components=size, random_state=1)
    model = SGDRegressor(learning_rate="constant", eta0=STEP, penalty=None)
    state = {"new": True}

    def step(x, y):
        if state["new"]:
            sampler.fit(x)
        z = sampler.transform(x)
        if not state["new"]:
            model.predict(z)
        model.partial_fit(z, y)
        state["new"] = False

    return sklearn.__version__, step


def rate(step, rows, size):
    """Return the steps a second of the fastest batch."""
    for x, y in rows[:size]:
        step(x, y)
    examples = rows[size:]
    best, start = math.inf, time.perf_counter()
    while time.perf_counter() - start < 1.0:
        for first in range(0, len(examples) - BATCH + 1, BATCH):
            clock = time.perf_counter()
            for x, y in examples[first : first + BATCH]:
                step(x, y)
            now = time.perf_counter()
            best = min(best, now - clock)
            if now - start > 1.0:
                break
    return BATCH / best


def main():
    """Read the command line and print the answer."""
    package, what = sys.argv[1:3]
    make = {"river": of_river, "sklearn": of_sklearn}[package]
    if what == "version":
        print(make(None)[0])
        return
    if what != "fogd":
        print("none")
        return
    size, inputs, targets = stream(sys.argv[3])
    if package == "river":
        rows = [(dict(enumerate(x)), y) for x, y in zip(inputs.tolist(), targets.tolist())]
    else:
        rows = [(x[None, :], y[None]) for x, y in zip(inputs, targets)]
    print(f"{rate(make(size)[1], rows, size):.1f}")


if __name__ == "__main__":
    main()
