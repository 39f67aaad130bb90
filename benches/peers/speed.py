"""Rows a second of other libraries in Python on a stream of `cargo xtask bench-report`.

Usage: python speed.py PROGRAM version
       python speed.py PROGRAM TASK STREAM

The stream is a file of little-endian doubles, as benches/src/peer.rs writes
it: J, the number of examples, d, then J anchors and the examples, each d
coordinates and a target. benches/README.md says what the tasks are. Printed is
the rate of the fastest batch of 64 successive examples within a second, or
`none` if the program has no such task. Everything runs on one thread.
"""

import os
import sys
import time

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
# A kernel that somebody chose for an older OpenBLAS slows a current one, which knows the processor.
for _name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(_name, None)

import importlib.metadata  # noqa: E402

import numpy as np  # noqa: E402

WIDTH = 1.0  # of the Gaussian of krls and fogd
STATES = 0.5  # of that of the operator
BIAS = 0.01  # what dlib adds to its kernel, and so does Mercer here
STEP = 0.01
BATCH = 64
SEASON = 12


def stream(path):
    """Return J, and inputs and targets of anchors and then of examples."""
    numbers = np.fromfile(path, dtype="<f8")
    size, dimension = int(numbers[0]), int(numbers[2])
    rows = numbers[3:].reshape(-1, dimension + 1)
    return size, rows[:, :-1], rows[:, -1]


def fastest(run, batches, rows=BATCH):
    """Return the rows a second of the fastest run, over the batches again and again for a second."""
    best, start = float("inf"), time.perf_counter()
    while True:
        for batch in batches:
            clock = time.perf_counter()
            run(*batch)
            now = time.perf_counter()
            best = min(best, now - clock)
            if now - start > 1.0:
                return rows / best


def batches(size, *columns):
    """Return whole batches of the examples, of each column."""
    count = (len(columns[0]) - size) // BATCH
    cut = [[column[size + BATCH * i : size + BATCH * (i + 1)] for column in columns] for i in range(count)]
    return cut


def singly(step):
    """Return a function that takes the rows of a batch one after the other."""

    def run(*columns):
        for row in zip(*columns):
            step(*row)

    return run


def gaussian(x, z, width):
    """Return the kernel matrix of two sets of rows."""
    squares = (x * x).sum(1)[:, None] + (z * z).sum(1) - 2 * (x @ z.T)
    return np.exp(squares / (-2 * width**2))


def frequencies(size, dimension):
    """Return random frequencies of a Gaussian."""
    return np.random.default_rng(1).normal(size=(dimension, size)) / WIDTH


def features(x, omega):
    """Return a cosine and a sine a frequency."""
    angles = x @ omega
    return np.hstack([np.cos(angles), np.sin(angles)]) / np.sqrt(omega.shape[1])


def numpy_krls(size, x, y, learns):
    """Least squares on kernel rows; 64 rounds are one update of the matrix, with the innovations of single rounds."""
    anchors = x[:size]
    inverse = np.linalg.inv(gaussian(anchors, anchors, WIDTH) + BIAS)
    state = {"w": inverse @ y[:size], "p": inverse @ inverse}

    def predict(x, y):
        return (gaussian(x, anchors, WIDTH) + BIAS) @ state["w"]

    def learn(x, y):
        rows = gaussian(x, anchors, WIDTH) + BIAS
        seen = state["p"] @ rows.T
        factor = np.linalg.cholesky(rows @ seen + np.eye(len(y)))
        scaled = np.linalg.solve(factor, np.column_stack([y - rows @ state["w"], seen.T]))
        errors, gains = scaled[:, 0], scaled[:, 1:]
        state["w"] += gains.T @ errors
        state["p"] -= gains.T @ gains
        return y - np.diag(factor) * errors

    return learn if learns else predict


def numpy_fogd(size, x, y, learns):
    """Gradient steps on random features: the errors of 64 rounds solve one triangular system."""
    omega, state = frequencies(size, x.shape[1]), {"w": np.zeros(2 * size)}

    def predict(x, y):
        return features(x, omega) @ state["w"]

    def learn(x, y):
        rows = features(x, omega)
        before = np.eye(len(y)) + 2 * STEP * np.tril(rows @ rows.T, -1)
        errors = np.linalg.solve(before, y - rows @ state["w"])
        state["w"] += 2 * STEP * rows.T @ errors
        return y - errors

    return learn if learns else predict


def of_numpy(task, size, x, y):
    """Recursions in blocks of 64 on numpy's BLAS."""
    make = {"krls": numpy_krls, "fogd": numpy_fogd}[task.removesuffix("-predict")]
    return fastest(make(size, x, y, not task.endswith("-predict")), batches(size, x, y))


def of_river(task, size, x, y):
    """One cosine a frequency with a random phase, row by row."""
    from river import feature_extraction, linear_model, optim

    sampler = feature_extraction.RBFSampler(gamma=1 / (2 * WIDTH**2), n_components=size, seed=1)
    model = sampler | linear_model.LinearRegression(optimizer=optim.SGD(STEP))
    rows, targets = [dict(enumerate(row)) for row in x.tolist()], y.tolist()
    for row, target in zip(rows[:size], targets):
        model.learn_one(row, target)

    def step(row, target):
        model.predict_one(row)
        model.learn_one(row, target)

    run = (lambda row, target: model.predict_one(row)) if task.endswith("-predict") else step
    return fastest(singly(run), batches(size, rows, targets))


def of_sklearn(task, size, x, y, together=1):
    """One cosine a frequency with a random phase; a kernel expansion on the anchors for predictions of krls."""
    from sklearn.kernel_approximation import RBFSampler
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.linear_model import SGDRegressor

    gamma = 1 / (2 * WIDTH**2)
    if task == "krls-predict":
        expansion = KernelRidge(kernel="rbf", gamma=gamma).fit(x[:size], y[:size])
        run = lambda x, y: expansion.predict(x)
    else:
        sampler = RBFSampler(gamma=gamma, n_components=size, random_state=1).fit(x)
        model = SGDRegressor(learning_rate="constant", eta0=STEP, penalty=None, shuffle=False)
        model.partial_fit(sampler.transform(x[:size]), y[:size])

        def run(x, y):
            z = sampler.transform(x)
            model.predict(z)
            if task == "fogd":
                model.partial_fit(z, y)

    if together > 1:
        return fastest(run, batches(size, x, y))
    return fastest(singly(lambda x, y: run(x[None, :], np.array([y]))), batches(size, x, y))


def of_vw(task, size, x, y):
    """Gradient steps on features that are computed and parsed beforehand: it has no random features of its own."""
    import pylibvw
    from vowpalwabbit import pyvw

    model = pyvw.Workspace(f"--quiet --sgd --learning_rate {STEP} --power_t 0 --noconstant")
    rows = features(x, frequencies(size, x.shape[1]))
    texts = (" ".join(f"{i}:{value:.6f}" for i, value in enumerate(row)) for row in rows)
    examples = [model.parse(f"{target:.6f} | {text}") for target, text in zip(y, texts)]
    for example in examples[:size]:
        model.learn(example)
    # Without the checks in Python; a step of its own is a prediction first.
    run = pylibvw.vw.predict if task.endswith("-predict") else pylibvw.vw.learn
    return fastest(singly(lambda example: run(model, example)), batches(size, examples))


def of_statsforecast(task, size, x, y, method="ets", refitted=True):
    """The next row of a series that has grown by one, with a fit at each or with the first fit."""
    from statsforecast.models import AutoARIMA, AutoETS, AutoTheta

    model = {"ets": AutoETS, "theta": AutoTheta, "arima": AutoARIMA}[method](season_length=SEASON)
    model.fit(y[:size])
    step = model.forecast if refitted else model.forward
    return fastest(lambda end: step(y=y[:end], h=1), [(end,) for end in range(size, len(y))], rows=1)


def of_deeptime(task, size, x, y):
    """Least squares between Gaussians on the anchors, from all pairs at once."""
    from deeptime.decomposition import EDMD

    anchors, now, after = x[:size], x[size:-1], x[size + 1 :]
    basis = lambda z: gaussian(z, anchors, STATES)
    fit = lambda: EDMD(basis).fit((now, after)).fetch_model()
    if task == "operator":
        return fastest(fit, [()], rows=len(now))
    onward = fit().operator @ np.linalg.lstsq(basis(now), now, rcond=None)[0]
    return fastest(lambda x: basis(x) @ onward, batches(size, x))


def of_pydmd(task, size, x, y):
    """Kernel dynamic mode decomposition of a trajectory through the anchors, from all of them at once."""
    from pydmd import EDMD

    trajectory = x[:size].T
    fit = lambda: EDMD(kernel_metric="rbf", kernel_params={"gamma": 1 / (2 * STATES**2)}).fit(trajectory)
    return fastest(fit, [()], rows=size - 1)


FOGD, SERIES = ("fogd", "fogd-predict"), ("series",)
KERNELS = ("krls-predict", *FOGD)
# Each with its package, and the tasks that it has.
PROGRAMS = {
    "numpy": (of_numpy, "numpy", ("krls", *KERNELS)),
    "river": (of_river, "river", FOGD),
    "sklearn": (of_sklearn, "scikit-learn", KERNELS),
    "sklearn-blocks": (lambda *a: of_sklearn(*a, together=BATCH), "scikit-learn", KERNELS),
    "vw": (of_vw, "vowpalwabbit", FOGD),
    "ets": (of_statsforecast, "statsforecast", SERIES),
    "ets-forward": (lambda *a: of_statsforecast(*a, refitted=False), "statsforecast", SERIES),
    "theta": (lambda *a: of_statsforecast(*a, method="theta"), "statsforecast", SERIES),
    "arima": (lambda *a: of_statsforecast(*a, method="arima"), "statsforecast", SERIES),
    "deeptime": (of_deeptime, "deeptime", ("operator", "operator-predict")),
    "pydmd": (of_pydmd, "pydmd", ("operator",)),
}


def openblas():
    """Return the OpenBLAS of numpy."""
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return f"{blas['name']} {blas['version']}"


def main():
    """Read the command line and print the answer."""
    name, task = sys.argv[1:3]
    program, package, tasks = PROGRAMS[name]
    if task == "version":
        print(importlib.metadata.version(package) + (f", {openblas()}" if name == "numpy" else ""))
    elif task in tasks:
        print(f"{program(task, *stream(sys.argv[3])):.1f}")
    else:
        print("none")


if __name__ == "__main__":
    main()
