"""What the library says while it works: remarks as warnings of :class:`mercer.MercerWarning`, which the usual filters
show once a place, silence, or turn into errors; and how far a long call is."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ._mercer import MercerWarning


def tell(said: list[str]) -> None:
    """Warns the caller outside of this package."""
    if not said:
        return
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).split(".")[0] == "mercer":
        level, frame = level + 1, frame.f_back
    for text in said:
        warnings.warn(text, MercerWarning, stacklevel=level)


@contextmanager
def shown(progress: bool | Callable[[int, float], object]) -> Iterator[Callable[[int, float], object] | None]:
    """What a long call reports to: the function that is given, or a line, that of tqdm where it is installed."""
    if callable(progress) or not progress:
        yield progress if callable(progress) else None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield lambda done, best: print(f"\r{done} passes, best score {best:.4g}", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
        return
    with tqdm(unit=" passes") as line:

        def report(done: int, best: float) -> None:
            line.set_postfix(score=f"{best:.4g}", refresh=False)
            line.update(done - line.n)

        yield report
