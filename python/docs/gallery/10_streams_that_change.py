# %% [markdown]
# # Streams that change
#
# A stream whose function drifts, and one whose function jumps: what forgets, what starts anew, and what does nothing about it.
#
# The drift is river's: Friedman's function, whose features trade places in three stretches.

# %%
import numpy as np
from matplotlib import pyplot
from river.datasets import synth

import mercer
from mercer import plot

stream = synth.FriedmanDrift(drift_type="gra", position=(1500, 3000), seed=1)
rows, targets = zip(*stream.take(4500))
X = 2 * np.array([list(row.values())[:6] for row in rows]) - 1
y = (np.array(targets) - 14) / 5

models = {
    "Krls": mercer.Krls(kernel="gaussian:2", lambda_=0.1, max_dictionary=200),
    "Krls that forgets": mercer.Krls(
        kernel="gaussian:2", lambda_=0.1, max_dictionary=200, removal="oldest", forgetting=0.998, forgets="exponential"
    ),
    "Fogd": mercer.Fogd(kernel="gaussian:2", features=200, step=0.1),
    "Auto": mercer.Auto(),
}
runs = {name: mercer.evaluate(model, X, y) for name, model in models.items()}
for name, run in runs.items():
    print(f"{name:18} all {run.mse:.3f}, last 500 {run.curve(500)[-1]:.3f}")
plot.learning_curve(*runs.values(), labels=list(runs), window=300)
pyplot.title("Mean squared error of the last 300 predictions");

# %% [markdown]
# After a jump it is best to begin anew. `Restart` watches the errors of a learner, and starts another one when they have risen:

# %%
rng = np.random.default_rng(5)
X = rng.uniform(-1, 1, size=(3000, 2))
y = np.where(np.arange(3000) < 1500, np.sin(4 * X[:, 0]), np.cos(4 * X[:, 1]))
for model in (mercer.Krls(kernel="gaussian:0.5"), mercer.Restart(kernel="gaussian:0.5")):
    run = mercer.evaluate(model, X, y)
    print(f"{type(model).__name__:8} before the jump {run.losses[1000:1500].mean():.4f}, long after it {run.losses[2000:].mean():.4f}")
