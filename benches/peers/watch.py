"""Peers of `mercer watch` and `mercer explain` on the same rows: river's ADWIN, Page-Hinkley, KSWIN and half-space trees, shap's explainers.

python watch.py MERCER [rows]: needs river, shap, numpy; MERCER is the program. Prints what docs/results.md tells.
"""

import json, math, subprocess, sys, tempfile, time
from pathlib import Path

import numpy as np
import shap
from river import anomaly, drift

MERCER, ROWS = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20000
FOLDER = Path(tempfile.mkdtemp())
g = np.random.default_rng(7)


def write(name, X):
    head = ",".join(f"x{j}" for j in range(X.shape[1]))
    np.savetxt(FOLDER / name, X, delimiter=",", header=head, comments="", fmt="%.6g")
    return FOLDER / name


def watch(X, *more):
    told = subprocess.run([MERCER, "watch", write("t.csv", X), "--json", "--quiet", *more], capture_output=True, check=True, text=True).stdout
    return json.loads(told)["alarms"]


def columnwise(make, X):
    """Rows at which a detector of any column alarms; it begins anew then."""
    found = []
    for j in range(X.shape[1]):
        one = make()
        for t, x in enumerate(X[:, j]):
            one.update(float(x))
            if one.drift_detected:
                found.append(t + 1)
                one = make()
    return sorted(found)


def autoregression(n, part):
    E = g.normal(size=(n + 200, 4))
    for t in range(1, len(E)):
        E[t] += part * E[t - 1]
    return E[200:]


def season(n):
    return autoregression(n, 0.9) + 4 * np.sin(2 * np.pi * np.arange(n)[:, None] / 48 + np.arange(4))


PEERS = {"ADWIN": drift.ADWIN, "Page-Hinkley": drift.PageHinkley, "KSWIN": lambda: drift.KSWIN(seed=1)}
print(f"alarms in 10,000 rows without a change, 4 columns, {ROWS} rows")
for name, X in {"independent": g.normal(size=(ROWS, 4)), "autoregression .9": autoregression(ROWS, 0.9), "season": season(ROWS)}.items():
    per = 1e4 / ROWS
    print(f"  {name}: mercer {len(watch(X, '--for', 'inputs')) * per:.1f},", ", ".join(f"{peer} {len(columnwise(make, X)) * per:.0f}" for peer, make in PEERS.items()), flush=True)

print("rows until a change in row 3000 is told, 20 columns, median of 5 (column right)")
CHANGES = {"level by 1": lambda X: X[3000:, 3].__iadd__(1), "deviation 1.5": lambda X: X[3000:, 3].__imul__(1.5), "correlation .8": lambda X: X[3000:].__setitem__((slice(None), 3), 0.8 * X[3000:, 4] + 0.6 * X[3000:, 3])}
for name, change in CHANGES.items():
    # KSWIN takes minutes here.
    quick = {peer: make for peer, make in PEERS.items() if peer != "KSWIN"}
    ours, theirs, right = [], {peer: [] for peer in quick}, 0
    for _ in range(5):
        X = g.normal(size=(4500, 20))
        change(X)
        alarm = next((a for a in watch(X, "--for", "inputs") if a["row"] > 3000), None)
        ours.append(alarm["row"] - 3000 if alarm else math.inf)
        right += bool(alarm and alarm["columns"][0]["name"] in ("x3", "x4"))
        for peer, make in quick.items():
            theirs[peer].append(next((t - 3000 for t in columnwise(make, X) if t > 3000), math.inf))
    print(f"  {name}: mercer {np.median(ours)} ({right} of 5),", ", ".join(f"{peer} {np.median(rows)}" for peer, rows in theirs.items()), flush=True)

print("new rows: AUC of one cell 4 to 6 deviations off, or taken from another row, 2 % of 4000 rows of 10 dependent columns")
A = g.normal(size=(10, 10))
X = g.normal(size=(4000, 10)) @ A
marked = np.sort(g.choice(np.arange(600, 4000), 80, replace=False))
for i in marked:
    j = g.integers(10)
    X[i, j] = X[g.integers(4000), j] if g.random() < 0.5 else X[:, j].mean() + g.choice([-1, 1]) * g.uniform(4, 6) * X[:, j].std()
out = FOLDER / "rows.csv"
start = time.time()
watch(X, "-o", str(out), "--for", "rows")
ours = np.genfromtxt(out, delimiter=",", skip_header=1, usecols=1)
mercer_time = (time.time() - start) / len(X)
low, high = X[:300].min(0), X[:300].max(0)
trees = anomaly.HalfSpaceTrees(n_trees=25, height=8, window_size=250, seed=1)
theirs, start = np.zeros(len(X)), time.time()
for i, x in enumerate(X):
    row = {j: float(min(max((v - low[j]) / (high[j] - low[j]), 0), 1)) for j, v in enumerate(x)}
    theirs[i] = trees.score_one(row)
    trees.learn_one(row)
tree_time = (time.time() - start) / len(X)
y, seen = np.isin(np.arange(len(X)), marked), np.isfinite(ours)


def auc(y, s):
    r = s.argsort().argsort() + 1.0
    k = y.sum()
    return (r[y].sum() - k * (k + 1) / 2) / (k * (len(y) - k))


print(f"  mercer {auc(y[seen], ours[seen]):.3f} ({1e6 * mercer_time:.0f} us a row, reading included), half-space trees {auc(y[seen], theirs[seen]):.3f} ({1e6 * tree_time:.0f} us)", flush=True)

print("attribution of krls on 10 columns: time of a row, largest difference of effects")
X = g.normal(size=(1500, 10))
table = np.c_[X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.05 * g.normal(size=1500)]
path = write("train.csv", table)
model = FOLDER / "m.mercer"
subprocess.run([MERCER, "train", path, "--learner", "krls", "--out", model, "--quiet"], capture_output=True, check=True)
few = write("few.csv", table[:50])


def explain(rows):
    start = time.time()
    told = subprocess.run([MERCER, "explain", few, "--model", model, "--json", "--quiet", "--background", "50", "-n", str(rows)], capture_output=True, check=True, text=True).stdout
    return json.loads(told), time.time() - start


(told, long), (_, short) = explain(50), explain(1)


def predict(Z):
    said = subprocess.run([MERCER, "predict", write("z.csv", np.c_[Z, np.zeros(len(Z))]), "--model", model, "--quiet"], capture_output=True, check=True, text=True).stdout
    return np.array(said.split("\n")[1:-1], float)


start = time.time()
values = shap.KernelExplainer(predict, table[:50, :10]).shap_values(table[:2, :10], silent=True, nsamples=500)
kernel_time = (time.time() - start) / 2
ours = np.array([[row["effects"][f"x{j}"] for j in range(10)] for row in told["rows"][:2]])
gap = max(abs(told["base"] + sum(row["effects"].values()) - row["prediction"]) for row in told["rows"])
print(f"  mercer {1e3 * (long - short) / 49:.2f} ms a row by 50 background rows, sum off by {gap:.1e}; shap's KernelExplainer {kernel_time:.1f} s a row (predictions by the command), largest difference {abs(values - ours).max():.3g}")
