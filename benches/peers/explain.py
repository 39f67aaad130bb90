"""Effects beside shap on the same expansion of Gaussians.

python explain.py PROGRAM [--rows 2] [--points 1000] [--columns 20] [--background 100] [--limit 120]: PROGRAM is the program `explain` of the
benches. Needs shap, numpy. Prints what docs/results.md tells. The time of ours is the least of several passes, that of shap the processor's
on one thread. After --limit seconds of the clock an explainer of shap begins no further row. Differences are those to ours with absent
columns together, which is what shap's explainers approach, over the mean size of these effects.
"""

import argparse, json, os, subprocess, tempfile, time
from pathlib import Path

# Before numpy comes: one thread, as ours has.
os.environ |= {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
import numpy as np
import shap

parser = argparse.ArgumentParser()
parser.add_argument("program")
parser.add_argument("--rows", type=int, default=2)
parser.add_argument("--limit", type=float, default=120)
SIZES = ("points", "columns", "background")
for size in SIZES:
    parser.add_argument(f"--{size}")
given = parser.parse_args()


def f(X):
    squares = (X * X).sum(1)[:, None] + (C * C).sum(1) - 2 * X @ C.T
    return np.exp(-np.maximum(squares, 0) / (2 * told["width"] ** 2)) @ np.array(told["alpha"])


with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "told.json"
    sizes = [word for size in SIZES if getattr(given, size) for word in (f"--{size}", getattr(given, size))]
    print(subprocess.run([given.program, "--write", path, *sizes], check=True, capture_output=True, text=True).stdout, end="", flush=True)
    told = json.loads(path.read_text())
C, background, rows = (np.array(told[key]) for key in ("centres", "background", "rows"))
independent, together = (np.array([row["effects"] for row in one["rows"]]) for one in told["told"])
size = abs(together).mean()
print(f"prediction off by {max(abs(f(rows) - [row['prediction'] for row in told['told'][0]['rows']])):.1e}")
print(f"columns independent for together: off by {abs(independent - together).mean() / size:.1%} of the mean effect, correlation {np.corrcoef(independent.ravel(), together.ravel())[0, 1]:.4f}", flush=True)
kernel = shap.KernelExplainer(f, background)
permutation = shap.PermutationExplainer(f, shap.maskers.Independent(background, len(background)))
sampling = shap.SamplingExplainer(f, background)
EXPLAINERS = {
    "KernelExplainer": lambda row: kernel.shap_values(row, silent=True),
    "KernelExplainer, 200 samples": lambda row: kernel.shap_values(row, silent=True, nsamples=200),
    "PermutationExplainer": lambda row: permutation(row, silent=True).values,
    "SamplingExplainer": lambda row: sampling.shap_values(row, silent=True),
}
for name, explain in EXPLAINERS.items():
    np.random.seed(0)
    values, start, spent = [], time.monotonic(), time.process_time()
    for row in rows[: given.rows]:
        if time.monotonic() - start > given.limit:
            break
        values.append(explain(row[None])[0])
    spent = 1e3 * (time.process_time() - spent) / len(values)
    off = abs(np.array(values) - together[: len(values)]).mean() / size
    print(f"shap {shap.__version__} {name}: {spent:.0f} ms a row of {len(values)}, off by {off:.2%} of the mean effect", flush=True)
