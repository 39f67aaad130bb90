"""What a type checker says of code as the documentation has it."""

from __future__ import annotations

import re

import pytest

#: Lines, each with the type that is revealed or the name of the argument that is refused; "" where nothing is said.
LINES = {
    "import mercer": "",
    "rows, labels = [{'a': 1.0}], ['u']": "",
    "classes = mercer.Pipeline(mercer.KrlsClassifier()).fit(rows, labels)": "",
    "classes.classes_, classes.predict_proba_one({'a': 1.0})['u'] + 0.5": "",
    "reveal_type(mercer.Pipeline(scale='none', kinds={'a': 'time'}))": "RegressorPipeline",
    "reveal_type(mercer.Krls().predict([[1.0]]))": "ndarray[tuple[Any, ...], numpy.dtype[numpy.float64]]",
    "reveal_type(mercer.Krls().predict([[1.0]], return_std=True)[1])": "ndarray[tuple[Any, ...], numpy.dtype[numpy.float64]]",
    "reveal_type(mercer.tune(mercer.Krls(nu=1), [[1.0]], [1.0]).best)": "Krls",
    "mercer.Qklms(epsilon='auto'), mercer.Auto(budget='50us')": "",
    "mercer.Pipeline(scale='minmax')": "Pipeline",
    "mercer.Krls(lambda_='x')": "lambda_",
    "mercer.Krls(removal='first')": "removal",
}


def test_types(tmp_path):
    api = pytest.importorskip("mypy.api")
    (tmp_path / "lines.py").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    out, _, _ = api.run(["--strict", "--no-incremental", str(tmp_path / "lines.py")])
    said: dict[int, str] = {}
    for place, words in re.findall(r"lines\.py:(\d+): (.*)", out):
        said[int(place)] = said.get(int(place), "") + words
    for place, (line, expected) in enumerate(LINES.items(), 1):
        words = said.pop(place, "")
        assert bool(words) == bool(expected) and expected in words, f"{line}: {words}"
    assert not said, said
