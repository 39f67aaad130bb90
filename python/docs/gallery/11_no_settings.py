# %% [markdown]
# # Settings, or none
#
# `mercer.Auto` needs no settings; `mercer.tune` looks for those of any other learner, by passes over the rows in their order.
#
# The data come with scikit-learn: the sizes of 178 wines' ingredients and their growers, as a stream in random order, and Friedman's second function.

# %%
import numpy as np
from sklearn.datasets import load_wine, make_friedman2

import mercer

X, y = make_friedman2(n_samples=2000, noise=20.0, random_state=0)
X = (X - X.mean(axis=0)) / X.std(axis=0)
y = (y - y.mean()) / y.std()
found = mercer.tune(mercer.Krls(), X, y, trials=24, threads=2)
print("found:", found.best)
for name, model in {"default Krls": mercer.Krls(), "tuned Krls": found.best, "Auto": mercer.Auto()}.items():
    run = mercer.evaluate(model, X, y, skip=200)
    print(f"{name}: mean squared error {run.mse:.4f}")

# %%
X, y = load_wine(return_X_y=True)
order = np.random.default_rng(0).permutation(len(X))
print(mercer.evaluate(mercer.AutoClassifier(), X[order], y[order], skip=30).scores)

# %% [markdown]
# What a learner is, what its parameters mean and what it costs is in its documentation, and its settings are told once it has begun to learn:

# %%
print(mercer.Fogd.__doc__.split("\n\n")[0])
print(mercer.Fogd(features=50).fit(X / X.max(axis=0), y).settings)
