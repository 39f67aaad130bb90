"""What Python keeps for itself in a model file, as JSON: parameters as they were given, and names and labels that a file has no words for."""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import date
from typing import Any

import numpy as np

from . import kernels
from ._mercer import ModelFileError
from .kernels import Kernel

#: The classes of learners by name, which their module fills.
LEARNERS: dict[str, type] = {}


def to_text(value: Any) -> str:
    """The value as JSON."""
    return json.dumps(_plain(value), ensure_ascii=False)


def of_text(text: str) -> Any:
    """The value of this JSON; learners become objects of their classes."""
    try:
        return _full(json.loads(text))
    except (KeyError, TypeError, ValueError) as error:
        raise ModelFileError(f"the model holds {text[:80]!r} of Python, which cannot be read: {error}") from None


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return {"array": _plain(value.tolist()), "type": "O" if value.dtype == object else value.dtype.str}
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, tuple):
        return {"tuple": [_plain(one) for one in value]}
    if isinstance(value, dict):
        return {"dict": [[_plain(key), _plain(one)] for key, one in value.items()]}
    if isinstance(value, Kernel):
        parts = [getattr(value, one.name) for one in fields(value)]  # type: ignore[arg-type]
        return {"kernel": type(value).__name__, "parts": _plain(parts)}
    if hasattr(value, "freqstr"):
        # A time or a step of pandas.
        return {"step": value.freqstr, **({"period": str(value)} if hasattr(value, "ordinal") else {})}
    if type(value) is date:
        return {"date": value.isoformat()}
    if hasattr(value, "isoformat") and hasattr(value, "tzinfo") and hasattr(value, "year"):
        return {"time": value.isoformat(), "zone": None if value.tzinfo is None else str(value.tzinfo)}
    if hasattr(value, "_keys"):
        return {"learner": type(value).__name__, "parameters": _plain(value.get_params(deep=False))}
    raise ModelFileError(f"{value!r} cannot be kept in a model file; pickle the model, or give a text or a number instead")


def _full(value: Any) -> Any:
    if isinstance(value, list):
        return [_full(one) for one in value]
    if not isinstance(value, dict):
        return value
    if "array" in value:
        made = np.empty(len(value["array"]), dtype=object) if value["type"] == "O" else None
        if made is None:
            return np.array(value["array"], dtype=value["type"])
        made[:] = _full(value["array"])
        return made
    if "tuple" in value:
        return tuple(_full(value["tuple"]))
    if "dict" in value:
        return {_full(key): _full(one) for key, one in value["dict"]}
    if "date" in value:
        return date.fromisoformat(value["date"])
    if "time" in value or "step" in value:
        import pandas as pd

        if "period" in value:
            return pd.Period(value["period"], value["step"])
        if "step" in value:
            return pd.tseries.frequencies.to_offset(value["step"])
        time = pd.Timestamp(value["time"])
        return time if value["zone"] is None else time.tz_convert(value["zone"])
    if "kernel" in value:
        if value["kernel"] not in kernels.__all__:
            raise KeyError(value["kernel"])
        return getattr(kernels, value["kernel"])(*_full(value["parts"]))

    return LEARNERS[value["learner"]](**_full(value["parameters"]))
