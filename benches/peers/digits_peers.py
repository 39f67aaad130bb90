"""Prequential accuracy of scikit-learn and river on the digits, one pass.

Usage: python digits_peers.py digits.csv [--only sgd,linear,tree,knn]
       [--match TEXT]

Each row in file order: the model predicts its label, the answer is scored, the
model learns the row. Every row counts; no answer (the first row) is an error.
Scaling: river's pipelines predict with the scaler of the earlier rows and
update it in learn_one; the scikit-learn loop below does the same.

RBF features: gamma = factor / (2 m^2), m the median distance among the first
200 rows in the space that is used (for scaled inputs, scaled by those rows'
own mean and deviation). So gamma looks at 200 unlabelled rows ahead.
scikit-learn is told the ten classes in advance; river is not.

A random model runs with seeds 0 to R-1: the table gives the mean, and the
lowest and highest number of errors. "default": the package's settings.
"tuned": settings picked from a grid by this very score, so it is optimistic.
Seconds: predict and learn of one run, one thread; indicative only.
"""

import argparse
import os
import platform
import sys
import time
import warnings

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402
import river  # noqa: E402
import sklearn  # noqa: E402
from river import (  # noqa: E402
    forest, linear_model, multiclass, naive_bayes, neighbors, optim,
    preprocessing, tree,
)
from scipy.spatial.distance import pdist  # noqa: E402
from sklearn.kernel_approximation import RBFSampler  # noqa: E402
from sklearn.linear_model import SGDClassifier  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

warnings.filterwarnings("ignore")
CLASSES = np.arange(10)
HEAD = 200


class RawOneVsRest(multiclass.OneVsRestClassifier):
    """river's one-vs-rest that compares raw scores.

    river compares sigmoids, which are exactly 0 or 1 beyond +-30; margins of
    the perceptron and of PA pass that, and ties go to the class seen first.
    """

    def predict_one(self, x, **kwargs):
        if not self.classifiers:
            return None
        return max(self.classifiers, key=lambda c: score(self.classifiers[c], x))


def score(model, x):
    if isinstance(model, linear_model.PAClassifier):
        return sum(v * model.weights.get(k, 0.0) for k, v in x.items()) + model.intercept
    if isinstance(model, linear_model.ALMAClassifier):
        return model._raw_dot(x)
    return model._raw_dot_one(x)


def run_river(model, rows, labels):
    errors = 0
    start = time.perf_counter()
    for x, y in zip(rows, labels):
        answer = model.predict_one(x)
        errors += answer is None or answer != y
        model.learn_one(x, y)
    return errors, time.perf_counter() - start


def run_sgd(rows, labels, scaled, features, gamma, seed, options):
    """SGDClassifier row by row; features None means the inputs themselves."""
    scaler = StandardScaler() if scaled else None
    sampler = None
    if features:
        sampler = RBFSampler(gamma=gamma, n_components=features, random_state=seed)
        sampler.fit(rows[:1])  # draws the frequencies; uses only the width
    model = SGDClassifier(random_state=seed, **options)

    def image(row):
        if scaler is not None:
            row = scaler.transform(row)
        return row if sampler is None else sampler.transform(row)

    errors = 0
    start = time.perf_counter()
    for t in range(len(rows)):
        row, y = rows[t:t + 1], labels[t:t + 1]
        if t == 0:
            errors += 1
        else:
            errors += model.predict(image(row))[0] != y[0]
        if scaler is not None:
            scaler.partial_fit(row)
        model.partial_fit(image(row), y, classes=CLASSES)
    return errors, time.perf_counter() - start


def gammas(rows):
    head = rows[:HEAD]
    return {
        False: 0.5 / np.median(pdist(head)) ** 2,
        True: 0.5 / np.median(pdist(StandardScaler().fit_transform(head))) ** 2,
    }


def sgd_models(gamma):
    """Yield (group, name, setting, number of seeds, run(rows, labels, seed))."""
    def entry(setting, scaled, features, factor, options, seeds):
        shown = " ".join(f"{k}={v}" for k, v in options.items()) or "hinge"
        space = "scaled" if scaled else "raw"
        rbf = f"RBF {features} x{factor}" if features else "linear"
        g = gamma[scaled] * factor

        def run(data, labels, seed):
            return run_sgd(data, labels, scaled, features, g, seed, options)

        return ("a sklearn", f"SGD {shown}, {rbf}, {space}", setting, seeds, run)

    losses = ({}, {"loss": "log_loss"})
    for scaled in (False, True):
        for features in (None, 400, 1000):
            for options in losses:
                yield entry("default", scaled, features, 1, options, 3 if features else 1)
    tuned = [
        {"average": True},
        {"loss": "log_loss", "learning_rate": "constant", "eta0": 1.0},
        {"loss": "log_loss", "learning_rate": "constant", "eta0": 5.0},
        {"loss": "hinge", "learning_rate": "constant", "eta0": 0.1},
        {"loss": "hinge", "learning_rate": "pa1", "eta0": 1.0},
    ]
    for scaled in (False, True):
        for factor in (1, 4):
            if factor != 1:
                yield entry("tuned", scaled, 1000, factor, {}, 1)
            for options in tuned:
                yield entry("tuned", scaled, 1000, factor, options, 1)
    for factor, rate in ((4, 20.0), (8, 5.0), (8, 20.0)):
        options = {"loss": "log_loss", "learning_rate": "constant", "eta0": rate}
        yield entry("tuned", False, 1000, factor, options, 1)
    yield entry("tuned", False, 1000, 8, tuned[-1], 1)


def river_models(which):
    """Yield (group, name, setting, number of seeds, make(seed))."""
    lm = linear_model
    ovr, scale = multiclass.OneVsRestClassifier, preprocessing.StandardScaler
    if which == "linear":
        group = "b river linear"

        def one(name, setting, make):
            return (group, name, setting, 1, lambda seed: scale() | make())

        yield one("OvR LogisticRegression", "default", lambda: ovr(lm.LogisticRegression()))
        yield one("SoftmaxRegression", "default", lm.SoftmaxRegression)
        yield one("OvR Perceptron", "default", lambda: ovr(lm.Perceptron()))
        yield one("OvR Perceptron, raw scores", "default", lambda: RawOneVsRest(lm.Perceptron()))
        yield one("OvR PA (PA-I, C=1)", "default", lambda: ovr(lm.PAClassifier()))
        yield one("OvR PA (PA-I, C=1), raw scores", "default",
                  lambda: RawOneVsRest(lm.PAClassifier()))
        yield one("OvR ALMA", "default", lambda: ovr(lm.ALMAClassifier()))
        yield one("OvO LogisticRegression", "default",
                  lambda: multiclass.OneVsOneClassifier(lm.LogisticRegression()))
        yield one("OvO PA (PA-I, C=1)", "default",
                  lambda: multiclass.OneVsOneClassifier(lm.PAClassifier()))
        for rate in (0.003, 0.03, 0.1, 0.3):
            yield one(f"OvR LogisticRegression SGD({rate})", "tuned", lambda r=rate: ovr(
                lm.LogisticRegression(optimizer=optim.SGD(r), intercept_lr=r)))
            yield one(f"SoftmaxRegression SGD({rate})", "tuned",
                      lambda r=rate: lm.SoftmaxRegression(optimizer=optim.SGD(r)))
        for rate in (0.01, 0.03):
            yield one(f"OvR LogisticRegression Adam({rate})", "tuned", lambda r=rate: ovr(
                lm.LogisticRegression(optimizer=optim.Adam(r))))
        for rate in (0.1, 0.3):
            yield one(f"OvR LogisticRegression AdaGrad({rate})", "tuned", lambda r=rate: ovr(
                lm.LogisticRegression(optimizer=optim.AdaGrad(r))))
        for mode in (1, 2):
            for c in (0.003, 0.01, 0.03, 0.1):
                yield one(f"OvR PA (PA-{'I' * mode}, C={c})", "tuned",
                          lambda m=mode, c=c: ovr(lm.PAClassifier(C=c, mode=m)))
        for c in (0.01, 0.1):
            yield one(f"OvO PA (PA-I, C={c})", "tuned",
                      lambda c=c: multiclass.OneVsOneClassifier(lm.PAClassifier(C=c)))
        for alpha in (0.5, 0.99):
            yield one(f"OvR ALMA alpha={alpha}", "tuned",
                      lambda a=alpha: ovr(lm.ALMAClassifier(alpha=a)))
        for alpha in (0.9, 0.5):
            yield (group, f"OvR ALMA alpha={alpha}, raw rows of unit length", "tuned", 1,
                   lambda seed, a=alpha: preprocessing.Normalizer()
                   | ovr(lm.ALMAClassifier(alpha=a)))
        yield (group, "GaussianNB (not linear), raw", "default", 1,
               lambda seed: naive_bayes.GaussianNB())
    elif which == "tree":
        group = "c river tree"
        yield (group, "HoeffdingTree", "default", 1, lambda s: tree.HoeffdingTreeClassifier())
        yield (group, "HoeffdingAdaptiveTree", "default", 3,
               lambda s: tree.HoeffdingAdaptiveTreeClassifier(seed=s))
        yield (group, "ExtremelyFastDecisionTree", "default", 1,
               lambda s: tree.ExtremelyFastDecisionTreeClassifier())
        for name, make in (
            ("HoeffdingTree", tree.HoeffdingTreeClassifier),
            ("ExtremelyFastDecisionTree", tree.ExtremelyFastDecisionTreeClassifier),
        ):
            yield (group, f"{name} grace=50 delta=0.01", "tuned", 1,
                   lambda s, m=make: m(grace_period=50, delta=0.01))
            yield (group, f"{name} grace=50 delta=0.01 nb leaves", "tuned", 1,
                   lambda s, m=make: m(grace_period=50, delta=0.01, leaf_prediction="nb"))
        group = "c river forest (ensemble)"
        yield (group, "ARF, 10 trees", "default", 3, lambda s: forest.ARFClassifier(seed=s))
        yield (group, "AMF, 10 trees", "default", 3, lambda s: forest.AMFClassifier(seed=s))
        yield (group, "ARF, 50 trees", "tuned", 1,
               lambda s: forest.ARFClassifier(n_models=50, seed=s))
    else:
        group = "d river KNN"

        def knn(k, window, weighted=True):
            return neighbors.KNNClassifier(
                n_neighbors=k, weighted=weighted,
                engine=neighbors.LazySearch(window_size=window))

        yield (group, "KNN k=5 window=1000, raw", "default", 1, lambda s: knn(5, 1000))
        yield (group, "KNN k=5 window=1000, scaled", "default", 1, lambda s: scale() | knn(5, 1000))
        yield (group, "KNN k=3 window=1000, raw", "tuned", 1, lambda s: knn(3, 1000))
        yield (group, "KNN k=1 window=1000, raw", "tuned", 1, lambda s: knn(1, 1000))
        yield (group, "KNN k=1 window=1000, scaled", "tuned", 1, lambda s: scale() | knn(1, 1000))
        yield (group, "KNN k=3 all rows kept, raw", "tuned", 1, lambda s: knn(3, 1797))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("csv")
    parser.add_argument("--only", default="sgd,linear,tree,knn", help="groups, comma between")
    parser.add_argument("--match", default="", help="run only models with this text in the name")
    arguments = parser.parse_args()
    chosen = arguments.only.split(",")
    data = np.loadtxt(arguments.csv, delimiter=",", skiprows=1)
    inputs, labels = data[:, :-1], data[:, -1].astype(int)
    names = [f"p{i}" for i in range(inputs.shape[1])]
    dicts = [dict(zip(names, map(float, row))) for row in inputs]
    plain = [int(y) for y in labels]
    n = len(labels)
    gamma = gammas(inputs)
    print(f"Python {platform.python_version()}, scikit-learn {sklearn.__version__}, "
          f"river {river.__version__}, numpy {np.__version__}")
    print(f"{n} rows; gamma raw {gamma[False]:.6g}, scaled {gamma[True]:.6g}")
    line = "{:<26} {:<72} {:<8} {:>8} {:>8} {:>13} {:>8}"
    print(line.format("group", "model", "setting", "accuracy", "errors", "range (runs)", "seconds"))
    best = {}

    def show(group, name, setting, results):
        wrong = [int(r[0]) for r in results]
        mean = sum(wrong) / len(wrong)
        seconds = sum(r[1] for r in results) / len(results)
        spread = f"{min(wrong)}-{max(wrong)} ({len(wrong)})" if len(wrong) > 1 else ""
        text = line.format(group, name, setting, f"{1 - mean / n:.4f}",
                           f"{mean:.1f}".removesuffix(".0"), spread, f"{seconds:.2f}")
        print(text, flush=True)
        key = (group, setting)
        if key not in best or mean < best[key][0]:
            best[key] = (mean, text)

    for group, name, setting, seeds, run in sgd_models(gamma) if "sgd" in chosen else ():
        if arguments.match not in name:
            continue
        show(group, name, setting, [run(inputs, labels, s) for s in range(seeds)])
    for which in [c for c in chosen if c != "sgd"]:
        for group, name, setting, seeds, make in river_models(which):
            if arguments.match not in name:
                continue
            show(group, name, setting, [run_river(make(s), dicts, plain) for s in range(seeds)])
    print("\nBest of each group")
    for key in sorted(best):
        print(best[key][1])


if __name__ == "__main__":
    sys.exit(main())
