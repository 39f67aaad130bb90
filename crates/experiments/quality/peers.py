"""Scores of other learners on the streams of the comparison of quality.

Usage: python peers.py FOLDER [--rows N] [--streams casp,ccpp]
       [--methods vw,rv-arf] > scores.csv

FOLDER holds NAME.csv.gz or NAME.csv with the target last. Each method sees the
rows in the order of the file, once: it predicts a row, the error is noted, it
learns the row. The score is the squared error over the last half as a share of
that of the running mean; `first` is the same over the first 1000 rows from the
second on, and needs no more rows than these. Nothing is tuned.

Features are standardised by the rows so far, except for forests without
`-std`, and so are targets, except for trees, forests and nearest neighbours.
Methods moa-... are those of MOA, called by CapyMOA; they need Java 17.
Methods b-... do not learn online: whenever the stream has doubled (from 128
rows on) they are fitted anew to all rows so far (Gaussian processes and kernel
ridge to the last 2000 and 4000 of them), standardised, and predict until the
next time.

pip install river scikit-learn lightgbm catboost vowpalwabbit capymoa (those
that are missing are left out). Versions go to standard error. One thread;
seconds are those of the processor (Java's own threads among them), and for
Vowpal Wabbit those of a pass over a file of its own, without Python.
"""

import argparse
import gzip
import importlib
import importlib.metadata
import os
import platform
import sys
import tempfile
import time
import warnings
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402

warnings.filterwarnings("ignore")
SEED = 0
FIRST_FIT = 128
HEAD = 200
FIRST_ROWS = 1000


class Running:
    """Mean and deviation of the rows so far."""

    def __init__(self, width):
        self.n, self.mean, self.m2 = 0, np.zeros(width), np.zeros(width)

    def learn(self, x):
        self.n += 1
        before = x - self.mean
        self.mean += before / self.n
        self.m2 += before * (x - self.mean)

    def deviation(self):
        deviation = np.sqrt(self.m2 / max(self.n, 1))
        return np.where(deviation > 0, deviation, 1.0)

    def scale(self, x):
        return (x - self.mean) / self.deviation()


def named(x):
    """A row as river takes it."""
    return dict(enumerate(x.tolist()))


class River:
    """A river model; with `scaled`, its target is standardised."""

    def __init__(self, model, scaled=False):
        self.model, self.y = model, Running(1) if scaled else None

    def predict(self, x):
        z = self.model.predict_one(named(x)) or 0.0
        return z if self.y is None else z * self.y.deviation()[0] + self.y.mean[0]

    def learn(self, x, y):
        if self.y is not None:
            self.y.learn(np.array([y]))
            y = self.y.scale(np.array([y]))[0]
        self.model.learn_one(named(x), y)


class Sklearn:
    """A scikit-learn model with partial_fit, inputs and target standardised.

    `features` makes more features of the first HEAD rows' scaled inputs.
    """

    def __init__(self, model, width, features=None):
        self.model, self.features = model, features
        self.x, self.y = Running(width), Running(1)
        self.head, self.ready = [], features is None

    def inputs(self, x):
        scaled = np.clip(self.x.scale(x), -10, 10)[None]
        return scaled if self.features is None else self.features.transform(scaled)

    def begun(self):
        return hasattr(self.model, "n_features_in_")

    def admit(self, x):
        """Whether the model can learn the row; those before make the features."""
        self.x.learn(x)
        if not self.ready:
            self.head.append(x)
            if len(self.head) == HEAD:
                self.features.fit(np.clip(self.x.scale(np.array(self.head)), -10, 10))
                self.ready = True
        return self.ready

    def predict(self, x):
        if not self.begun():
            return self.y.mean[0]
        z = self.model.predict(self.inputs(x))[0]
        return z * self.y.deviation()[0] + self.y.mean[0]

    def learn(self, x, y):
        self.y.learn(np.array([y]))
        if self.admit(x):
            self.model.partial_fit(self.inputs(x), self.y.scale(np.array([y])))


class VowpalWabbit:
    """Vowpal Wabbit with its default settings and these options."""

    def __init__(self, width, options=""):
        from vowpalwabbit import Workspace
        self.vw, self.options, self.lines = Workspace(f"--quiet {options}"), options, []
        self.x, self.y = Running(width), Running(1)

    def text(self, x):
        scaled = self.x.scale(x).tolist()
        return "|a " + " ".join(f"f{i}:{v!r}" for i, v in enumerate(scaled) if v)

    def predict(self, x):
        return self.vw.predict(self.text(x)) * self.y.deviation()[0] + self.y.mean[0]

    def learn(self, x, y):
        self.x.learn(x)
        self.y.learn(np.array([y]))
        self.learn_labelled(float(self.y.scale(np.array([y]))[0]), x)

    def learn_labelled(self, label, x):
        self.lines.append(f"{label!r} {self.text(x)}")
        self.vw.learn(self.lines[-1])

    def seconds_alone(self):
        """What Vowpal Wabbit needs to predict and learn these rows from a file, without Python."""
        from vowpalwabbit import Workspace
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "rows")
            path.write_text("\n".join(self.lines) + "\n")
            start = time.process_time()
            Workspace(f"--quiet -d {path} -p {path}.told {self.options}").finish()
            return time.process_time() - start


class Moa:
    """A learner of MOA; row and target are copied to Java."""

    def __init__(self, path, width, classes=None, **settings):
        from capymoa.stream import Schema
        names, labels = [f"x{i}" for i in range(width)] + ["y"], list(map(str, classes or []))
        self.schema = Schema.from_custom(names, "y", {"y": labels} if labels else None)
        self.model = made(path, schema=self.schema, random_seed=SEED, **settings)

    def predict(self, x):
        from capymoa.core import Instance
        return self.model.predict(Instance.from_array(self.schema, x))

    def learn(self, x, y):
        from capymoa.core import RegressionInstance
        self.model.train(RegressionInstance.from_array(self.schema, x, y))


class Refitted:
    """A model that is fitted anew at doublings; it predicts the rows until the next in one call."""

    def __init__(self, make, most=None):
        self.make, self.most, self.targets, self.told, self.next = make, most, [], [], FIRST_FIT

    def predict(self, x):
        if not self.told:
            return self.untrained()
        return self.told[len(self.targets) - self.next // 2]

    def untrained(self):
        return float(np.mean(self.targets)) if self.targets else 0.0

    def learn(self, x, y):
        self.targets.append(y)
        end = len(self.targets)
        if end < self.next or end == len(self.stream):
            return
        self.next *= 2
        first = max(0, end - (self.most or end))
        rows = self.scaled(self.stream[first:end], self.stream[end:self.next])
        self.told = self.fit(rows[0], np.array(self.targets[first:]), rows[1])

    def scaled(self, xs, ahead):
        mean, deviation = xs.mean(0), xs.std(0)
        deviation = np.where(deviation > 0, deviation, 1.0)
        return (xs - mean) / deviation, (ahead - mean) / deviation

    def fit(self, xs, ys, ahead):
        """What a model of these rows says of those ahead."""
        mean, deviation = ys.mean(), ys.std() or 1.0
        scaled = (ys - mean) / deviation
        return (self.make(xs, scaled).fit(xs, scaled).predict(ahead) * deviation + mean).tolist()


def made(path, **settings):
    """An object of the class of this path; its package is imported no earlier."""
    module, name = path.rsplit(".", 1)
    return getattr(importlib.import_module(module), name)(**settings)


def median_gamma(xs):
    from scipy.spatial.distance import pdist
    return 0.5 / np.median(pdist(xs[:HEAD])) ** 2


def gaussian_process(length_scales):
    def make(xs, _):
        from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
        scale = np.full(xs.shape[1] if length_scales else 1, np.sqrt(xs.shape[1]))
        kernel = ConstantKernel() * RBF(scale if length_scales else scale[0]) + WhiteKernel(0.1)
        return made("sklearn.gaussian_process.GaussianProcessRegressor", kernel=kernel, random_state=SEED)
    return make


def kernel_ridge(xs, _):
    return made("sklearn.kernel_ridge.KernelRidge", alpha=0.1, kernel="rbf", gamma=median_gamma(xs))


def light_gbm(*_):
    return made("lightgbm.LGBMRegressor", n_jobs=1, verbose=-1, random_state=SEED)


def cat_boost(kind):
    quiet = {"verbose": False, "allow_writing_files": False}
    return lambda *_: made(f"catboost.CatBoost{kind}", thread_count=1, random_seed=SEED, **quiet)


def extra_trees(kind):
    return lambda *_: made(f"sklearn.ensemble.ExtraTrees{kind}", random_state=SEED)


def sklearn_methods(of, kind, **sgd):
    """A network, and SGD on two kinds of features, for `of`, which wraps a `kind` of models."""
    def on_features(name, count):
        def learner(d):
            settings = {"gamma": 1 / (2 * d), "n_components": count, "random_state": SEED}
            model = made(f"sklearn.linear_model.SGD{kind}", random_state=SEED, **sgd)
            return of(model, d, made(f"sklearn.kernel_approximation.{name}", **settings))
        return learner
    return {
        "sk-mlp": lambda d: of(made(f"sklearn.neural_network.MLP{kind}", random_state=SEED), d),
        "sk-nys": on_features("Nystroem", HEAD), "sk-rff": on_features("RBFSampler", 400),
    }


def standardised(model):
    return made("river.preprocessing.StandardScaler") | model


def methods():
    """Name to a function from the number of features to a learner."""
    def knn():
        return made("river.neighbors.KNNRegressor")

    def hat():
        return made("river.tree.HoeffdingAdaptiveTreeRegressor", seed=SEED)

    def arf():
        return made("river.forest.ARFRegressor", seed=SEED)

    def amf():
        return made("river.forest.AMFRegressor", seed=SEED)

    def moa(name):
        return lambda d: Moa(f"capymoa.regressor.{name}", d)

    return {
        "vw": VowpalWabbit, "vw-q": lambda d: VowpalWabbit(d, "-q ::"),
        "vw-nn": lambda d: VowpalWabbit(d, "--nn 10"), "vw-q-nn": lambda d: VowpalWabbit(d, "-q :: --nn 10"),
        **sklearn_methods(Sklearn, "Regressor"),
        "rv-linear": lambda _: River(standardised(made("river.linear_model.LinearRegression")), True),
        "rv-knn": lambda _: River(standardised(knn())), "rv-hat": lambda _: River(standardised(hat())),
        "rv-arf": lambda _: River(arf()), "rv-arf-std": lambda _: River(standardised(arf())),
        "rv-amf": lambda _: River(amf()), "rv-amf-std": lambda _: River(standardised(amf())),
        "rv-srp": lambda _: River(made("river.ensemble.SRPRegressor", seed=SEED)),
        "rv-oxt": lambda _: River(made("river.forest.OXTRegressor", seed=SEED)),
        "moa-sgbr": moa("StreamingGradientBoostedRegression"), "moa-soknl": moa("SOKNL"),
        "moa-arf": moa("AdaptiveRandomForestRegressor"),
        "b-lgbm": lambda _: Refitted(light_gbm),
        "b-catboost": lambda _: Refitted(cat_boost("Regressor")),
        "b-et": lambda _: Refitted(extra_trees("Regressor")),
        "b-krr": lambda _: Refitted(kernel_ridge, 4000),
        "b-gp": lambda _: Refitted(gaussian_process(True), 2000),
        "b-gp-iso": lambda _: Refitted(gaussian_process(False), 2000),
    }


def expect(learner, xs):
    """Tells a refitted model the rows, unless it has them in a form of its own."""
    if not hasattr(learner, "stream"):
        learner.stream = xs


def score(learner, xs, ys):
    """NMSE over the last half and over the first rows."""
    expect(learner, xs)
    loss, of_mean, total = np.zeros(2), np.zeros(2), 0.0
    for t, (x, y) in enumerate(zip(xs, ys)):
        prediction = learner.predict(x)
        counts = np.array([2 * t >= len(ys), 1 <= t < FIRST_ROWS])
        loss += counts * (prediction - y) ** 2
        of_mean += counts * (total / max(t, 1) - y) ** 2
        total += y
        learner.learn(x, y)
    return loss / of_mean


def known(target):
    """The streams of the list with such a target, `number` or `class`."""
    with open(Path(__file__).with_name("streams.csv")) as file:
        cells = [line.split(",") for line in file]
    return [cell[0] for cell in cells if cell[1] == target]


def read(folder, stream, rows=None):
    """Features and targets of a stream, packed or not."""
    path = folder / f"{stream}.csv.gz"
    with gzip.open(path, "rt") if path.exists() else open(path.with_suffix("")) as file:
        table = np.loadtxt(file, delimiter=",", skiprows=1, max_rows=rows)
    return table[:, :-1], table[:, -1]


def arguments_of(doc):
    """The parser of what this script and classes.py both take."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--streams", type=lambda text: text.split(","))
    parser.add_argument("--methods", type=lambda text: text.split(","))
    return parser


def versions():
    print(f"python {platform.python_version()}", file=sys.stderr)
    for package in ("river", "scikit-learn", "lightgbm", "catboost", "vowpalwabbit", "capymoa", "numpy"):
        try:
            print(package, importlib.metadata.version(package), file=sys.stderr)
        except importlib.metadata.PackageNotFoundError:
            print(package, "is not installed", file=sys.stderr)


def run(arguments, streams, scores, methods, score):
    """Prints the scores of all methods, which `methods` makes for the targets."""
    versions()
    print(f"stream,method,{scores},seconds")
    for stream in arguments.streams or streams:
        xs, ys = read(arguments.folder, stream, arguments.rows)
        for name, make in methods(ys).items():
            if arguments.methods and name not in arguments.methods:
                continue
            start = time.process_time()
            try:
                learner = make(xs.shape[1])
                values = score(learner, xs, ys)
                seconds = time.process_time() - start
                if isinstance(learner, VowpalWabbit):
                    seconds = learner.seconds_alone()
            except ImportError as error:
                print(f"{stream},{name}: left out ({error})", file=sys.stderr)
                continue
            except Exception as error:  # One that fails has no score.
                print(f"{stream},{name}: failed ({error})", file=sys.stderr)
                continue
            values = ",".join(f"{value:.6g}" for value in values)
            print(f"{stream},{name},{values},{seconds:.3g}", flush=True)


def main():
    arguments = arguments_of(__doc__).parse_args()
    run(arguments, known("number"), "nmse,first", lambda _: methods(), score)


if __name__ == "__main__":
    main()
