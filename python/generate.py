"""Writes ``mercer/_learners.py``: a class for each learner of the catalogue, with its keys as keyword arguments.

``python python/generate.py`` after the extension is installed; ``--check`` only says whether the file is stale, as the tests do.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import re
import sys
import textwrap
from pathlib import Path
from typing import Any


def extension() -> Any:
    """The extension alone: what is to be written may be broken."""
    # The folder of this file comes first in the path, and has the sources alone.
    found = [path for place in sys.path for path in Path(place, "mercer").glob("_mercer*.so")]
    if not found:
        sys.exit("install the package first: pip install ./python")
    path = found[0]
    loader = importlib.machinery.ExtensionFileLoader("mercer._mercer", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("mercer._mercer", loader))
    loader.exec_module(module)
    return module


HERE = Path(__file__).resolve().parent
TARGET = HERE / "mercer" / "_learners.py"
SOURCES = HERE.parent / "crates" / "learners" / "src"

#: Learners whose first rows are not learnt well enough for scikit-learn's check of the training score (200 rows, R² above 0.5, or
#: 83 % of the classes), because their defaults take small steps or wait for a dictionary.
POOR_REGRESSORS = {
    "kogd", "aogd-ald", "pros-n-kons", "con-kons", "knlms", "fb-klms", "klms-csl1", "klms-csal1", "ex-krls", "mknlms-cs", "mxklms",
}
POOR_CLASSIFIERS = {"kogd", "aogd-ald", "pros-n-kons"}

HEAD = '''"""One class a learner. Written by ``python/generate.py`` from the catalogue of the library; do not edit."""

# ruff: noqa

from __future__ import annotations

from collections.abc import Sequence

from ._base import KernelClassifier, KernelRegressor, Learner
'''


def heads() -> dict[str, str]:
    """The text at the head of the file that registers each learner: formulas, symbols, and what differs from the source."""
    found = {}
    for path in sorted(SOURCES.rglob("*.rs")):
        text = path.read_text(encoding="utf-8")
        head = []
        for line in text.splitlines():
            if not line.startswith("//!"):
                break
            head.append(line[3:].removeprefix(" "))
        for name in re.findall(r'^\s+name: "([a-z0-9+-]+)",$', text, flags=re.MULTILINE):
            found[name] = plain("\n".join(head))
    return found


def plain(text: str) -> str:
    """Documentation without links to Rust items."""
    text = re.sub(r"\[`([^`]+)`\]\([^)]*\)", r"`\1`", text)
    text = re.sub(r"\[`([^`]+)`\]", r"`\1`", text)
    # A link to an item of Rust leads nowhere from here; one with a scheme does.
    text = re.sub(r"\[([^\]]+)\]\((?!\w+:)[^)]*\)", r"\1", text)
    return text.replace("\\[", "[").replace("\\]", "]").strip()


def class_name(name: str) -> str:
    return "".join(part.capitalize() for part in name.replace("++", "-plus").split("-"))


def attribute(key: str) -> str:
    return "lambda_" if key == "lambda" else key


def value(key: dict[str, Any], text: str) -> Any:
    if text == "none":
        return None
    if key["kind"] == "count":
        try:
            return int(float(text))
        except ValueError:
            return text
    if key["kind"] in ("number", "numbers"):
        try:
            return float(text)
        except ValueError:
            return text
    return text


def kind(key: dict[str, Any]) -> str:
    types = {
        "number": "float | str",
        "count": "int | str",
        "numbers": "float | Sequence[float] | str",
        "members": "str | Sequence[str | Learner]",
        "learner": "str | Learner",
        "kernels": "str | Sequence[str]",
    }
    return types.get(key["kind"], "str") + (" | None" if key["none"] else "")


def wrapped(text: str, indent: str) -> str:
    return textwrap.fill(text, 118, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?", ":")) else text + "."


def about_key(key: dict[str, Any], default: Any) -> str:
    said = []
    if key["symbol"]:
        said.append(f"`{key['symbol']}`,")
    said.append(f"{key['meaning']}; {key['range']}")
    text = sentence(" ".join(said))
    if key["kind"] == "name":
        text += f" One of {', '.join(key['names'])}."
    if key["none"]:
        text += " " + sentence(f"None: {key['none']}")
    if key["auto"]:
        formula, source = key["auto"]
        text += " " + sentence(f'"auto": {formula} ({source})')
    head = f"    {attribute(key['name'])} : {kind(key)}, default {default!r}"
    return head + "\n" + wrapped(text, "        ")


OWN = {
    "kernel": (
        "str",
        "auto",
        'gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a rule for the width of a '
        'Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median" takes the median distance of the first 200 rows of '
        "the first batch.",
    ),
    "seed": ("int", 0, "Seed of what the learner draws. The same seed gives the same numbers."),
    "intervals": (
        "float | None",
        None,
        "The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals. Adaptive conformal inference.",
    ),
    "local_intervals": ("bool", False, "Whether intervals are scaled by the learner's own standard deviations; for least-squares learners."),
    "calibrated": ("bool", False, "Whether probabilities are learnt from the scores, by online Newton steps on a logistic model."),
}


def one_class(entry: dict[str, Any], notes: str, classes: bool) -> str:
    name = class_name(entry["name"])
    only_classes = not entry["numbers"]
    name += "Classifier" if classes and not only_classes else ""
    keys = [key for key in entry["keys"] if not (key["kind"] == "loss" and classes and not losses(entry))]
    default = "default_for_classes" if classes else "default"
    values = {key["name"]: value(key, key[default]) for key in keys}
    own = [] if entry["autonomous"] else ["kernel"]
    own += ["seed"]
    own += (["calibrated"] if not entry["autonomous"] else []) if classes else ["intervals", "local_intervals"]
    loss = values.get("loss", entry["losses"][0])
    base = "KernelClassifier" if classes else "KernelRegressor"
    lines = [f"class {name}({base}):"]
    doc = [sentence(entry["summary"][0].upper() + entry["summary"][1:]), ""]
    doc.append(sentence("When to take it: " + entry["advice"]))
    takes = f"Classes: {'any number' if entry['many_classes'] else 'two'}." if classes else (
        "Targets: one number, or several at once." if entry["vectors"] else "Targets: one number."
    )
    doc += ["", takes, "", f"Cost: `{entry['time']}` multiply-adds a row, `{entry['memory']}` numbers of memory"]
    doc[-1] += (
        " (`t` the row, `d` the features, `J` the points kept, other letters the symbols below)."
        + (" " + sentence("Memory grows: " + entry["growth"]) if entry["growth"] else "")
    )
    doc += ["", sentence("Source: " + entry["source"]), "", "Parameters", "----------"]
    text = "\n".join(wrapped(line, "    ") if line and not line.startswith("-") else ("    " + line if line else "") for line in doc)
    parts = [text]
    parts += [about_key(key, values[key["name"]]) for key in keys]
    for one in own:
        type_, usual, words = OWN[one]
        parts.append(f"    {one} : {type_}, default {usual!r}\n" + wrapped(words, "        "))
    if notes:
        parts += ["", "    Notes", "    -----", textwrap.indent(notes, "    ")]
    example = (
        f">>> model = mercer.{name}()\n>>> for t in range(60):\n...     x = {{'a': t % 7 / 7, 'b': t % 5 / 5}}\n"
        + ("...     model.learn_one(x, x['a'] > x['b'])\n>>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)\nTrue"
           if classes else
           "...     model.learn_one(x, x['a'] - x['b'])\n>>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)\nTrue")
    )
    parts += ["", "    Examples", "    --------", textwrap.indent(">>> import mercer\n" + example, "    ")]
    body = "\n".join(line.rstrip() for line in "\n".join(parts).splitlines())
    lines.append(f'    r"""{body.lstrip()}\n    """\n')
    lines.append(f"    _name = {entry['name']!r}")
    lines.append("    _keys = (")
    for key in keys:
        lines.append(f"        ({attribute(key['name'])!r}, {key['name']!r}, {values[key['name']]!r}),")
    lines.append("    )")
    if classes:
        lines.append(f"    _many = {entry['many_classes']!r}")
        lines.append(f"    _losses = ({loss!r},)")
        if entry["autonomous"]:
            lines.append("    _calibrates = True")
    elif entry["vectors"]:
        lines.append("    _vectors = True")
    if entry["name"] in (POOR_CLASSIFIERS if classes else POOR_REGRESSORS):
        lines.append("    _poor_score = True")
    lines += ["", "    def __init__(", "        self,", "        *,"]
    for key in keys:
        lines.append(f"        {attribute(key['name'])}: {kind(key)} = {values[key['name']]!r},")
    for one in own:
        lines.append(f"        {one}: {OWN[one][0]} = {OWN[one][1]!r},")
    lines.append("    ) -> None:")
    for one in [attribute(key["name"]) for key in keys] + own:
        lines.append(f"        self.{one} = {one}")
    return "\n".join(lines) + "\n"


def losses(entry: dict[str, Any]) -> list[str]:
    """Losses with which classes can be learnt."""
    return [loss for loss in entry["losses"] if loss.split(":")[0] in ("squared", "logistic", "hinge", "squared-hinge", "softmax")]


def generated() -> str:
    notes = heads()
    parts, names = [HEAD], []
    for entry in extension().catalogue():
        text = notes.get(entry["name"], "")
        name = class_name(entry["name"])
        if entry["numbers"]:
            parts.append(one_class(entry, text, False))
            names.append(name)
            name += "Classifier"
        parts.append(one_class(entry, text, True))
        names.append(name)
    listed = "".join(f"    {name!r},\n" for name in names)
    parts.append(f"__all__ = [\n{listed}]\n")
    return "\n\n".join(parts)


def main() -> None:
    made = generated()
    if "--check" in sys.argv[1:]:
        if TARGET.read_text(encoding="utf-8") != made:
            sys.exit(f"{TARGET} is stale; run python python/generate.py")
        return
    TARGET.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()
