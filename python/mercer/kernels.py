"""Kernels as objects, in place of the texts that the parameter ``kernel`` takes.

>>> import mercer
>>> from mercer.kernels import Gaussian, Matern32
>>> model = mercer.Krls(kernel=0.4 * Gaussian(0.5) + 0.6 * Matern32(2.0))
>>> str(model.kernel)
'mix:0.4*gaussian:0.5+0.6*matern32:2.0'
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import ClassVar

__all__ = ["Gaussian", "Kernel", "Laplace", "Linear", "Matern32", "Matern52", "Mixture", "Polynomial"]


class Kernel:
    """A kernel. Its text is what the catalogue and the command take; sums and multiples are mixtures."""

    _name: ClassVar[str] = ""

    def __str__(self) -> str:
        numbers = ",".join(map(repr, astuple(self)))  # type: ignore[call-overload]
        return f"{self._name}:{numbers}" if numbers else self._name

    def _terms(self) -> tuple[tuple[float, Kernel], ...]:
        return ((1.0, self),)

    def __add__(self, other: Kernel) -> Mixture:
        return Mixture((*self._terms(), *other._terms()))

    def __mul__(self, weight: float) -> Mixture:
        return Mixture(tuple((float(weight) * own, kernel) for own, kernel in self._terms()))

    __rmul__ = __mul__


@dataclass(frozen=True)
class Gaussian(Kernel):
    """`exp(−‖x − z‖²/(2σ²))`"""

    sigma: float
    _name: ClassVar[str] = "gaussian"


@dataclass(frozen=True)
class Laplace(Kernel):
    """`exp(−‖x − z‖/σ)`"""

    sigma: float
    _name: ClassVar[str] = "laplace"


@dataclass(frozen=True)
class Matern32(Kernel):
    """Matérn 3/2, `(1 + r) exp(−r)` of `r = √3 ‖x − z‖/σ`"""

    sigma: float
    _name: ClassVar[str] = "matern32"


@dataclass(frozen=True)
class Matern52(Kernel):
    """Matérn 5/2, `(1 + r + r²/3) exp(−r)` of `r = √5 ‖x − z‖/σ`"""

    sigma: float
    _name: ClassVar[str] = "matern52"


@dataclass(frozen=True)
class Polynomial(Kernel):
    """`(xᵀz + offset)^degree`"""

    degree: int
    offset: float
    _name: ClassVar[str] = "polynomial"


@dataclass(frozen=True)
class Linear(Kernel):
    """`xᵀz`"""

    _name: ClassVar[str] = "linear"


@dataclass(frozen=True)
class Mixture(Kernel):
    """`Σ wᵢ kᵢ(x, z)`, made of pairs of a weight and a kernel"""

    terms: tuple[tuple[float, Kernel], ...]

    def __str__(self) -> str:
        return "mix:" + "+".join(f"{weight!r}*{kernel}" for weight, kernel in self.terms)

    def _terms(self) -> tuple[tuple[float, Kernel], ...]:
        return self.terms
