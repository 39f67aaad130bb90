"""The build backend of the package: maturin's, and the stubs of the extension and of the classes that are made at import.

A wheel is built twice, the second time from what the compiler has left: the first imports the package to write
``mercer/_*.pyi``, which the second takes along. ``python -P python/backend.py FOLDER`` writes those of the package
that is installed to a folder.
"""

from __future__ import annotations

import importlib
import inspect
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import maturin
from maturin import *  # noqa: F403

PACKAGE = Path(__file__).resolve().parent
#: Modules whose classes are made at import, and what their stubs import.
MODULES = {
    "_learners": ["from ._base import KernelClassifier, KernelRegressor, Learner", "from .kernels import Kernel"],
    "_forecasters": ["from ._forecaster import Forecaster", "from ._seasons import SeasonTables"],
}


def stubs(name: str) -> Iterator[str]:
    """The lines of the stubs of the classes of a module."""
    module = importlib.import_module(f"mercer.{name}")
    yield f'"""{module.__doc__}"""\n'
    yield "\n".join(["from collections.abc import Sequence", "from typing import Any, Literal", *MODULES[name]])
    yield f"__all__ = {module.__all__!r}\n"
    for name in module.__all__:
        kind = getattr(module, name)
        said = list(inspect.signature(kind).parameters.values())
        yield f'class {name}({kind.__base__.__name__}):\n    r"""{kind.__doc__}"""\n'
        yield from (f"    {one.name}: {one.annotation}" for one in said)
        yield "    def __init__(\n        self,\n        *,"
        yield from (f"        {one.name}: {one.annotation} = {one.default!r}," for one in said)
        yield "    ) -> None: ...\n"


#: What methods of the extension return, where that is one thing.
RETURNS = {"learn_one": "None", "to_bytes": "bytes", "predict_interval_one": "tuple[float, float]"}


def extension() -> Iterator[str]:
    """The lines of the stubs of the extension, which tells names, defaults and documentation, and no types."""
    from mercer import _mercer

    def function(name: str, function: Any, indent: str = "") -> str:
        said = []
        for one in inspect.signature(function).parameters.values():
            stars = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
            usual = "" if one.default is one.empty else " = ..."
            said.append("self" if one.name == "self" else f"{stars}{one.name}: Any{usual}")
        doc = f'{indent}    r"""{function.__doc__}"""' if function.__doc__ else f"{indent}    ..."
        return f"{indent}def {name}({', '.join(said)}) -> {RETURNS.get(name, 'Any')}:\n{doc}\n"

    yield '"""The extension module; see crates/python."""\n'
    yield "from typing import Any, Final\n"
    for name, value in vars(_mercer).items():
        if name == "__version__":
            yield f"{name}: Final[str]"
        elif isinstance(value, type):
            yield f'class {name}({value.__base__.__name__}):\n    """{value.__doc__}"""\n'
            for inner, member in vars(value).items():
                if callable(member) and (not inner.startswith("__") or inner == "__sizeof__"):
                    yield function(inner, member, "    ")
                elif inspect.isdatadescriptor(member) and not inner.startswith("__"):
                    yield f"    {inner}: Any"
        elif callable(value):
            yield function(name, value)
        elif isinstance(value, (int, float, list)):
            yield f"{name}: Any"


def write(place: str) -> None:
    """Writes the stubs of the package in this folder beside the sources."""
    # An isolated build has its packages on the path, too.
    paths = [place, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    subprocess.run([sys.executable, "-P", __file__, PACKAGE / "mercer"], check=True, env=environment)


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: Any = None) -> str:
    """The wheel, with the stubs."""
    with tempfile.TemporaryDirectory() as place:
        with zipfile.ZipFile(Path(place, maturin.build_wheel(place, config_settings))) as wheel:
            wheel.extractall(place)
        write(place)
    return str(maturin.build_wheel(wheel_directory, config_settings, metadata_directory))


def build_editable(wheel_directory: str, config_settings: Any = None, metadata_directory: Any = None) -> str:
    """The wheel that points at the sources, where the extension and the stubs are put."""
    name = str(maturin.build_editable(wheel_directory, config_settings, metadata_directory))
    write(str(PACKAGE))
    return name


if __name__ == "__main__":
    texts = {"_mercer": extension(), **{name: stubs(name) for name in MODULES}}
    for module, lines in texts.items():
        Path(sys.argv[1], f"{module}.pyi").write_text("\n".join(lines), encoding="utf-8")
