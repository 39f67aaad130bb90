"""Scores of other classifiers on the streams of classes, and two of these streams.

Usage: python classes.py FOLDER [--make SUSY] [--rows N] [--streams class_susy]
       [--methods vw,rv-arf] > scores.csv

FOLDER holds NAME.csv.gz or NAME.csv with the label last. `--make` first writes
two streams there: class_susy.csv, the first 5000 rows of the data set
susy_11k_low8 (SUSY is its file), and class_segments.csv, the image segments
that come with river, both permuted; their sha256 are in streams.csv.

The protocol is that of peers.py: a row is predicted, then learnt, nothing is
tuned. Scores are accuracy and log loss over the last half. Probabilities are
clipped to [1e-6, 1 - 1e-6]; a class without one gets 1e-6. Features are
standardised by the rows so far, except for naive Bayes, `vw` and forests
without `-std`.
Vowpal Wabbit, `sk-...` and `rv-logreg` are told beforehand which classes there
are. Methods c-... know nothing but labels, and b-... are fitted anew at
doublings.

pip install river scikit-learn lightgbm catboost vowpalwabbit capymoa. One
thread.
"""

import gzip
import random
from pathlib import Path

import numpy as np
import peers
from peers import (
    SEED, Moa, Refitted, Sklearn, VowpalWabbit, cat_boost, extra_trees, made, named, sklearn_methods, standardised
)

SUSY_ROWS = 5000
CLIP = 1e-6


def make(folder, susy):
    """Writes the two streams."""
    with gzip.open(susy, "rt") as file:
        head, *rows = file.read().splitlines()
    write(folder / "class_susy.csv", head, rows[:SUSY_ROWS])
    from river import datasets
    examples = list(datasets.ImageSegments())
    labels = sorted({label for _, label in examples})
    rows = [",".join(map(repr, (*x.values(), labels.index(label)))) for x, label in examples]
    write(folder / "class_segments.csv", ",".join((*examples[0][0], "label")), rows)


def write(path, head, rows):
    random.Random(SEED).shuffle(rows)
    path.write_text("\n".join((head, *rows)) + "\n", newline="\n")


class Counts:
    """Shares of the labels so far, or of those that came after the last label."""

    def __init__(self, classes, after_last=False):
        self.classes, self.after_last, self.last, self.of = classes, after_last, None, {}

    def counts(self):
        key = self.last if self.after_last else None
        return self.of.setdefault(key, dict.fromkeys(self.classes, 1))

    def predict(self, _):
        counts = self.counts()
        return {label: n / sum(counts.values()) for label, n in counts.items()}

    def learn(self, _, y):
        self.counts()[y] += 1
        self.last = y


class River:
    """A river classifier; one of two classes learns whether it is `positive`."""

    def __init__(self, model, positive=None, negative=None):
        self.model, self.positive, self.negative = model, positive, negative

    def predict(self, x):
        p = self.model.predict_proba_one(named(x))
        if self.positive is None:
            return p
        return {self.positive: p.get(True, 0.0), self.negative: p.get(False, 0.0)}

    def learn(self, x, y):
        self.model.learn_one(named(x), y if self.positive is None else y == self.positive)


class SklearnClasses(Sklearn):
    """A scikit-learn classifier with partial_fit, inputs standardised."""

    def __init__(self, model, width, classes, features=None):
        super().__init__(model, width, features)
        self.classes = classes

    def predict(self, x):
        if not self.begun():
            return {}
        return dict(zip(self.classes, self.model.predict_proba(self.inputs(x))[0]))

    def learn(self, x, y):
        if self.admit(x):
            self.model.partial_fit(self.inputs(x), [y], classes=self.classes)


class VowpalWabbitClasses(VowpalWabbit):
    """Vowpal Wabbit with the logistic loss, for many classes one against all."""

    def __init__(self, width, classes, options="", scaled=True):
        self.classes, self.scaled, self.binary = classes, scaled, len(classes) == 2
        kind = "--link logistic" if self.binary else f"--oaa {len(classes)} --probabilities"
        super().__init__(width, f"--loss_function logistic {kind} {options}")

    def predict(self, x):
        p = self.vw.predict(self.text(x))
        return dict(zip(self.classes, [1.0 - p, p] if self.binary else p))

    def learn(self, x, y):
        if self.scaled:
            self.x.learn(x)
        place = self.classes.index(y)
        self.learn_labelled(2 * place - 1 if self.binary else place + 1, x)


class MoaClasses(Moa):
    """A classifier of MOA."""

    def __init__(self, path, width, classes):
        super().__init__(path, width, classes)
        self.classes = classes

    def predict(self, x):
        from capymoa.core import Instance
        p = self.model.predict_proba(Instance.from_array(self.schema, x))
        return {} if p is None else dict(zip(self.classes, p))

    def learn(self, x, y):
        from capymoa.core import LabeledInstance
        self.model.train(LabeledInstance.from_array(self.schema, x, self.classes.index(y)))


class RefittedClasses(Refitted):
    """A classifier that is fitted anew at doublings."""

    def untrained(self):
        return {}

    def fit(self, xs, ys, ahead):
        model = self.make(xs, ys).fit(xs, ys)
        return [dict(zip(model.classes_.tolist(), p)) for p in model.predict_proba(ahead)]


def light_gbm(*_):
    return made("lightgbm.LGBMClassifier", n_jobs=1, verbose=-1, random_state=SEED)


def support_vectors(*_):
    machine = made("sklearn.svm.SVC")
    return made("sklearn.calibration.CalibratedClassifierCV", estimator=machine, ensemble=False)


def river_methods(classes):
    def logistic():
        return made("river.linear_model.LogisticRegression")

    def knn(**settings):
        return River(standardised(made("river.neighbors.KNNClassifier", **settings)))

    def exact():
        return made("river.neighbors.LazySearch", window_size=1000)

    def hat():
        return made("river.tree.HoeffdingAdaptiveTreeClassifier", seed=SEED)

    def arf():
        return made("river.forest.ARFClassifier", seed=SEED)

    def amf():
        return made("river.forest.AMFClassifier", seed=SEED)

    def one_vs_rest():
        return made("river.multiclass.OneVsRestClassifier", classifier=logistic())

    def srp():
        return made("river.ensemble.SRPClassifier", seed=SEED)

    two = {"rv-logreg": lambda _: River(standardised(logistic()), classes[1], classes[0])}
    many = {
        "rv-logreg-ovr": lambda _: River(standardised(one_vs_rest())),
        "rv-softmax": lambda _: River(standardised(made("river.linear_model.SoftmaxRegression"))),
    }
    return {
        **(two if len(classes) == 2 else many),
        "rv-gnb": lambda _: River(made("river.naive_bayes.GaussianNB")),
        "rv-hat": lambda _: River(standardised(hat())),
        "rv-knn": lambda _: knn(), "rv-knn-exact": lambda _: knn(engine=exact()),
        "rv-arf": lambda _: River(arf()), "rv-arf-std": lambda _: River(standardised(arf())),
        "rv-amf": lambda _: River(amf()), "rv-amf-std": lambda _: River(standardised(amf())),
        "rv-srp": lambda _: River(srp()),
    }


def methods(labels):
    """Name to a function from the number of features to a learner of these labels."""
    classes = sorted(set(labels.tolist()))

    def of_classes(model, d, features=None):
        return SklearnClasses(model, d, classes, features)

    def moa(name):
        return lambda d: MoaClasses(f"capymoa.classifier.{name}", d, classes)

    return {
        "c-prior": lambda _: Counts(classes),
        "c-markov": lambda _: Counts(classes, after_last=True),
        **river_methods(classes),
        **sklearn_methods(of_classes, "Classifier", loss="log_loss"),
        "vw": lambda d: VowpalWabbitClasses(d, classes, scaled=False),
        "vw-std": lambda d: VowpalWabbitClasses(d, classes),
        "vw-std-q": lambda d: VowpalWabbitClasses(d, classes, "-q ::"),
        "vw-std-nn": lambda d: VowpalWabbitClasses(d, classes, "--nn 10"),
        "moa-sgbt": moa("StreamingGradientBoostedTrees"), "moa-srp": moa("StreamingRandomPatches"),
        "moa-arf": moa("AdaptiveRandomForestClassifier"),
        "b-lgbm": lambda _: RefittedClasses(light_gbm),
        "b-catboost": lambda _: RefittedClasses(cat_boost("Classifier")),
        "b-et": lambda _: RefittedClasses(extra_trees("Classifier")),
        "b-svc": lambda _: RefittedClasses(support_vectors, 4000),
    }


def score(learner, xs, ys):
    """Accuracy and log loss over the last half."""
    peers.expect(learner, xs)
    right = log_loss = rows = 0
    for t, (x, y) in enumerate(zip(xs, ys.tolist())):
        p = learner.predict(x)
        if 2 * t >= len(ys):
            rows += 1
            right += bool(p) and max(p, key=p.get) == y
            log_loss -= np.log(np.clip(p.get(y, 0.0), CLIP, 1 - CLIP))
        learner.learn(x, y)
    return right / rows, log_loss / rows


def main():
    parser = peers.arguments_of(__doc__)
    parser.add_argument("--make", metavar="SUSY", type=Path)
    arguments = parser.parse_args()
    if arguments.make:
        make(arguments.folder, arguments.make)
    peers.run(arguments, peers.known("class"), "accuracy,log_loss", methods, score)


if __name__ == "__main__":
    main()
