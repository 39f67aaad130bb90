"""From an entry of the catalogue to a class: its parameters with their defaults, its signature, and its documentation."""

from __future__ import annotations

import re
import textwrap
from functools import partial
from typing import Any

from . import _mercer
from ._base import KernelClassifier, KernelRegressor
from ._made import Blueprint, Key

#: Learners whose first rows are not learnt well enough for scikit-learn's check of the training score (200 rows, R² above
#: 0.5, or 83 % of the classes), because their defaults take small steps or wait for a dictionary.
POOR_CLASSIFIERS = {"kogd", "aogd-ald", "pros-n-kons"}
POOR_REGRESSORS = POOR_CLASSIFIERS | {
    "con-kons", "knlms", "fb-klms", "klms-csl1", "klms-csal1", "ex-krls", "mknlms-cs", "mxklms",
}  # fmt: skip
#: Losses with which classes can be learnt.
OF_CLASSES = ("squared", "logistic", "hinge", "squared-hinge", "softmax")
#: The type of a key by its kind; it is `str` for all others.
TYPES = {
    "number": "float",
    "count": "int",
    "numbers": "float | Sequence[float] | str",
    "members": "str | Sequence[str | Learner]",
    "learner": "str | Learner",
    "kernels": "str | Sequence[str]",
}
#: Parameters that are no keys of the catalogue: type, default, meaning.
OWN: dict[str, tuple[str, Any, str]] = {
    "kernel": (
        "str | Kernel",
        "auto",
        "gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a "
        'rule for the width of a Gaussian; or one of ``mercer.kernels``. The rules: "auto" (and "rbf") takes the usual distance of standardised inputs, `√(2d)`; "median" '
        "takes the median distance of the first 200 rows of the first batch.",
    ),
    "seed": ("int", 0, "Seed of what the learner draws. The same seed gives the same numbers."),
    "random_state": ("Any", None, "scikit-learn's name of the seed, which goes before it; or a ``RandomState``, of which each beginning draws one."),
    "warm_start": ("bool", False, "Whether ``fit`` goes on from what was learnt, instead of forgetting it."),
    "intervals": (
        "float | None",
        None,
        "The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals. "
        "Adaptive conformal inference.",
    ),
    "local_intervals": (
        "bool",
        False,
        "Whether intervals are scaled by the learner's own standard deviations; for least-squares learners. Those of ``Auto`` are so in any "
        "case, with errors of its own to either side.",
    ),
    "calibrated": (
        "bool",
        False,
        "Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.",
    ),
}


def class_name(name: str) -> str:
    """The name of the class of numbers of a learner."""
    return "".join(part.capitalize() for part in name.replace("++", "-plus").split("-"))


def attribute(key: str) -> str:
    """The name of a key as a parameter."""
    return "lambda_" if key == "lambda" else key


def value(kind: str, text: str) -> Any:
    """The value of a key of this kind, as Python has it."""
    if text == "none":
        return None
    if kind in ("count", "number", "numbers"):
        try:
            return int(float(text)) if kind == "count" else float(text)
        except ValueError:
            pass
    return text


def sentence(text: str) -> str:
    """The text with an end."""
    text = text.strip()
    return text if text.endswith((".", "!", "?", ":")) else text + "."


def plain(text: str) -> str:
    """Documentation without links to items of Rust, which lead nowhere from here; a link with a scheme does."""
    text = re.sub(r"\[`([^`]+)`\](\([^)]*\))?", r"`\1`", text)
    text = re.sub(r"\[([^\]]+)\]\((?!\w+:)[^)]*\)", r"\1", text)
    return text.replace("\\[", "[").replace("\\]", "]").strip()


def meaning(key: dict[str, Any]) -> str:
    """What a key does, and which values it takes."""
    symbol = f"`{key['symbol']}`, " if key["symbol"] else ""
    text = sentence(f"{symbol}{key['meaning']}; {key['range']}")
    if key["kind"] == "name":
        text += f" One of {', '.join(key['names'])}."
    if key["none"]:
        text += " " + sentence(f"None: {key['none']}")
    if key["auto"]:
        formula, source = key["auto"]
        text += " " + sentence(f'"auto": {formula} ({source})')
    return text


def typed(key: dict[str, Any]) -> str:
    """The type of a key's values."""
    names = [*(key["names"] if key["kind"] == "name" else []), *(["auto"] if key["auto"] else [])]
    kind = TYPES.get(key["kind"], "str") if key["kind"] != "name" else ""
    kinds = [kind, "str" if "such as" in key["range"] else "", f"Literal[{', '.join(map(repr, names))}]" if names else ""]
    return " | ".join(filter(None, [*kinds, "None" if key["none"] else ""]))


def blueprint(entry: dict[str, Any], classes: bool) -> Blueprint:
    """The class of numbers, or of classes, of an entry."""
    name = class_name(entry["name"]) + ("Classifier" if classes and entry["numbers"] else "")
    choice = any(loss.split(":")[0] in OF_CLASSES for loss in entry["losses"])
    own = ["seed"] if entry["autonomous"] else ["kernel", "seed"]
    own += ["intervals", "local_intervals"] if not classes else [] if entry["autonomous"] else ["calibrated"]
    own += ["random_state", "warm_start"]
    keys, told = [], []
    for key in entry["keys"]:
        if choice or not classes or key["kind"] != "loss":
            usual = value(key["kind"], key["default_for_classes" if classes else "default"])
            keys.append((attribute(key["name"]), key["name"], usual))
            told.append(Key(attribute(key["name"]), typed(key), usual, partial(meaning, key)))
    poor = POOR_CLASSIFIERS if classes else POOR_REGRESSORS
    attributes: dict[str, Any] = {"_name": entry["name"], "_keys": tuple(keys), "_poor_score": entry["name"] in poor}
    if classes:
        loss = next((usual for _, key, usual in keys if key == "loss"), entry["losses"][0])
        attributes |= {"_many": entry["many_classes"], "_losses": (loss,), "_calibrates": entry["autonomous"]}
    else:
        attributes |= {"_vectors": entry["vectors"]}
    return Blueprint(name, [*told, *(Key(one, *OWN[one]) for one in own)], partial(about, entry, classes, name), attributes)


def about(entry: dict[str, Any], classes: bool, name: str) -> tuple[list[str], list[str]]:
    """What an entry is and costs; the notes of its source, and an example."""
    growth = " " + sentence("Memory grows: " + entry["growth"]) if entry["growth"] else ""
    takes = "Targets: one number, or several at once." if entry["vectors"] else "Targets: one number."
    target, asked = "x['a'] - x['b']", "isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)"
    if classes:
        takes = f"Classes: {'any number' if entry['many_classes'] else 'two'}."
        target, asked = "x['a'] > x['b']", "model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)"
    above = [
        sentence(entry["summary"][0].upper() + entry["summary"][1:]),
        sentence("When to take it: " + entry["advice"]),
        takes,
        f"Cost: `{entry['time']}` multiply-adds a row, `{entry['memory']}` numbers of memory (`t` the row, `d` the "
        f"features, `J` the points kept, other letters the symbols below).{growth}",
        sentence("Source: " + entry["source"]),
    ]
    example = (
        f">>> import mercer\n>>> model = mercer.{name}()\n>>> for t in range(60):\n"
        "...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}\n"
        f"...     model.learn_one(x, {target})\n>>> {asked}\nTrue"
    )
    parts = [("Notes", plain(entry["head"])), ("Examples", example)]
    below = [textwrap.indent(f"{title}\n{'-' * len(title)}\n{text}", "    ") for title, text in parts if text]
    return above, below


def classes(module: str) -> dict[str, type]:
    """All classes in the order of the catalogue, by name: of numbers and of classes, or of classes alone."""
    made = {}
    for entry in _mercer.catalogue():
        for of_classes in (False, True) if entry["numbers"] else (True,):
            one = blueprint(entry, of_classes)
            made[one.name] = one.made(KernelClassifier if of_classes else KernelRegressor, module)
    return made
