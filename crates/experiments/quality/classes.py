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

pip install river scikit-learn lightgbm vowpalwabbit. One thread.
"""

import gzip
import random
from pathlib import Path

import numpy as np
import peers
from peers import HEAD, SEED, Refitted, Sklearn, VowpalWabbit, named

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
        self.vw.learn(f"{2 * place - 1 if self.binary else place + 1} {self.text(x)}")


class RefittedClasses(Refitted):
    """A classifier that is fitted anew at doublings."""

    def predict(self, x):
        if self.model is None:
            return {}
        model, mean, deviation = self.model
        return dict(zip(model.classes_, model.predict_proba(((x - mean) / deviation)[None])[0]))

    def fit(self, xs, ys):
        mean, deviation = xs.mean(0), xs.std(0)
        deviation = np.where(deviation > 0, deviation, 1.0)
        scaled = (xs - mean) / deviation
        self.model = self.make(scaled, ys).fit(scaled, ys), mean, deviation


def light_gbm(*_):
    from lightgbm import LGBMClassifier
    return LGBMClassifier(n_jobs=1, verbose=-1, random_state=SEED)


def support_vectors(*_):
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.svm import SVC
    return CalibratedClassifierCV(SVC(), ensemble=False)


def sklearn_methods(classes):
    def sgd():
        from sklearn.linear_model import SGDClassifier
        return SGDClassifier(loss="log_loss", random_state=SEED)

    def mlp(d):
        from sklearn.neural_network import MLPClassifier
        return SklearnClasses(MLPClassifier(random_state=SEED), d, classes)

    def nystroem(d):
        from sklearn.kernel_approximation import Nystroem
        features = Nystroem(gamma=1 / (2 * d), n_components=HEAD, random_state=SEED)
        return SklearnClasses(sgd(), d, classes, features)

    def fourier(d):
        from sklearn.kernel_approximation import RBFSampler
        features = RBFSampler(gamma=1 / (2 * d), n_components=400, random_state=SEED)
        return SklearnClasses(sgd(), d, classes, features)

    return {"sk-mlp": mlp, "sk-nys": nystroem, "sk-rff": fourier}


def river_methods(classes):
    def scaled(model):
        from river import preprocessing
        return preprocessing.StandardScaler() | model

    def logistic(_):
        from river import linear_model
        return River(scaled(linear_model.LogisticRegression()), classes[1], classes[0])

    def one_vs_rest(_):
        from river import linear_model, multiclass
        return River(scaled(multiclass.OneVsRestClassifier(linear_model.LogisticRegression())))

    def softmax(_):
        from river import linear_model
        return River(scaled(linear_model.SoftmaxRegression()))

    def bayes(_):
        from river import naive_bayes
        return River(naive_bayes.GaussianNB())

    def nearest(_):
        from river import neighbors
        return River(scaled(neighbors.KNNClassifier()))

    def nearest_exact(_):
        from river import neighbors
        return River(scaled(neighbors.KNNClassifier(engine=neighbors.LazySearch(window_size=1000))))

    def hat(_):
        from river import tree
        return River(scaled(tree.HoeffdingAdaptiveTreeClassifier(seed=SEED)))

    def arf():
        from river import forest
        return forest.ARFClassifier(seed=SEED)

    def amf():
        from river import forest
        return forest.AMFClassifier(seed=SEED)

    two = {"rv-logreg": logistic}
    many = {"rv-logreg-ovr": one_vs_rest, "rv-softmax": softmax}
    return {
        **(two if len(classes) == 2 else many),
        "rv-gnb": bayes, "rv-hat": hat, "rv-knn": nearest, "rv-knn-exact": nearest_exact,
        "rv-arf": lambda _: River(arf()), "rv-arf-std": lambda _: River(scaled(arf())),
        "rv-amf": lambda _: River(amf()), "rv-amf-std": lambda _: River(scaled(amf())),
    }


def methods(labels):
    """Name to a function from the number of features to a learner of these labels."""
    classes = sorted(set(labels.tolist()))
    return {
        "c-prior": lambda _: Counts(classes),
        "c-markov": lambda _: Counts(classes, after_last=True),
        **river_methods(classes),
        **sklearn_methods(classes),
        "vw": lambda d: VowpalWabbitClasses(d, classes, scaled=False),
        "vw-std": lambda d: VowpalWabbitClasses(d, classes),
        "vw-std-q": lambda d: VowpalWabbitClasses(d, classes, "-q ::"),
        "b-lgbm": lambda _: RefittedClasses(light_gbm),
        "b-svc": lambda _: RefittedClasses(support_vectors, 4000),
    }


def score(learner, xs, ys):
    """Accuracy and log loss over the last half."""
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
