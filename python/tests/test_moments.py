"""Sums over shards."""

from __future__ import annotations

import copy
import csv
import json
import pickle
import re
import subprocess

import numpy as np
import pytest
from conftest import ROOT

import mercer
from mercer import RidgeMoments
from mercer.moments import OperatorMoments


def rows(count=500, d=3, outputs=2):
    rng = np.random.default_rng(11)
    X = rng.normal(size=(count, d)).round(6)
    Y = np.column_stack([np.sin(X[:, 0]) + X[:, 1], X[:, -1] ** 2, X[:, 0] - 1][:outputs]) + 0.1 * rng.normal(size=(count, outputs))
    return X, Y.round(6), rng.uniform(0, 2, size=count)


LEARNERS = [
    {"learner": "ridge"},
    {"learner": "ridge", "intercept": False},
    {"learner": "pkrr-taylor", "kernel": "gaussian:2", "degree": 3},
    {"learner": "pkrr-taylor", "kernel": "gaussian:2", "centre": [0.5, 0.0, -0.5]},
    {"learner": "pkrr-fourier", "kernel": "gaussian:2", "features": 20, "seed": 4},
    {"learner": "pkrr-frozen", "kernel": "laplace:2", "points": rows()[0][:25]},
]


def penalty(options, X, w):
    """How much of the ridge falls on each coordinate: on inputs their variance, and nothing on the intercept."""
    if options["learner"] != "ridge":
        return np.ones(RidgeMoments(**options).fit(X, X[:, 0]).map_features(X).shape[1])
    if not options.get("intercept", True):
        return np.average(X**2, axis=0, weights=w)
    return np.append(np.average((X - np.average(X, axis=0, weights=w)) ** 2, axis=0, weights=w), 0.0)


@pytest.mark.parametrize("options", LEARNERS, ids=lambda options: "-".join(map(str, list(options.values())[:2])))
@pytest.mark.parametrize("weighted", [False, True])
def test_normal_equations(options, weighted):
    X, Y, weights = rows()
    model = RidgeMoments(lambda_=0.3, **options).fit(X, Y, sample_weight=weights if weighted else None)
    Z = model.map_features(X)
    w = weights if weighted else np.ones(len(X))
    G, B = Z.T @ (w[:, None] * Z), Z.T @ (w[:, None] * Y)
    np.testing.assert_allclose(model.gram_, G, rtol=1e-12, atol=1e-10)
    np.testing.assert_allclose(model.cross_.T, B, rtol=1e-12, atol=1e-10)
    W = np.linalg.solve(G + 0.3 * np.diag(penalty(options, X, w)), B)
    np.testing.assert_allclose(model.coef_.T, W, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(model.predict(X), Z @ W, rtol=1e-9, atol=1e-9)
    assert model.rows_learnt == 500 and model.best_lambda_ == 0.3


def test_the_features_are_what_they_are_called():
    X, Y, _ = rows()
    ridge = RidgeMoments(lambda_=1.0).fit(X, Y)
    np.testing.assert_array_equal(ridge.map_features(X), np.column_stack([X, np.ones(len(X))]))
    # Features whose products are the kernel: exactly on the points themselves, and nearly for random frequencies.
    kernel = np.exp(-((X[:20, None] - X[None, :20]) ** 2).sum(axis=2) / (2 * 2.0**2))
    frozen = RidgeMoments("pkrr-frozen", kernel="gaussian:2", points=X[:20]).fit(X, Y).map_features(X[:20])
    np.testing.assert_allclose(frozen @ frozen.T, kernel, atol=1e-9)
    taylor = RidgeMoments("pkrr-taylor", kernel="gaussian:2", degree=12).fit(X, Y).map_features(X[:20])
    np.testing.assert_allclose(taylor @ taylor.T, kernel, atol=1e-3)


@pytest.mark.parametrize("options", LEARNERS, ids=lambda options: "-".join(map(str, list(options.values())[:2])))
def test_shards_make_one_pass(options):
    X, Y, weights = rows()
    whole = RidgeMoments(**options).fit(X, Y, sample_weight=weights)
    parts = [RidgeMoments(**options).fit(X[i::4], Y[i::4], sample_weight=weights[i::4]) for i in range(4)]
    parts = [mercer.from_bytes(part.to_bytes()) if i % 2 else part for i, part in enumerate(parts)]
    merged = RidgeMoments(**options)
    for i in (2, 0, 3, 1):
        merged.merge(parts[i])
    np.testing.assert_allclose(merged.gram_, whole.gram_, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(merged.predict(X), whole.predict(X), rtol=1e-9, atol=1e-9)
    assert merged.rows_learnt == 500 and merged.shards_ == [125] * 4
    # Taken back, it is as if the shard had never been there.
    rest = np.arange(500) % 4 != 1
    without = RidgeMoments(**options).fit(X[rest], Y[rest], sample_weight=weights[rest])
    expected = ((without.predict(X[1::4]) - Y[1::4]) ** 2 * weights[1::4, None]).sum(axis=0) / weights[1::4].sum()
    np.testing.assert_allclose(merged.held_out(parts[1]), expected, rtol=1e-7)
    merged.retract(parts[1])
    np.testing.assert_allclose(merged.predict(X), without.predict(X), rtol=1e-7, atol=1e-8)
    with pytest.raises(mercer.DataError, match="not in the state"):
        merged.retract(parts[1])
    with pytest.raises(mercer.DataError, match="in both states"):
        merged.merge(parts[0])


def test_blocks_make_one_pass():
    X, Y, _ = rows()
    whole = RidgeMoments().fit(X, Y[:, 0])
    parts = RidgeMoments()
    for first in range(0, 500, 37):
        parts.partial_fit(X[first : first + 37], Y[first : first + 37, 0])
    np.testing.assert_allclose(parts.predict(X), whole.predict(X), rtol=1e-9, atol=1e-12)
    assert parts.rows_learnt == 500 and parts.predict(X).shape == (500,)
    before = parts.to_bytes()
    bad = X[:50].copy()
    bad[30, 1] = np.nan
    with pytest.raises(ValueError):
        parts.partial_fit(bad, Y[:50, 0])
    with pytest.raises(ValueError):
        parts.partial_fit(X[:50, :2], Y[:50, 0])
    with pytest.raises(ValueError):
        parts.partial_fit(X[:50], Y[:50])
    assert parts.to_bytes() == before


def test_the_path_is_that_of_its_formulas():
    X, Y, _ = rows()
    model = RidgeMoments("pkrr-taylor", kernel="gaussian:2", degree=4, lambda_=None).fit(X, Y)
    Z = model.map_features(X)
    path = model.path([1e-3, 0.1, 10.0])
    for place, lambda_ in enumerate(path.lambdas):
        hat = Z @ np.linalg.solve(Z.T @ Z + lambda_ * np.eye(Z.shape[1]), Z.T)
        rss = ((Y - hat @ Y) ** 2).sum(axis=0)
        np.testing.assert_allclose(path.effective_dimension[place], np.trace(hat), rtol=1e-8)
        np.testing.assert_allclose(path.residuals[place], rss, rtol=1e-7)
        np.testing.assert_allclose(path.r2[place], 1 - rss / ((Y - Y.mean(axis=0)) ** 2).sum(axis=0), rtol=1e-7)
        np.testing.assert_allclose(path.gcv[place], rss / 500 / (1 - np.trace(hat) / 500) ** 2, rtol=1e-7)
    # Without a ridge the best of the grid is taken.
    assert model.best_lambda_ == model.path().best
    fixed = RidgeMoments("pkrr-taylor", kernel="gaussian:2", degree=4, lambda_=model.best_lambda_).fit(X, Y)
    assert (fixed.predict(X) == model.predict(X)).all()


def test_copies_and_deviations():
    X, Y, _ = rows()
    model = RidgeMoments(lambda_=0.5).fit(X[:300], Y[:300, 0])
    copies = [pickle.loads(pickle.dumps(model)), copy.deepcopy(model), mercer.from_bytes(model.to_bytes())]
    model.partial_fit(X[300:], Y[300:, 0])
    made, deviation = model.predict(X, return_std=True)
    for one in copies:
        assert one.rows_learnt == 300 and one.get_params() == model.get_params() and repr(one) == repr(model)
        one.partial_fit(X[300:], Y[300:, 0])
        assert (one.predict(X) == made).all() and one.shards_ == [200, 300]
    # Far from the data less is known: the noise times 1 + zᵀ(G + λΛ)⁻¹z, Λ the variances of the inputs.
    Z = model.map_features(X)
    inverse = np.linalg.inv(model.gram_ + 0.5 * np.diag(penalty({"learner": "ridge"}, X, np.ones(len(X)))))
    spread = 1 + np.einsum("ij,jk,ik->i", Z, inverse, Z)
    np.testing.assert_allclose(deviation**2 / spread, deviation[0] ** 2 / spread[0], rtol=1e-9)
    assert mercer.RidgeMoments().get_params()["learner"] == "ridge" and RidgeMoments(lambda_=None).fit(X, Y).settings["lambda"] == "auto"


def test_what_does_not_go_together():
    X, Y, _ = rows()
    model = RidgeMoments(lambda_=1.0).fit(X, Y)
    for other, words in [
        (RidgeMoments("pkrr-taylor", kernel="gaussian:1"), "the learners"),
        (RidgeMoments(lambda_=2.0), "the parameters"),
        (RidgeMoments(lambda_=1.0, intercept=False), "the parameters"),
    ]:
        with pytest.raises(mercer.DataError, match=words):
            model.merge(other.fit(X, Y))
    with pytest.raises(ValueError):
        model.merge(RidgeMoments(lambda_=1.0).fit(X, Y[:, 0]))
    for options, words in [
        ({"learner": "krls"}, "adds up over shards"),
        ({"degree": 3}, "has no key \"degree\""),
        ({"learner": "pkrr-taylor", "kernel": "laplace:1"}, "needs a Gaussian kernel"),
        ({"learner": "pkrr-taylor", "kernel": "median"}, "differ from shard to shard"),
        ({"learner": "pkrr-frozen", "kernel": "laplace:1"}, "points"),
        ({"learner": "ridge", "points": X[:3]}, "takes no points"),
        ({"lambda_": -1.0}, "lambda must be a positive number"),
    ]:
        with pytest.raises(mercer.SettingsError, match=words):
            RidgeMoments(**options).fit(X, Y)
    with pytest.raises(ValueError, match="not fitted"):
        RidgeMoments().predict(X)
    with pytest.raises(mercer.NotLearntError):
        RidgeMoments().merge(RidgeMoments())
    with pytest.raises(mercer.ModelFileError):
        RidgeMoments.from_bytes(mercer.Krls().fit(X, Y).to_bytes())


def test_scikit_learn():
    checks = pytest.importorskip("sklearn.utils.estimator_checks")
    for model in (RidgeMoments(), RidgeMoments("pkrr-taylor"), RidgeMoments("pkrr-fourier", features=10)):
        # With a ridge of its own: one that is chosen is as small as rounding where fifteen rows are fitted exactly.
        failed = [
            (one["check_name"], repr(one["exception"])[:300])
            for one in checks.check_estimator(model, on_fail=None)
            if one["status"] == "failed"
        ]
        assert not failed


def test_files_are_those_of_the_command(command, tmp_path):
    pd = pytest.importorskip("pandas")
    X, Y, _ = rows(outputs=1)
    path = tmp_path / "rows.csv"
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["a", "b", "c", "y"])
        writer.writerows([*map(float, x), float(y)] for x, [y] in zip(X, Y))
    options = ["--learner", "pkrr-taylor", "--kernel", "gaussian:2", "--set", "lambda=0.1"]

    def run(*arguments):
        return subprocess.run([command, *map(str, arguments)], check=True, capture_output=True, text=True).stdout

    run("fit", path, *options, "--out", tmp_path / "theirs.mercer")
    theirs = mercer.load(tmp_path / "theirs.mercer")
    frame, y = pd.DataFrame(X, columns=["a", "b", "c"]), pd.Series(Y[:, 0], name="y")
    ours = RidgeMoments("pkrr-taylor", kernel="gaussian:2", lambda_=0.1).fit(frame, y)
    assert type(theirs) is RidgeMoments and theirs.get_params() == ours.get_params() and theirs.settings == ours.settings
    assert (theirs.gram_ == ours.gram_).all() and (theirs.predict(frame) == ours.predict(frame)).all()
    # The command predicts with our sums, and merges ours with its own.
    ours.save(tmp_path / "ours.mercer")
    made = [float(line) for line in run("predict", path, "--model", tmp_path / "ours.mercer").splitlines() if not line[0].isalpha()]
    assert (np.array(made) == ours.predict(frame)).all()
    run("fit", path, *options, "--shard", "0/2", "--out", tmp_path / "half.mercer")
    rest = RidgeMoments("pkrr-taylor", kernel="gaussian:2", lambda_=0.1).fit(frame[250:], y[250:])
    rest.save(tmp_path / "rest.mercer")
    told = json.loads(run("merge", tmp_path / "half.mercer", tmp_path / "rest.mercer", "--out", tmp_path / "all.mercer", "--json"))
    assert told["rows"] == 500
    np.testing.assert_allclose(mercer.load(tmp_path / "all.mercer").predict(frame), ours.predict(frame), rtol=1e-9)


@pytest.mark.parametrize(
    "options",
    [
        {"basis": "linear"},
        {"basis": "points", "kernel": "gaussian:1", "points": rows(d=2)[0][:30]},
        {"basis": "fourier", "kernel": "gaussian:1", "features": 12},
        {"basis": "taylor", "kernel": "gaussian:1", "degree": 3},
    ],
    ids=lambda options: options["basis"],
)
def test_operators_of_shards(options):
    X = rows(400, d=2)[0]
    Y = np.column_stack([0.9 * X[:, 0], 0.5 * X[:, 1] + 0.2 * X[:, 0] ** 2])
    model = OperatorMoments(lambda_=1e-3, **options).fit(X, Y)
    phi, psi = model.map_features(X), model.map_features(Y)
    M = np.linalg.solve(phi.T @ phi + 1e-3 * np.eye(phi.shape[1]), phi.T @ psi)
    np.testing.assert_allclose(model.operator_, M, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(model.mean_squared_error_, ((psi - phi @ M) ** 2).sum() / 400, rtol=1e-6, atol=1e-10)
    values = model.eigenvalues_
    np.testing.assert_allclose(np.sort(np.abs(values)), np.sort(np.abs(np.linalg.eigvals(M))), rtol=1e-5, atol=1e-6)
    # An eigenfunction one step later is itself times its eigenvalue, as far as the features go.
    assert model.eigenfunctions(X, 2).shape == (400, 2) and model.pairs_learnt == 400
    parts = [OperatorMoments(lambda_=1e-3, **options).fit(X[i::3], Y[i::3]) for i in range(3)]
    merged = OperatorMoments(lambda_=1e-3, **options)
    for one in (parts[2], pickle.loads(pickle.dumps(parts[0])), copy.deepcopy(parts[1])):
        merged.merge(one)
    np.testing.assert_allclose(merged.operator_, model.operator_, rtol=1e-6, atol=1e-8)
    rest = np.arange(400) % 3 != 1
    without = OperatorMoments(lambda_=1e-3, **options).fit(X[rest], Y[rest])
    np.testing.assert_allclose(merged.retract(parts[1]).operator_, without.operator_, rtol=1e-5, atol=1e-7)


def test_operators_that_do_not_go_together():
    X = rows(100, d=2)[0]
    model = OperatorMoments("linear").fit(X)
    assert model.pairs_learnt == 99
    with pytest.raises(ValueError):
        model.merge(OperatorMoments("taylor").fit(X))
    with pytest.raises(ValueError):
        model.partial_fit(X, X[:50])
    with pytest.raises(ValueError):
        model.partial_fit(np.full((5, 2), np.nan))
    with pytest.raises(mercer.SettingsError, match="basis"):
        OperatorMoments("kernels").fit(X)
    with pytest.raises(mercer.SettingsError, match="points"):
        OperatorMoments().fit(X)
    with pytest.raises(ValueError, match="not fitted"):
        OperatorMoments().eigenvalues_
    with pytest.raises(mercer.ModelFileError):
        OperatorMoments()._set_sums(b"junk")
    assert model.pairs_learnt == 99


def test_the_lines_of_the_page(tmp_path, monkeypatch):
    """docs/scale.md as it is written, after another machine has saved its part."""
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs/scale.md").read_text(encoding="utf-8"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    X, Y, _ = rows(outputs=1)
    RidgeMoments("pkrr-taylor", kernel="gaussian:4").fit(X[250:], Y[250:, 0]).save("part1.mercer")
    names = {"X": X[:250], "y": Y[:250, 0]}
    exec(block, names)
    # What was retracted is the other part.
    assert np.allclose(names["whole"].predict(X), names["part"].predict(X), rtol=0, atol=1e-9)
