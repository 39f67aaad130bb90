# %% [markdown]
# # Batches, cross-validation, grids
#
# The same objects are scikit-learn estimators: pipelines, `cross_val_score` and `GridSearchCV` take them as they are.
#
# The data come with scikit-learn: 442 patients, ten features, and how their diabetes went on.

# %%
from sklearn.datasets import load_diabetes
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer

X, y = load_diabetes(return_X_y=True)
y = (y - 150) / 75
folds = KFold(5, shuffle=True, random_state=0)
for model in (KernelRidge(kernel="rbf", gamma=0.05, alpha=1.0), mercer.Krls(lambda_=1.0), mercer.Auto()):
    scores = cross_val_score(make_pipeline(StandardScaler(), model), X, y, cv=folds)
    print(f"{type(model).__name__:12} R² {scores.mean():.3f} ± {scores.std():.3f}")

# %% [markdown]
# Kernel ridge regression of scikit-learn keeps all rows and solves for them at once. `Krls` goes through them once and keeps the points that matter. A grid
# over its width and its ridge:

# %%
grid = {"krls__kernel": ["gaussian:3", "gaussian:6", "gaussian:12"], "krls__lambda_": [0.1, 1.0, 10.0]}
search = GridSearchCV(make_pipeline(StandardScaler(), mercer.Krls()), grid, cv=folds).fit(X, y)
print(search.best_params_, f"R² {search.best_score_:.3f}")
print(search.best_estimator_["krls"].dictionary_size, "points of", len(X), "rows are kept")
