"""Scores other libraries on the samples of `cargo run --bin operator_samples FOLDER`, or of `--bin verdicts -- --write FOLDER`:
python peers.py FOLDER > peers.csv

Where the futures of a query have fewer numbers than its state, they are those of the newest row, the last of a state."""

import sys
from pathlib import Path

import numpy as np
from deeptime.basis import Monomials
from deeptime.decomposition import EDMD, KernelEDMD
from deeptime.kernels import GaussianKernel
from kooplearn.kernel import KernelRidge
from scipy.spatial.distance import cdist, pdist
from sklearn.cluster import KMeans

MODES, CENTRES, KERNEL_PAIRS = 12, 100, 1000


def read(path):
    return np.loadtxt(path, delimiter=",", ndmin=2)


def spectral_error(truths, found):
    found, total = list(sorted(found, key=abs, reverse=True)[:MODES]), 0.0
    for truth in truths:
        nearest = min(range(len(found)), key=lambda i: abs(found[i] - truth), default=None)
        total += abs(truth) if nearest is None else abs(found.pop(nearest) - truth)
    return total / len(truths)


def by_features(phi, cut, x, y, queries, steps):
    """Least squares on features: the eigenvalues, and forecasts by powers from the part of the state in the span."""
    now, after = phi(x), phi(y)
    k = np.linalg.lstsq(now, after, rcond=cut)[0]
    state = np.linalg.lstsq(now, x, rcond=cut)[0]
    asked = phi(queries)
    return np.linalg.eigvals(k), [asked @ np.linalg.matrix_power(k, s) @ state for s in steps]


def by_deeptime(basis, x, y, queries, steps):
    model = EDMD(basis).fit((x, y)).fetch_model()
    k = model.operator
    state = np.linalg.lstsq(basis(x), x, rcond=1e-12)[0]
    return np.linalg.eigvals(k), [basis(queries) @ np.linalg.matrix_power(k, s) @ state for s in steps]


def by_kernel(width, ridge, x, y, queries, steps):
    chosen = np.linspace(0, len(x) - 1, min(len(x), KERNEL_PAIRS)).astype(int)
    x, y = x[chosen], y[chosen]
    kernel, n = GaussianKernel(width), len(x)
    model = KernelEDMD(kernel, epsilon=ridge, n_eigs=min(n, 3 * MODES)).fit((x, y)).fetch_model()
    g, a = kernel.gram(x) + ridge * n * np.eye(n), kernel.apply(x, y)
    p = np.linalg.solve(g, a)
    paths = [kernel.apply(queries, x) @ np.linalg.matrix_power(p, s - 1) @ np.linalg.solve(g, y) for s in steps]
    return model.eigenvalues, paths


def by_kooplearn(width, ridge, x, y, queries, steps):
    chosen = np.linspace(0, len(x) - 1, min(len(x), KERNEL_PAIRS)).astype(int)
    # All x, then all y, are a trajectory whose lag is their number.
    model = KernelRidge(
        3 * MODES, lag_time=len(chosen), reduced_rank=False, kernel="rbf", gamma=0.5 / width**2, alpha=ridge
    )
    model.fit(np.vstack([x[chosen], y[chosen]]))
    return model.eig(), [model.predict(queries, n_steps=s) for s in steps]


def methods(x):
    d, some = x.shape[1], x[:: max(1, len(x) // 1000)]
    median, centres = np.median(pdist(some)), None
    constant = lambda z: np.ones((len(z), 1))
    yield "DMD", lambda *data: by_features(lambda z: np.hstack([constant(z), z]), 1e-12, *data)
    for degree in range(2, 6):
        if d <= 3:
            yield f"monomials {degree}", lambda *data, g=degree: by_deeptime(Monomials(g, d), *data)
    count = min(CENTRES, len(np.unique(x, axis=0)))
    centres = KMeans(count, n_init=1, random_state=1).fit(x).cluster_centers_
    for factor in (0.25, 0.5, 1.0, 2.0):
        phi = lambda z, w=factor * median: np.hstack([constant(z), z, np.exp(-cdist(z, centres, "sqeuclidean") / (2 * w * w))])
        for cut in (1e-3, 1e-8):
            yield f"EDMD {factor} {cut}", lambda *data, phi=phi, cut=cut: by_features(phi, cut, *data)
    for factor, ridge in ((f, r) for f in (0.5, 1.0) for r in (1e-3, 1e-7)):
        yield f"kernel EDMD {factor} {ridge}", lambda *data, w=factor * median, r=ridge: by_kernel(w, r, *data)
    for factor, ridge in ((f, r) for f in (0.5, 1.0) for r in (1e-4, 1e-7)):
        yield f"kooplearn {factor} {ridge}", lambda *data, w=factor * median, r=ridge: by_kooplearn(w, r, *data)


def scores(folder, name, size, repetition):
    pairs, queries, steps, truth = (
        read(folder / f"{name}-{size}-{repetition}-{what}.csv") for what in ("pairs", "queries", "steps", "truth")
    )
    d = pairs.shape[1] // 2
    mean, deviation = pairs[:, :d].mean(0), pairs[:, :d].std(0)
    scaled = lambda z: (z - mean) / deviation
    x, y, asked = scaled(pairs[:, :d]), scaled(pairs[:, d:]), queries[:, :d]
    q = (queries.shape[1] - d) // steps.shape[1]
    newest = asked[:, d - q :]
    total = np.sqrt(((newest - newest.mean(0)) ** 2).sum(1).mean())
    truths = truth[:, 0] + 1j * truth[:, 1] if truth.size else []
    for method, run in methods(x):
        try:
            values, paths = run(x, y, scaled(asked), steps[0].astype(int))
        except (np.linalg.LinAlgError, ValueError) as error:
            print(f"{name} {size} {method}: {error}", file=sys.stderr)
            continue
        errors = [spectral_error(truths, values) if len(truths) else np.nan]
        for i, states in enumerate(paths):
            states = (np.asarray(states) * deviation + mean)[:, d - q :]
            away = states - queries[:, d + i * q : d + (i + 1) * q]
            errors.append(np.sqrt((away**2).sum(1).mean()) / total)
        yield method, errors


def main():
    folder = Path(sys.argv[1])
    print("system,pairs,method,eigenvalues,first,second,third")
    samples = sorted({tuple(path.stem.rsplit("-", 3)[:3]) for path in folder.glob("*-pairs.csv")})
    for name, size in sorted({sample[:2] for sample in samples}):
        found = {}
        for repetition in (sample[2] for sample in samples if sample[:2] == (name, size)):
            for method, errors in scores(folder, name, int(size), repetition):
                found.setdefault(method, []).append(errors)
        for method, errors in found.items():
            print(f"{name},{size},{method}," + ",".join(f"{error:.3g}" for error in np.median(errors, 0)), flush=True)


if __name__ == "__main__":
    main()
