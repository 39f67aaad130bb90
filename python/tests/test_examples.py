"""The examples run; and without scikit-learn and river the package works."""

from __future__ import annotations

import subprocess
import sys

import pytest
from conftest import ROOT

EXAMPLES = sorted((ROOT / "python" / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(path, tmp_path):
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, cwd=tmp_path, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_without_scikit_learn_and_river():
    code = """
import sys
for name in ("sklearn", "river", "pandas", "scipy", "matplotlib"):
    sys.modules[name] = None
import copy, pickle
import numpy as np, mercer
X = np.random.default_rng(0).normal(size=(200, 2)); y = X[:, 0] ** 2
model = mercer.Krls(lambda_=0.2, intervals=0.9).fit(X, y)
assert model.score(X, y) > 0.9 and repr(mercer.Krls(lambda_=0.2)) == "Krls(lambda_=0.2)"
assert (pickle.loads(pickle.dumps(model)).predict(X) == model.predict(X)).all()
assert model.get_params()["lambda_"] == 0.2 and model.set_params(lambda_=0.3).lambda_ == 0.3
classifier = mercer.KrlsClassifier().fit(X, y > 1)
assert classifier.score(X, y > 1) > 0.9 and classifier.predict_proba(X).shape == (200, 2)
model.learn_one({0: 0.1, 1: 0.2}, 0.3)
mercer.Krls().learn_one({"a": 1.0}, 2.0)
for bad in (np.full((3, 2), np.nan), np.zeros((3, 5)), np.zeros(3)):
    try:
        model.predict(bad)
    except ValueError:
        pass
    else:
        raise SystemExit("not refused")
mercer.forecasting.Opf().fit(X[:, 0]); mercer.KoopmanOperator().fit(X); mercer.Pipeline().fit(X, y)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
