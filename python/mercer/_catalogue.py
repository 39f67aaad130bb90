"""From an entry of the catalogue to a class: its parameters with their defaults, its signature, and its documentation."""

from __future__ import annotations

import re
import textwrap
import types
from inspect import Parameter, Signature
from typing import Any

from . import _mercer
from ._base import KernelClassifier, KernelRegressor, Learner

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
    "number": "float | str",
    "count": "int | str",
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
    "intervals": (
        "float | None",
        None,
        "The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals. "
        "Adaptive conformal inference.",
    ),
    "local_intervals": (
        "bool",
        False,
        "Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.",
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


def wrapped(text: str, indent: str = "    ") -> str:
    """Text in lines of at most 118 columns."""
    return textwrap.fill(
        text, 118, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


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


class Plan:
    """The class of numbers, or of classes, of an entry."""

    def __init__(self, entry: dict[str, Any], classes: bool) -> None:
        self.entry, self.classes = entry, classes
        self.name = class_name(entry["name"]) + ("Classifier" if classes and entry["numbers"] else "")
        choice = any(loss.split(":")[0] in OF_CLASSES for loss in entry["losses"])
        self.keys = [key for key in entry["keys"] if choice or not classes or key["kind"] != "loss"]
        default = "default_for_classes" if classes else "default"
        self.values = {key["name"]: value(key["kind"], key[default]) for key in self.keys}
        self.own = ["seed"] if entry["autonomous"] else ["kernel", "seed"]
        if not classes:
            self.own += ["intervals", "local_intervals"]
        elif not entry["autonomous"]:
            self.own += ["calibrated"]

    def signature(self) -> Signature:
        """The parameters, all of them keywords."""
        parameters = [Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)]
        said = [
            (attribute(key["name"]), TYPES.get(key["kind"], "str") + (" | None" if key["none"] else ""), self.values[key["name"]])
            for key in self.keys
        ] + [(name, *OWN[name][:2]) for name in self.own]
        parameters += [Parameter(name, Parameter.KEYWORD_ONLY, default=usual, annotation=kind) for name, kind, usual in said]
        return Signature(parameters, return_annotation="None")

    def documentation(self) -> str:
        """The docstring: what it is and costs, its parameters, the notes of its source, an example."""
        entry = self.entry
        growth = " " + sentence("Memory grows: " + entry["growth"]) if entry["growth"] else ""
        if self.classes:
            takes = f"Classes: {'any number' if entry['many_classes'] else 'two'}."
        else:
            takes = "Targets: one number, or several at once." if entry["vectors"] else "Targets: one number."
        parts = [
            wrapped(sentence(entry["summary"][0].upper() + entry["summary"][1:])).lstrip(),
            wrapped(sentence("When to take it: " + entry["advice"])),
            wrapped(takes),
            wrapped(
                f"Cost: `{entry['time']}` multiply-adds a row, `{entry['memory']}` numbers of memory (`t` the row, `d` the "
                f"features, `J` the points kept, other letters the symbols below).{growth}"
            ),
            wrapped(sentence("Source: " + entry["source"])),
        ]
        words = {attribute(key["name"]): meaning(key) for key in self.keys} | {name: OWN[name][2] for name in self.own}
        said = [
            f"    {one.name} : {one.annotation}, default {one.default!r}\n{wrapped(words[one.name], ' ' * 8)}"
            for one in list(self.signature().parameters.values())[1:]
        ]
        parts.append("\n".join(["    Parameters\n    ----------", *said]))
        if entry["head"]:
            parts.append("    Notes\n    -----\n" + textwrap.indent(plain(entry["head"]), "    "))
        target, asked = ("x['a'] > x['b']", "model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)")
        if not self.classes:
            target, asked = ("x['a'] - x['b']", "isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)")
        example = (
            f">>> import mercer\n>>> model = mercer.{self.name}()\n>>> for t in range(60):\n"
            "...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}\n"
            f"...     model.learn_one(x, {target})\n>>> {asked}\nTrue"
        )
        parts.append("    Examples\n    --------\n" + textwrap.indent(example, "    "))
        return "\n\n".join(parts) + "\n    "

    def made(self, module: str) -> type[Learner]:
        """The class, as one of this module."""
        entry, base = self.entry, KernelClassifier if self.classes else KernelRegressor
        keys = tuple((attribute(name), name, usual) for name, usual in self.values.items())
        loss = self.values.get("loss", entry["losses"][0])
        poor = POOR_CLASSIFIERS if self.classes else POOR_REGRESSORS
        own: dict[str, Any] = {
            "__module__": module, "__qualname__": self.name, "__doc__": Documentation(self), "__init__": constructor(self),
            "_name": entry["name"], "_keys": keys, "_poor_score": entry["name"] in poor,
        }  # fmt: skip
        if self.classes:
            own |= {"_many": entry["many_classes"], "_losses": (loss,), "_calibrates": entry["autonomous"]}
        else:
            own |= {"_vectors": entry["vectors"]}
        return types.new_class(self.name, (base,), exec_body=lambda body: body.update(own))


class Documentation:
    """A docstring that is written when it is asked for: those of all classes take longer than the rest of the import."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def __get__(self, instance: Any, owner: Any = None) -> str:
        return self.plan.documentation()


def constructor(plan: Plan) -> Any:
    """The method ``__init__``: parameters become attributes as they are."""
    signature = plan.signature()
    usual = {name: one.default for name, one in signature.parameters.items() if name != "self"}

    def __init__(self: Any, **given: Any) -> None:
        for name in given:
            if name not in usual:
                raise TypeError(f"{plan.name}.__init__() got an unexpected keyword argument {name!r}")
        vars(self).update(usual)
        vars(self).update(given)

    __init__.__qualname__ = f"{plan.name}.__init__"
    said = {name: one.annotation for name, one in signature.parameters.items() if name != "self"}
    __init__.__annotations__ = {**said, "return": signature.return_annotation}
    __init__.__signature__ = signature  # type: ignore[attr-defined]
    return __init__


def classes(module: str) -> dict[str, type[Learner]]:
    """All classes in the order of the catalogue, by name: of numbers and of classes, or of classes alone."""
    plans = [
        Plan(entry, of_classes)
        for entry in _mercer.catalogue()
        for of_classes in ((False, True) if entry["numbers"] else (True,))
    ]
    return {plan.name: plan.made(module) for plan in plans}
