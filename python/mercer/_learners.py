"""One class a learner of the catalogue, made when the package is imported.

The stubs beside it, ``_learners.pyi``, are written when the wheel is built: see ``python/backend.py``.
"""

from ._catalogue import classes
from ._own import LEARNERS

_made = classes(__name__)
LEARNERS.update(_made)
globals().update(_made)
__all__ = [*_made]
