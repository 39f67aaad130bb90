"""The classes are those of the catalogue."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest
from conftest import CLASSES, CLASSIFIERS, ENTRIES, REGRESSORS, ROOT


def test_generated_classes_are_up_to_date():
    if not (ROOT / "crates" / "learners" / "src").exists():
        pytest.skip("the sources of the library are not there")
    subprocess.run([sys.executable, str(ROOT / "python" / "generate.py"), "--check"], check=True)


def test_every_learner_has_its_classes():
    assert {one._name for one in REGRESSORS} == {name for name, entry in ENTRIES.items() if entry["numbers"]}
    assert {one._name for one in CLASSIFIERS} == set(ENTRIES)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_parameters_are_keywords_with_documentation(kind):
    for name, parameter in inspect.signature(kind).parameters.items():
        assert parameter.kind is parameter.KEYWORD_ONLY
        assert f"    {name} : " in kind.__doc__
    assert "Cost: " in kind.__doc__ and "Source: " in kind.__doc__


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_defaults_written_out_make_the_same_learner(kind, data):
    """Every default is a value that the catalogue takes."""
    X, y, c = data
    model = kind()
    target = c if kind in CLASSIFIERS else y
    model.fit(X[:40], target[:40])
    keys = ENTRIES[kind._name]["keys"]
    assert [key for key in model.settings if key not in ("kernel", "seed")] == [key["name"] for key in keys]
