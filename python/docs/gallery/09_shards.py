# %% [markdown]
# # Rows on many machines
#
# Ridge regression on fixed features needs to know sums of its past, and sums add up: each worker goes through its own rows, and the parts are merged.
#
# The rows are generated, with Friedman's function of five features; four processes each learn a quarter of them.

# %%
import joblib
import numpy as np
from sklearn.datasets import make_friedman1

import mercer

X, y = make_friedman1(n_samples=40_000, n_features=6, noise=1.0, random_state=0)
X = 2 * X - 1


def part(index, of=4):
    shard = slice(index * len(X) // of, (index + 1) * len(X) // of)
    return mercer.RidgeMoments("pkrr-taylor", kernel="gaussian:2", degree=4, lambda_=None).fit(X[shard], y[shard])


parts = joblib.Parallel(n_jobs=2)(joblib.delayed(part)(index) for index in range(4))
whole = mercer.RidgeMoments("pkrr-taylor", kernel="gaussian:2", degree=4, lambda_=None)
for one in parts:
    whole.merge(one)
print(whole.rows_learnt, "rows in", len(whole.to_bytes()) // 1000, "kB; R²", round(whole.score(X, y), 4))
once = mercer.RidgeMoments("pkrr-taylor", kernel="gaussian:2", degree=4, lambda_=None).fit(X, y)
print("largest difference to one pass:", f"{np.abs(whole.predict(X) - once.predict(X)).max():.0e}")

# %% [markdown]
# From the sums alone follow the fits of all ridges, and the error on a shard of the fit to all others. A shard that turns out wrong is taken back.

# %%
path = whole.path()
print("ridge chosen:", f"{path.best:.3g}", "of", len(path.lambdas), "with an estimated error of", round(path.gcv.min(), 3))
print("held out, shard by shard:", [round(whole.held_out(one), 3) for one in parts])
whole.retract(parts[2])
print(whole.rows_learnt, "rows without the third shard")

# %% [markdown]
# The same with files and the command: `mercer fit part-0.parquet --learner pkrr-taylor --kernel gaussian:2 --out part0.mercer` on each machine, then `mercer merge`.
# Each program reads what the other has written.
