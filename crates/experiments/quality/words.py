"""Mercer beside Vowpal Wabbit on a stream of words, categories, lists or
sparse rows, in one run.

Usage: python words.py MERCER FILE [--target NAME] [--class]

MERCER is the command. FILE is .csv, .ndjson or .svm (LIBSVM), perhaps .gz.
Every row is predicted before it is learnt, in the order of the file. Printed
are, for each method, the squared error over the later half as a share of that
of the running mean, or the accuracy and the log loss; and microseconds a row
(Mercer: as eval tells; Vowpal Wabbit: processor time without Python's parsing,
of one thread).

Vowpal Wabbit has the same cells: texts and lists as words in lower case with
signs as words, categories as one feature of the whole cell, numbers as their
deviations from the running mean, pairs of objects and of LIBSVM as they are.
Numbers are learnt in deviations of the targets so far. It has six settings:
adaptive steps or coin betting, alone, with pairs of neighbouring words, and
with all products of two features.

pip install vowpalwabbit numpy
"""

import argparse
import csv
import gzip
import json
import math
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import vowpalwabbit

WORD = re.compile(r"\w+|[^\w\s]")
SETTINGS = {
    "vw": "",
    "vw --coin": "--coin",
    "vw --ngram 2": "--ngram t2",
    "vw --coin --ngram 2": "--coin --ngram t2",
    "vw -q ::": "-q ::",
    "vw --coin -q ::": "--coin -q ::",
}


def opened(path):
    return gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8")


def rows(path, target):
    """Cells by name, and the target."""
    name = path.name.removesuffix(".gz")
    with opened(path) as file:
        if name.endswith(".svm"):
            for line in file:
                first, *pairs = line.split("#")[0].split()
                yield {"": {index: float(value) for index, value in (pair.split(":") for pair in pairs)}}, first
        elif name.endswith("json"):
            for line in file:
                row = json.loads(line)
                yield row, row.pop(target)
        else:
            for row in csv.DictReader(file):
                yield row, row.pop(target)


def number(cell):
    try:
        return float(cell) if not isinstance(cell, (list, dict)) else None
    except (TypeError, ValueError):
        return None


class Spread:
    """Mean and deviation of the numbers so far."""

    def __init__(self):
        self.n, self.mean, self.sum = 0, 0.0, 0.0

    def add(self, value):
        self.n += 1
        before = value - self.mean
        self.mean += before / self.n
        self.sum += before * (value - self.mean)

    def scaled(self, value):
        deviation = math.sqrt(self.sum / self.n) if self.n else 0.0
        return (value - self.mean) / deviation if deviation else 0.0


class Features:
    """Rows as Vowpal Wabbit reads them: words in namespace t, all else in f."""

    def __init__(self, head):
        columns = {name for row in head for name in row}
        share = {name: np.mean([number(row.get(name)) is not None for row in head]) for name in columns}
        self.numbers = {name: Spread() for name in columns if share[name] >= 0.95}

    def line(self, row):
        words, others = [], []
        for name, cell in row.items():
            key = re.sub(r"[\s:|]", "_", name)
            if isinstance(cell, dict):
                others += [f"{key}.{re.sub(r'[ :|]', '_', str(one))}:{value}" for one, value in cell.items()]
            elif name in self.numbers:
                value = number(cell)
                if value is not None:
                    others.append(f"{key}:{self.numbers[name].scaled(value):.6g}")
                    self.numbers[name].add(value)
            elif cell not in (None, ""):
                parts = [str(one).lower() for one in cell] if isinstance(cell, list) else WORD.findall(cell.lower())
                whole = re.sub(r"[\s:|]", "_", str(cell))
                if len(parts) > 1 or isinstance(cell, list):
                    words += [f"{key}.{re.sub(r'[ :|]', '_', part)}" for part in parts]
                else:
                    others.append(f"{key}={whole}")
        return f"|t {' '.join(words)} |f {' '.join(others)}"


def vowpal(setting, lines, targets, classes):
    """Predictions before learning, and seconds a row."""
    if classes is None:
        options, labels = "", targets
    elif len(classes) == 2:
        options, labels = "--loss_function logistic --link logistic", [1 if y == classes[1] else -1 for y in targets]
    else:
        options = f"--oaa {len(classes)} --loss_function logistic --probabilities"
        labels = [1 + classes.index(y) for y in targets]
    model = vowpalwabbit.Workspace(f"--quiet -b 22 {options} {SETTINGS[setting]}")
    examples = [f"{label} {line}" for label, line in zip(labels, lines)]
    made, begun = [], time.process_time()
    for example in examples:
        parsed = model.parse(example)
        made.append(model.predict(parsed))
        model.learn(parsed)
        model.finish_example(parsed)
    return np.array(made), (time.process_time() - begun) / len(lines)


def scored(made, targets, classes):
    half = slice(len(targets) // 2, None)
    if classes is None:
        y = np.array(targets, dtype=float)
        mean = np.concatenate([[y[0]], np.cumsum(y)[:-1] / np.arange(1, len(y))])
        return f"{((y - made)[half] ** 2).sum() / ((y - mean)[half] ** 2).sum():.4f}"
    places = np.array([classes.index(y) for y in targets])
    p = np.clip(made[np.arange(len(places)), places], 1e-6, 1)
    return f"{(made.argmax(1) == places)[half].mean():.4f} {-np.log(p[half]).mean():.4f}"


def mercer(command, path, target, classes, targets, learner):
    """The predictions of `mercer eval`."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "p.csv"
        asked = [command, "eval", path, *learner.split(), "--predictions", out, "--json", "--quiet"]
        # Sparse rows stay as they are.
        asked += [] if ".svm" in path.name else ["--scale", "standard"]
        asked += ["--target", target] if target else []
        asked += ["--task", "class"] if classes else []
        report = json.loads(subprocess.run(asked, check=True, capture_output=True, text=True).stdout)
        with out.open(encoding="utf-8") as file:
            read = list(csv.DictReader(file))
    seconds = report["seconds"] / report["rows"]
    if classes is None:
        mean = np.concatenate([[0.0], np.cumsum(np.array(targets, dtype=float))[:-1] / np.arange(1, len(targets))])
        return np.array([float(row["prediction"] or mean[at]) for at, row in enumerate(read)]), seconds
    share = 1 / len(classes)
    return np.array([[float(row.get(f"p_{name}") or share) for name in classes] for row in read]), seconds


def main():
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("mercer")
    asked.add_argument("file", type=Path)
    asked.add_argument("--target")
    asked.add_argument("--class", dest="of_classes", action="store_true")
    told = asked.parse_args()
    cells, targets = map(list, zip(*rows(told.file, told.target)))
    classes = sorted({str(y) for y in targets}) if told.of_classes else None
    targets = [str(y) for y in targets] if classes else [float(y) for y in targets]
    print(f"{told.file.name}: {len(targets)} rows; Vowpal Wabbit {vowpalwabbit.__version__}", file=sys.stderr)
    for learner in ("coin", "diagonal-kalman", "auto"):
        made, seconds = mercer(told.mercer, told.file, told.target, classes, targets, f"--learner {learner}")
        print(f"{learner:22} {scored(made, targets, classes)} {1e6 * seconds:9.1f} us", flush=True)
    features = Features(cells[:256])
    lines = [features.line(row) for row in cells]
    scale, scaled, back = Spread(), [], []
    for y in targets if classes is None else ():
        scaled.append(scale.scaled(y))
        back.append((math.sqrt(scale.sum / scale.n) if scale.n else 1.0, scale.mean))
        scale.add(y)
    for setting in SETTINGS:
        if "-q" in setting and np.mean([line.count(" ") for line in lines[:256]]) > 300:
            continue
        made, seconds = vowpal(setting, lines, scaled if classes is None else targets, classes)
        if classes is None:
            made = np.array([deviation * z + mean for z, (deviation, mean) in zip(made, back)])
        elif len(classes) == 2:
            made = np.stack([1 - made, made], 1)
        print(f"{setting:22} {scored(made, targets, classes)} {1e6 * seconds:9.1f} us", flush=True)


main()
