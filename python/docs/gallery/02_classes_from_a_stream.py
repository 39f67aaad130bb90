# %% [markdown]
# # Classes from a stream
#
# Seven kinds of image segments arrive one by one; the classes are met as they come, and the probabilities are scored too.
#
# The stream comes with river: 2310 rows of 18 features.

# %%
from river import compose, datasets, evaluate, linear_model, metrics, multiclass, preprocessing

import mercer

models = {
    "river, one logistic regression a class": multiclass.OneVsRestClassifier(linear_model.LogisticRegression()),
    "mercer.KrlsClassifier": mercer.KrlsClassifier(kernel="gaussian:2", max_dictionary=300),
    "mercer.AutoClassifier": mercer.AutoClassifier(),
}
for name, model in models.items():
    stream = datasets.ImageSegments().take(1200)
    score = evaluate.progressive_val_score(stream, compose.Pipeline(preprocessing.StandardScaler(), model), metrics.Accuracy())
    print(f"{name}: {score}")

# %% [markdown]
# Labels may be anything hashable. Probabilities of `Auto` are calibrated as rows come; those of the squared error are rough, and `calibrated=True` mends that.

# %%
import numpy as np

model = mercer.KrlsClassifier(kernel="gaussian:2", max_dictionary=300, calibrated=True)
scale = preprocessing.StandardScaler()
confident, right = [], []
for x, label in datasets.ImageSegments().take(1200):
    scale.learn_one(x)
    x = scale.transform_one(x)
    shares = model.predict_proba_one(x)
    if shares:
        best = max(shares, key=shares.get)
        confident.append(shares[best])
        right.append(best == label)
    model.learn_one(x, label)
confident, right = np.array(confident[300:]), np.array(right[300:])
for low, high in ((0.0, 0.6), (0.6, 0.9), (0.9, 1.01)):
    some = (confident >= low) & (confident < high)
    print(f"said {confident[some].mean():.2f}, was right {right[some].mean():.2f} of {some.sum()} times")
