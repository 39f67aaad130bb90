"""The classes are those of the catalogue."""

from __future__ import annotations

import inspect
import pickle
import pydoc

import pytest
from conftest import CLASSES, CLASSIFIERS, ENTRIES, REGRESSORS

import mercer


def test_every_learner_has_its_classes():
    assert {one._name for one in REGRESSORS} == {name for name, entry in ENTRIES.items() if entry["numbers"]}
    assert {one._name for one in CLASSIFIERS} == set(ENTRIES)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_parameters_are_keywords_with_documentation(kind):
    for name, parameter in inspect.signature(kind).parameters.items():
        assert parameter.kind is parameter.KEYWORD_ONLY
        assert f"    {name} : " in kind.__doc__
    assert "Cost: " in kind.__doc__ and "Source: " in kind.__doc__
    # The head of the learner's source file came along.
    assert "    Notes\n    -----\n    " in kind.__doc__


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_classes_are_found_by_name(kind):
    assert getattr(mercer, kind.__name__) is kind and kind.__name__ in mercer.__all__
    assert pickle.loads(pickle.dumps(kind)) is kind
    assert kind.__name__ in repr(kind())
    page = pydoc.render_doc(kind, renderer=pydoc.plaintext)
    assert f"class {kind.__name__}(" in page and inspect.getdoc(kind).splitlines()[0] in page


def test_constructors():
    shown = str(inspect.signature(mercer.Krls))
    assert shown.startswith("(*, nu: 'float' = 0.001, ") and ", max_dictionary: 'int | None' = 1000" in shown
    assert inspect.signature(mercer.Krls.__init__).return_annotation == "None"
    with pytest.raises(TypeError, match=r"Krls.__init__\(\) got an unexpected keyword argument 'lambd'"):
        mercer.Krls(lambd=1.0)
    with pytest.raises(TypeError, match=r"Krls.__init__\(\) takes 1 positional argument but 2 were given"):
        mercer.Krls(1.0)

    class Own(mercer.Krls):
        def __init__(self, *, lambda_=0.5):
            super().__init__(lambda_=lambda_, kernel="gaussian:1")

    assert Own().lambda_ == 0.5 and Own().nu == mercer.Krls().nu and inspect.getdoc(Own) == inspect.getdoc(mercer.Krls)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_defaults_written_out_make_the_same_learner(kind, data):
    """Every default is a value that the catalogue takes."""
    X, y, c = data
    model = kind()
    target = c if kind in CLASSIFIERS else y
    model.fit(X[:40], target[:40])
    keys = ENTRIES[kind._name]["keys"]
    assert [key for key in model.settings if key not in ("kernel", "seed")] == [key["name"] for key in keys]
