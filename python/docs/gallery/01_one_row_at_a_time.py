# %% [markdown]
# # One row at a time
#
# A river model from Mercer in river's own loop: polls on an approval rating arrive day by day, and each is predicted before it is learnt.
#
# The stream comes with river: 1001 rows of six features, of which one is the day.

# %%
from river import compose, datasets, evaluate, linear_model, metrics, preprocessing

import mercer


def scaled(model):
    return compose.Pipeline(preprocessing.StandardScaler(), model)


for name, model in {
    "river's linear regression": linear_model.LinearRegression(intercept_lr=0.1),
    "mercer.Krls": mercer.Krls(),
    "mercer.Auto": mercer.Auto(),
}.items():
    error = evaluate.progressive_val_score(datasets.TrumpApproval(), scaled(model), metrics.MAE())
    print(f"{name}: {error}")

# %% [markdown]
# `Krls` takes its inputs as they are, and here the day leaves the range that the scaler has seen, row after row. `Auto` expects that. Batches below are scaled
# once.
#
# A model takes dictionaries, and features that appear later count as 0 in the past. What it keeps of the stream is bounded.

# %%
model = mercer.Krls(kernel="gaussian:1")
model.learn_one({"temperature": 0.3}, 1.0)
model.learn_one({"temperature": 0.4, "load": 0.7}, 1.2)
print(model.feature_names, model.dictionary_size, "points kept")
print("prediction:", round(model.predict_one({"load": 0.7, "temperature": 0.4}), 3))

# %% [markdown]
# `mercer.evaluate` does the same for arrays in one call, at Rust's speed, and returns the curve.

# %%
import numpy as np
from matplotlib import pyplot

from mercer import plot

rows, ratings = zip(*datasets.TrumpApproval())
X = np.array([list(row.values()) for row in rows])
X = (X - X[:100].mean(axis=0)) / X[:100].std(axis=0)
y = np.array(ratings) - 40
runs = [mercer.evaluate(model, X, y, skip=100) for model in (mercer.Krls(), mercer.Fogd(), mercer.Auto())]
for run in runs:
    print(run.scores)
plot.learning_curve(*runs, labels=["Krls", "Fogd", "Auto"], window=100)
pyplot.title("Mean squared error of the last 100 predictions");
