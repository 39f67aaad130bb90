# %% [markdown]
# # Slow modes of a dynamical system
#
# From pairs of a state and its successor: the Koopman operator, its eigenvalues and eigenfunctions, forecasts of any observable, and the basins of the system.
#
# The system is the unforced Duffing oscillator, `x'' = x − x³ − ½x'`, which ends in one of two resting points.

# %%
import numpy as np
from matplotlib import pyplot

import mercer


def flow(states, seconds=0.25, steps=10):
    for _ in range(steps):
        x, v = states.T
        h = seconds / steps
        middle = states + h / 2 * np.column_stack([v, x - x**3 - v / 2])
        x, v = middle.T
        states = states + h * np.column_stack([v, x - x**3 - v / 2])
    return states


rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, size=(4000, 2))
model = mercer.KoopmanOperator(kernel="gaussian:0.5", budget=1e-3, max_dictionary=400).fit(X, flow(X))
print(model.points_[0].shape[0], "states kept; leading eigenvalues:", model.eigenvalues_[:4].round(3))

# %% [markdown]
# Both resting points keep what starts near them for ever, so two eigenvalues are near 1. The sign of the eigenfunction that is not constant tells which of the two
# a state ends in:

# %%
starts = rng.uniform(-1.8, 1.8, size=(400, 2))
ends = flow(starts, seconds=40, steps=2000)[:, 0] > 0
functions = model.eigenfunctions(starts, 2).real
shares = [max(((one > np.median(one)) == ends).mean(), ((one <= np.median(one)) == ends).mean()) for one in functions.T]
print("basins told rightly:", round(max(shares), 2))
pyplot.scatter(*starts.T, c=functions[:, int(np.argmax(shares))], cmap="coolwarm", s=12)
pyplot.xlabel("x")
pyplot.ylabel("x'");

# %% [markdown]
# Forecasts of an observable from one state, beside the truth:

# %%
state = np.array([1.5, 0.0])
truth, now = [], state[None]
for _ in range(6):
    now = flow(now)
    truth.append(now[0])
print("forecast:", model.forecast(state, 6)[:, 0].round(2))
print("truth:   ", np.array(truth)[:, 0].round(2))
energy = model.forecast(state, 3, observable=lambda s: s[:, 1] ** 2 / 2 - s[:, 0] ** 2 / 2 + s[:, 0] ** 4 / 4)
print("expected energy:", energy[:, 0].round(2))
