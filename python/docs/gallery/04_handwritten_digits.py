# %% [markdown]
# # Handwritten digits, in one pass
#
# Ten classes, 64 features, one pass over the rows: how soon are most digits read rightly, and how near is that to a batch method?
#
# The data come with scikit-learn: 1797 images of 8 by 8.

# %%
import numpy as np
from matplotlib import pyplot
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier
from sklearn.svm import SVC

import mercer

X, y = load_digits(return_X_y=True)
X = X / 16
order = np.random.default_rng(0).permutation(len(X))
X, y = X[order], y[order]
first, last = slice(0, 1400), slice(1400, None)

online = mercer.KrlsClassifier(kernel="gaussian:3", lambda_=0.1, nu=0.03)
passed = mercer.evaluate(online, X[first], y[first])
print("one pass, before each row was learnt:", round(passed.accuracy, 3))
print("rows never learnt, Krls:", round(online.score(X[last], y[last]), 3), "with", online.dictionary_size, "points")
print("rows never learnt, SVC: ", round(SVC(gamma=0.2).fit(X[first], y[first]).score(X[last], y[last]), 3))
print("rows never learnt, SGD: ", round(SGDClassifier(random_state=0).fit(X[first], y[first]).score(X[last], y[last]), 3))

# %%
pyplot.plot(1 - passed.curve(100))
pyplot.xlabel("rows learnt")
pyplot.ylabel("accuracy of the last 100");

# %% [markdown]
# Fewer points cost a fraction of the time and memory. `nu` says how near to the span of those kept a new point may be before it is left out; or the
# dictionary has a bound, and the least significant point leaves it when it is full.

# %%
for setting in ({"nu": 0.1}, {"max_dictionary": 200, "removal": "least-significant"}):
    small = mercer.KrlsClassifier(kernel="gaussian:3", lambda_=0.1, **setting)
    print(setting, round(mercer.evaluate(small, X[first], y[first]).accuracy, 3), "with", small.dictionary_size, "points")
