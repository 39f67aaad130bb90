# %% [markdown]
# # How sure is it?
#
# Intervals that hold nine targets of ten, whatever the data do, and also after the noise has changed.
#
# The stream is generated: after 2000 rows its noise is three times as large.

# %%
import numpy as np
from matplotlib import pyplot

import mercer

rng = np.random.default_rng(3)
n = 4000
X = rng.uniform(-3, 3, size=(n, 2))
noise = np.where(np.arange(n) < 2000, 0.1, 0.3)
y = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + noise * rng.normal(size=n)

model = mercer.Krls(kernel="gaussian:1", intervals=0.9)
ends = []
for first in range(0, n, 10):
    rows = slice(first, first + 10)
    if first:
        ends.append(model.predict_interval(X[rows]))
    model.partial_fit(X[rows], y[rows])
ends = np.concatenate(ends)
held = (ends[:, 0] <= y[10:]) & (y[10:] <= ends[:, 1])
print("held by the intervals, before the change:", round(held[200:1990].mean(), 3), "and after:", round(held[1990:].mean(), 3))
print("coverage, as the model counts it:", round(model.coverage_, 3))

# %%
widths = np.diff(ends, axis=1)[:, 0]
pyplot.plot(np.arange(10, n), np.where(np.isfinite(widths), widths, np.nan))
pyplot.axvline(2000, color="grey", linestyle=":")
pyplot.xlabel("rows learnt")
pyplot.ylabel("width of the interval");

# %% [markdown]
# Least-squares learners also tell the standard deviation of a target. It is as true as its model; with `local_intervals=True` the intervals are scaled by it,
# so that they are wider where less is known.

# %%
local = mercer.Krls(kernel="gaussian:1", intervals=0.9, local_intervals=True).fit(X[:2000], y[:2000])
for place in ([0.0, 0.0], [8.0, 8.0]):
    _, deviation = local.predict([place], return_std=True)
    low, high = local.predict_interval([place])[0]
    print(place, "deviation", round(deviation[0], 2), "interval", round(low, 2), "to", round(high, 2))
