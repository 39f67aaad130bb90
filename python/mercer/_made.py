"""Classes that are made when the package is imported: a list of parameters gives signature, constructor and documentation."""

from __future__ import annotations

import textwrap
import types
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, Signature
from typing import Any, NamedTuple


class Key(NamedTuple):
    """A parameter: its type, its default, and what it does."""

    name: str
    kind: str
    usual: Any
    words: str | Callable[[], str]


def wrapped(text: str, indent: str = "    ") -> str:
    """Text in lines of at most 118 columns."""
    return textwrap.fill(
        text, 118, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


class Blueprint:
    """A class that is yet to be made. `about` are the paragraphs of its documentation, and what is below its parameters."""

    def __init__(
        self, name: str, keys: Sequence[Key], about: Callable[[], tuple[list[str], list[str]]], attributes: Mapping[str, Any]
    ) -> None:  # fmt: skip
        self.name, self.keys, self.about, self.attributes = name, keys, about, attributes

    def signature(self) -> Signature:
        """The parameters, all of them keywords."""
        keys = [Parameter(key.name, Parameter.KEYWORD_ONLY, default=key.usual, annotation=key.kind) for key in self.keys]
        return Signature([Parameter("self", Parameter.POSITIONAL_OR_KEYWORD), *keys], return_annotation="None")

    def documentation(self) -> str:
        """The docstring."""
        above, below = self.about()
        said = ["    Parameters\n    ----------"]
        for key in self.keys:
            words = key.words if isinstance(key.words, str) else key.words()
            said.append(f"    {key.name} : {key.kind}, default {key.usual!r}\n{wrapped(words, ' ' * 8)}")
        return "\n\n".join([*(wrapped(one) for one in above), "\n".join(said), *below]).lstrip() + "\n    "

    def made(self, base: type, module: str) -> type:
        """The class, as one of this module."""
        own = {
            **self.attributes, "__module__": module, "__qualname__": self.name, "__doc__": _Documentation(self),
            "__init__": _constructor(self),
        }  # fmt: skip
        return types.new_class(self.name, (base,), exec_body=lambda body: body.update(own))


class _Documentation:
    """A docstring that is written when it is asked for: those of all classes take longer than the rest of the import."""

    def __init__(self, blueprint: Blueprint) -> None:
        self.blueprint = blueprint

    def __get__(self, instance: Any, owner: Any = None) -> str:
        return self.blueprint.documentation()


def _constructor(blueprint: Blueprint) -> Any:
    """The method ``__init__``: parameters become attributes as they are."""
    usual = {key.name: key.usual for key in blueprint.keys}

    def __init__(self: Any, **given: Any) -> None:
        for name in given:
            if name not in usual:
                raise TypeError(f"{blueprint.name}.__init__() got an unexpected keyword argument {name!r}")
        vars(self).update(usual)
        vars(self).update(given)

    __init__.__qualname__ = f"{blueprint.name}.__init__"
    __init__.__annotations__ = {**{key.name: key.kind for key in blueprint.keys}, "return": "None"}
    __init__.__signature__ = blueprint.signature()  # type: ignore[attr-defined]
    return __init__
