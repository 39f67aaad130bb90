"""Start in one minute: regression, classes, a table, a series, a dynamical system. Run by the tests and checked by ``mypy --strict``."""

from __future__ import annotations

import numpy as np

import mercer
from mercer import forecasting

rng = np.random.default_rng(1)
X = rng.normal(size=(1000, 3))
y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2

# One row at a time: river's face.
model = mercer.Krls(kernel="gaussian:1", lambda_=0.1)
for x, target in zip(X[:100].tolist(), y[:100].tolist(), strict=True):
    guess = model.predict_one({"a": x[0], "b": x[1], "c": x[2]})
    model.learn_one({"a": x[0], "b": x[1], "c": x[2]}, target)

# Batches: scikit-learn's face.
model = mercer.Krls(kernel="median", intervals=0.9).fit(X[:800], y[:800])
print("R² of rows that were never learnt:", round(model.score(X[800:], y[800:]), 3))
low, high = model.predict_interval(X[800:801])[0]
print(f"90 % interval of the first: {low:.2f} to {high:.2f}")

# Every row predicted before it is learnt.
print(mercer.evaluate(mercer.Krls(kernel="gaussian:1"), X, y))

# Classes of any type.
labels = np.where(y > 1, "high", "low")
classifier = mercer.KrlsClassifier().fit(X, labels)
print("probabilities:", dict(zip(classifier.classes_.tolist(), classifier.predict_proba(X[:1])[0].round(3).tolist(), strict=True)))

# A table with a category and gaps.
rows = [{"city": ["Ulm", "Bonn"][t % 2], "size": None if t % 9 == 4 else 40.0 + t * 37 % 80} for t in range(400)]
price = [1e5 * (1 + t % 2) + 2e3 * (t * 37 % 80) for t in range(400)]
table = mercer.Pipeline(mercer.Krls()).fit(rows, price)
print("price:", round(table.predict_one(rows[5])), "for", price[5])

# A series.
series = np.sin(0.3 * np.arange(400))
print("next three:", forecasting.Experts().fit(series).predict(3).round(3))

# A dynamical system, from states and their successors.
states = np.column_stack([np.cos(0.3 * np.arange(400)), np.sin(0.3 * np.arange(400))])
operator = mercer.KoopmanOperator(kernel="gaussian:1").fit(states)
print("leading eigenvalues:", operator.eigenvalues_[:2].round(3))

# Settings that suit the data, and a file that the `mercer` command reads.
found = mercer.tune(mercer.Krls(), X, y, trials=16)
print("tuned:", found.best, "with a mean squared error of", round(found.score, 4))
