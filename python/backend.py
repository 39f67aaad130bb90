"""The build backend of the package: maturin's, and the stubs of the classes that the catalogue makes at import.

A wheel is built twice, the second time from what the compiler has left: the first imports the package to write
``mercer/_learners.pyi``, which the second takes along. ``python -P python/backend.py FILE`` writes the stubs of the
package that is installed to a file.
"""

from __future__ import annotations

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
STUBS = PACKAGE / "mercer" / "_learners.pyi"


def stubs() -> Iterator[str]:
    """The lines of the stubs of all classes."""
    import inspect

    from mercer import _learners

    yield '"""One class a learner of the catalogue."""\n'
    yield "from collections.abc import Sequence\n"
    yield "from ._base import KernelClassifier, KernelRegressor, Learner\n"
    yield "from .kernels import Kernel\n"
    yield f"__all__ = {_learners.__all__!r}\n"
    for name in _learners.__all__:
        kind = getattr(_learners, name)
        said = list(inspect.signature(kind).parameters.values())
        yield f'class {name}({kind.__base__.__name__}):\n    r"""{kind.__doc__}"""\n'
        yield from (f"    {one.name}: {one.annotation}" for one in said)
        yield "    def __init__(\n        self,\n        *,"
        yield from (f"        {one.name}: {one.annotation} = {one.default!r}," for one in said)
        yield "    ) -> None: ...\n"


def write(place: str) -> None:
    """Writes the stubs of the package in this folder beside the sources."""
    environment = {**os.environ, "PYTHONPATH": place}
    subprocess.run([sys.executable, "-P", __file__, STUBS], check=True, env=environment)


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
    Path(sys.argv[1]).write_text("\n".join(stubs()), encoding="utf-8")
