"""Effects beside shap on the same expansion of Gaussians.

python explain.py PROGRAM: PROGRAM is target/release/explain of the benches. Needs shap, numpy. Prints what docs/results.md tells.
"""

import json, subprocess, sys, tempfile, time
from pathlib import Path

import numpy as np
import shap

# What shap explains of each, and with how many samples at most.
ROWS = 5


def f(X):
    squares = (X * X).sum(1)[:, None] + (C * C).sum(1) - 2 * X @ C.T
    return np.exp(-np.maximum(squares, 0) / (2 * told["width"] ** 2)) @ np.array(told["alpha"])


with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "told.json"
    print(subprocess.run([sys.argv[1], "--write", path], check=True, capture_output=True, text=True).stdout, end="")
    told = json.loads(path.read_text())
C, background, rows = (np.array(told[key]) for key in ("centres", "background", "rows"))
independent, together = ([np.array([row["effects"] for row in one["rows"]]) for one in told["told"]])
size = abs(together).mean()
print(f"prediction off by {max(abs(f(rows) - [row['prediction'] for row in told['told'][0]['rows']])):.1e}")
print(f"columns independent for together: off by {abs(independent - together).mean() / size:.1%} of the mean effect, correlation {np.corrcoef(independent.ravel(), together.ravel())[0, 1]:.4f}")
EXPLAINERS = {
    "KernelExplainer": lambda: shap.KernelExplainer(f, background).shap_values(rows[:ROWS], silent=True),
    "PermutationExplainer": lambda: shap.PermutationExplainer(f, shap.maskers.Independent(background, len(background)))(rows[:ROWS], silent=True).values,
    "SamplingExplainer": lambda: shap.SamplingExplainer(f, background).shap_values(rows[:ROWS], silent=True),
}
for name, explain in EXPLAINERS.items():
    start = time.time()
    values = explain()
    print(f"shap {shap.__version__} {name}: {1e3 * (time.time() - start) / ROWS:.0f} ms a row, off by {abs(values - together[:ROWS]).mean() / size:.2%} of the mean effect", flush=True)
