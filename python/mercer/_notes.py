"""Remarks of the library as warnings of :class:`mercer.MercerWarning`, which the usual filters show once a place, silence, or turn into errors."""

from __future__ import annotations

import sys
import warnings

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
