"""One class a learner. Written by ``python/generate.py`` from the catalogue of the library; do not edit."""

# ruff: noqa

from __future__ import annotations

from collections.abc import Sequence

from ._base import KernelClassifier, KernelRegressor, Learner


class Kogd(KernelRegressor):
    r"""Kernelised online gradient descent; every example is kept.

    When to take it: yardstick of first order.

    Targets: one number, or several at once.

    Cost: `td` multiply-adds a row, `td` numbers of memory (`t` the row, `d` the features, `J` the points kept, other
    letters the symbols below). Memory grows: every example is kept.

    Source: Zinkevich 2003; Li and Liao, eqs. 2–3.

    Parameters
    ----------
    radius : float | str, default 2.0
        `U`, radius of the ball of functions (bounds predictions), also sets the steps; a number > 0.
    loss : str, default 'squared'
        what is minimised; with classes the default is logistic, softmax for more than two; squared, absolute,
        huber:δ, epsilon:ε, quantile:τ, poisson, logistic, hinge, squared-hinge or softmax.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    intervals : float | None, default None
        The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals.
        Adaptive conformal inference.
    local_intervals : bool, default False
        Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.

    Notes
    -----
    KOGD: kernelised online gradient descent (Zinkevich 2003; [A] eqs. 2–3).

    `f ← f − η_t g k(x_t, ·)`, `g = ∂ℓ/∂z`, with `η_t = U/√(1 + Σ_{s≤t} g_s² k(x_s, x_s))`, projected on `‖f‖ ≤ U`. Every example is kept:
    **memory and the cost of a round grow with the stream**, `O(td)`. It is what `AogdAld` approximates.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.Kogd()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] - x['b'])
    >>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)
    True
    """

    _name = 'kogd'
    _keys = (
        ('radius', 'radius', 2.0),
        ('loss', 'loss', 'squared'),
    )
    _vectors = True
    _poor_score = True

    def __init__(
        self,
        *,
        radius: float | str = 2.0,
        loss: str = 'squared',
        kernel: str = 'auto',
        seed: int = 0,
        intervals: float | None = None,
        local_intervals: bool = False,
    ) -> None:
        self.radius = radius
        self.loss = loss
        self.kernel = kernel
        self.seed = seed
        self.intervals = intervals
        self.local_intervals = local_intervals


class KogdClassifier(KernelClassifier):
    r"""Kernelised online gradient descent; every example is kept.

    When to take it: yardstick of first order.

    Classes: any number.

    Cost: `td` multiply-adds a row, `td` numbers of memory (`t` the row, `d` the features, `J` the points kept, other
    letters the symbols below). Memory grows: every example is kept.

    Source: Zinkevich 2003; Li and Liao, eqs. 2–3.

    Parameters
    ----------
    radius : float | str, default 2.0
        `U`, radius of the ball of functions (bounds predictions), also sets the steps; a number > 0.
    loss : str, default 'logistic'
        what is minimised; with classes the default is logistic, softmax for more than two; squared, absolute,
        huber:δ, epsilon:ε, quantile:τ, poisson, logistic, hinge, squared-hinge or softmax.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    KOGD: kernelised online gradient descent (Zinkevich 2003; [A] eqs. 2–3).

    `f ← f − η_t g k(x_t, ·)`, `g = ∂ℓ/∂z`, with `η_t = U/√(1 + Σ_{s≤t} g_s² k(x_s, x_s))`, projected on `‖f‖ ≤ U`. Every example is kept:
    **memory and the cost of a round grow with the stream**, `O(td)`. It is what `AogdAld` approximates.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.KogdClassifier()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'kogd'
    _keys = (
        ('radius', 'radius', 2.0),
        ('loss', 'loss', 'logistic'),
    )
    _many = True
    _losses = ('logistic',)
    _poor_score = True

    def __init__(
        self,
        *,
        radius: float | str = 2.0,
        loss: str = 'logistic',
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.radius = radius
        self.loss = loss
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class AogdAld(KernelRegressor):
    r"""Approximated online gradient descent on an ALD dictionary.

    When to take it: a dictionary, but cheaper steps.

    Targets: one number, or several at once.

    Cost: `Jd + ½J²` multiply-adds a row, `Jd + ½J²` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below). Memory grows: past max_dictionary every example is kept; with none it does
    not grow with the stream.

    Source: Li and Liao, Algorithm 1.

    Parameters
    ----------
    radius : float | str, default 2.0
        `U`, radius of the ball of functions (bounds predictions), also sets the steps; a number > 0.
    alpha : float | str, default 0.001
        `α`, ALD threshold on the squared distance; larger keeps fewer points; a number ≥ 0. "auto": 25/T (Li and
        Liao, section A.1).
    max_dictionary : int | str | None, default None
        `B₀`, points from which on every example is kept; 0 is kogd; a whole number ≥ 0, or none. None: never; the
        dictionary stays as large as alpha makes it. "auto": (sqrt(d^2+4*d*T)-d)/2 (Li and Liao, Theorem 3.2).
    loss : str, default 'squared'
        what is minimised; with classes the default is logistic, softmax for more than two; squared, absolute,
        huber:δ, epsilon:ε, quantile:τ, poisson, logistic, hinge, squared-hinge or softmax.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    intervals : float | None, default None
        The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals.
        Adaptive conformal inference.
    local_intervals : bool, default False
        Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.

    Notes
    -----
    AOGD-ALD: approximated online gradient descent on an ALD dictionary ([A] Algorithm 1).

    While the dictionary has fewer than `B₀` points, a gradient step in its orthonormal coordinates: an example in the span
    moves `f` along the projection of `k(x, ·)` (eq. 6), another joins and moves it along `k(x, ·)` itself (eq. 2); both then
    project on `‖f‖ ≤ U` (eq. 3). `η_t = U/√(1 + Σ_{s≤t} ‖∇̂_s‖²)`. `Jd + ½J²` multiply-adds a round.

    Past `B₀` every example is kept and learnt by plain kernel gradient descent, whose memory **grows with the stream**;
    `B₀ = ⌊(√(d² + 4dT) − d)/2⌋` is where that becomes the cheaper of the two (`AogdAldParams::growth_limit_for`).

    Examples
    --------
    >>> import mercer
    >>> model = mercer.AogdAld()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] - x['b'])
    >>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)
    True
    """

    _name = 'aogd-ald'
    _keys = (
        ('radius', 'radius', 2.0),
        ('alpha', 'alpha', 0.001),
        ('max_dictionary', 'max_dictionary', None),
        ('loss', 'loss', 'squared'),
    )
    _vectors = True
    _poor_score = True

    def __init__(
        self,
        *,
        radius: float | str = 2.0,
        alpha: float | str = 0.001,
        max_dictionary: int | str | None = None,
        loss: str = 'squared',
        kernel: str = 'auto',
        seed: int = 0,
        intervals: float | None = None,
        local_intervals: bool = False,
    ) -> None:
        self.radius = radius
        self.alpha = alpha
        self.max_dictionary = max_dictionary
        self.loss = loss
        self.kernel = kernel
        self.seed = seed
        self.intervals = intervals
        self.local_intervals = local_intervals


class AogdAldClassifier(KernelClassifier):
    r"""Approximated online gradient descent on an ALD dictionary.

    When to take it: a dictionary, but cheaper steps.

    Classes: any number.

    Cost: `Jd + ½J²` multiply-adds a row, `Jd + ½J²` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below). Memory grows: past max_dictionary every example is kept; with none it does
    not grow with the stream.

    Source: Li and Liao, Algorithm 1.

    Parameters
    ----------
    radius : float | str, default 2.0
        `U`, radius of the ball of functions (bounds predictions), also sets the steps; a number > 0.
    alpha : float | str, default 0.001
        `α`, ALD threshold on the squared distance; larger keeps fewer points; a number ≥ 0. "auto": 25/T (Li and
        Liao, section A.1).
    max_dictionary : int | str | None, default None
        `B₀`, points from which on every example is kept; 0 is kogd; a whole number ≥ 0, or none. None: never; the
        dictionary stays as large as alpha makes it. "auto": (sqrt(d^2+4*d*T)-d)/2 (Li and Liao, Theorem 3.2).
    loss : str, default 'logistic'
        what is minimised; with classes the default is logistic, softmax for more than two; squared, absolute,
        huber:δ, epsilon:ε, quantile:τ, poisson, logistic, hinge, squared-hinge or softmax.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    AOGD-ALD: approximated online gradient descent on an ALD dictionary ([A] Algorithm 1).

    While the dictionary has fewer than `B₀` points, a gradient step in its orthonormal coordinates: an example in the span
    moves `f` along the projection of `k(x, ·)` (eq. 6), another joins and moves it along `k(x, ·)` itself (eq. 2); both then
    project on `‖f‖ ≤ U` (eq. 3). `η_t = U/√(1 + Σ_{s≤t} ‖∇̂_s‖²)`. `Jd + ½J²` multiply-adds a round.

    Past `B₀` every example is kept and learnt by plain kernel gradient descent, whose memory **grows with the stream**;
    `B₀ = ⌊(√(d² + 4dT) − d)/2⌋` is where that becomes the cheaper of the two (`AogdAldParams::growth_limit_for`).

    Examples
    --------
    >>> import mercer
    >>> model = mercer.AogdAldClassifier()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'aogd-ald'
    _keys = (
        ('radius', 'radius', 2.0),
        ('alpha', 'alpha', 0.001),
        ('max_dictionary', 'max_dictionary', None),
        ('loss', 'loss', 'logistic'),
    )
    _many = True
    _losses = ('logistic',)
    _poor_score = True

    def __init__(
        self,
        *,
        radius: float | str = 2.0,
        alpha: float | str = 0.001,
        max_dictionary: int | str | None = None,
        loss: str = 'logistic',
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.radius = radius
        self.alpha = alpha
        self.max_dictionary = max_dictionary
        self.loss = loss
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class Kons(KernelRegressor):
    r"""Kernelised online Newton step; every example is kept.

    When to take it: yardstick of second order; some thousand rows.

    Targets: one number.

    Cost: `td + ½t²` multiply-adds a row, `td + ½t²` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below). Memory grows: every example is kept, and memory and time grow with the
    square of their number.

    Source: Calandriello et al. 2017b; Li and Liao, Algorithm 2.

    Parameters
    ----------
    mu : float | str, default 1.0
        `μ`, regulariser: the curvature starts at μI; a number > 0.
    eta : float | str, default 0.125
        `η`, curvature: 1/(4(U² + Y²)) for predictions within U and targets within Y; a number > 0.
    clip : float | str | None, default None
        `C`, bound on the predictions; a number > 0, or none. None: predictions are not bounded.
    loss : str, default 'squared'
        what is minimised; with classes the default is logistic, softmax for more than two; squared or logistic.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    intervals : float | None, default None
        The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals.
        Adaptive conformal inference.
    local_intervals : bool, default False
        Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.

    Notes
    -----
    KONS: the kernelised online Newton step ([A] Algorithm 2; Calandriello, Lazaric and Valko 2017b).

    `A_t = A_{t−1} + η g² k_x k_xᵀ`, `A_0 = μI`, `f ← f − A_t⁻¹ g k_x`, with an optional projection on `|f(x_{t+1})| ≤ C` in
    the norm of `A_t`. Run in the dual on a bordered Cholesky factor: `td + ½t²` multiply-adds a round and `½t²` numbers:
    **memory grows with the square of the stream's length**. `NonsAld` is its approximation.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.Kons()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] - x['b'])
    >>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)
    True
    """

    _name = 'kons'
    _keys = (
        ('mu', 'mu', 1.0),
        ('eta', 'eta', 0.125),
        ('clip', 'clip', None),
        ('loss', 'loss', 'squared'),
    )

    def __init__(
        self,
        *,
        mu: float | str = 1.0,
        eta: float | str = 0.125,
        clip: float | str | None = None,
        loss: str = 'squared',
        kernel: str = 'auto',
        seed: int = 0,
        intervals: float | None = None,
        local_intervals: bool = False,
    ) -> None:
        self.mu = mu
        self.eta = eta
        self.clip = clip
        self.loss = loss
        self.kernel = kernel
        self.seed = seed
        self.intervals = intervals
        self.local_intervals = local_intervals


class KonsClassifier(KernelClassifier):
    r"""Kernelised online Newton step; every example is kept.

    When to take it: yardstick of second order; some thousand rows.

    Classes: two.

    Cost: `td + ½t²` multiply-adds a row, `td + ½t²` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below). Memory grows: every example is kept, and memory and time grow with the
    square of their number.

    Source: Calandriello et al. 2017b; Li and Liao, Algorithm 2.

    Parameters
    ----------
    mu : float | str, default 1.0
        `μ`, regulariser: the curvature starts at μI; a number > 0.
    eta : float | str, default 0.125
        `η`, curvature: 1/(4(U² + Y²)) for predictions within U and targets within Y; a number > 0.
    clip : float | str | None, default None
        `C`, bound on the predictions; a number > 0, or none. None: predictions are not bounded.
    loss : str, default 'logistic'
        what is minimised; with classes the default is logistic, softmax for more than two; squared or logistic.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    KONS: the kernelised online Newton step ([A] Algorithm 2; Calandriello, Lazaric and Valko 2017b).

    `A_t = A_{t−1} + η g² k_x k_xᵀ`, `A_0 = μI`, `f ← f − A_t⁻¹ g k_x`, with an optional projection on `|f(x_{t+1})| ≤ C` in
    the norm of `A_t`. Run in the dual on a bordered Cholesky factor: `td + ½t²` multiply-adds a round and `½t²` numbers:
    **memory grows with the square of the stream's length**. `NonsAld` is its approximation.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.KonsClassifier()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'kons'
    _keys = (
        ('mu', 'mu', 1.0),
        ('eta', 'eta', 0.125),
        ('clip', 'clip', None),
        ('loss', 'loss', 'logistic'),
    )
    _many = False
    _losses = ('logistic',)

    def __init__(
        self,
        *,
        mu: float | str = 1.0,
        eta: float | str = 0.125,
        clip: float | str | None = None,
        loss: str = 'logistic',
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.mu = mu
        self.eta = eta
        self.clip = clip
        self.loss = loss
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class SketchedKons(KernelRegressor):
    r"""Kernelised online Newton step whose curvature takes only some rounds.

    When to take it: to compare.

    Targets: one number.

    Cost: `td + ½J²` multiply-adds a row, `td + ½J²` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below). Memory grows: every example is kept; J counts the rounds in the curvature,
    at least the share gamma of them.

    Source: Calandriello et al. 2017b.

    Parameters
    ----------
    mu : float | str, default 1.0
        `μ`, regulariser: the curvature starts at μI; a number > 0.
    eta : float | str, default 0.125
        `η`, curvature: 1/(4(U² + Y²)) for predictions within U and targets within Y; a number > 0.
    gamma : float | str, default 0.3
        `γ`, smallest probability that a round enters the curvature; a number from 0 to 1.
    beta : float | str, default 1.0
        `β`, oversampling of the leverage scores; larger enters more rounds; a number > 0.
    loss : str, default 'squared'
        what is minimised; with classes the default is logistic, softmax for more than two; squared or logistic.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    intervals : float | None, default None
        The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals.
        Adaptive conformal inference.
    local_intervals : bool, default False
        Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.

    Notes
    -----
    Sketched-KONS: the kernelised online Newton step whose curvature takes only some rounds (Calandriello, Lazaric and
    Valko 2017b).

    As `Kons`, but a round enters `A ← A + η g² k_x k_xᵀ` with probability
    `p = max(γ, min(β τ̃, 1))`, without reweighting, where `τ̃ = aᵀ(A + aaᵀ)⁻¹a = q/(1 + q)`, `a = √η g k_x`, `q = aᵀA⁻¹a`, is its
    leverage in the current sketch. This is our reading of the algorithm from its use in [A] and by Jézéquel et al. (2019).
    `f` still moves in every round, so **memory grows with the stream**: `td + ½J²` multiply-adds a round with `J ≥ γt`
    rounds in the sketch.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.SketchedKons()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] - x['b'])
    >>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)
    True
    """

    _name = 'sketched-kons'
    _keys = (
        ('mu', 'mu', 1.0),
        ('eta', 'eta', 0.125),
        ('gamma', 'gamma', 0.3),
        ('beta', 'beta', 1.0),
        ('loss', 'loss', 'squared'),
    )

    def __init__(
        self,
        *,
        mu: float | str = 1.0,
        eta: float | str = 0.125,
        gamma: float | str = 0.3,
        beta: float | str = 1.0,
        loss: str = 'squared',
        kernel: str = 'auto',
        seed: int = 0,
        intervals: float | None = None,
        local_intervals: bool = False,
    ) -> None:
        self.mu = mu
        self.eta = eta
        self.gamma = gamma
        self.beta = beta
        self.loss = loss
        self.kernel = kernel
        self.seed = seed
        self.intervals = intervals
        self.local_intervals = local_intervals


class SketchedKonsClassifier(KernelClassifier):
    r"""Kernelised online Newton step whose curvature takes only some rounds.

    When to take it: to compare.

    Classes: two.

    Cost: `td + ½J²` multiply-adds a row, `td + ½J²` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below). Memory grows: every example is kept; J counts the rounds in the curvature,
    at least the share gamma of them.

    Source: Calandriello et al. 2017b.

    Parameters
    ----------
    mu : float | str, default 1.0
        `μ`, regulariser: the curvature starts at μI; a number > 0.
    eta : float | str, default 0.125
        `η`, curvature: 1/(4(U² + Y²)) for predictions within U and targets within Y; a number > 0.
    gamma : float | str, default 0.3
        `γ`, smallest probability that a round enters the curvature; a number from 0 to 1.
    beta : float | str, default 1.0
        `β`, oversampling of the leverage scores; larger enters more rounds; a number > 0.
    loss : str, default 'logistic'
        what is minimised; with classes the default is logistic, softmax for more than two; squared or logistic.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    Sketched-KONS: the kernelised online Newton step whose curvature takes only some rounds (Calandriello, Lazaric and
    Valko 2017b).

    As `Kons`, but a round enters `A ← A + η g² k_x k_xᵀ` with probability
    `p = max(γ, min(β τ̃, 1))`, without reweighting, where `τ̃ = aᵀ(A + aaᵀ)⁻¹a = q/(1 + q)`, `a = √η g k_x`, `q = aᵀA⁻¹a`, is its
    leverage in the current sketch. This is our reading of the algorithm from its use in [A] and by Jézéquel et al. (2019).
    `f` still moves in every round, so **memory grows with the stream**: `td + ½J²` multiply-adds a round with `J ≥ γt`
    rounds in the sketch.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.SketchedKonsClassifier()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'sketched-kons'
    _keys = (
        ('mu', 'mu', 1.0),
        ('eta', 'eta', 0.125),
        ('gamma', 'gamma', 0.3),
        ('beta', 'beta', 1.0),
        ('loss', 'loss', 'logistic'),
    )
    _many = False
    _losses = ('logistic',)

    def __init__(
        self,
        *,
        mu: float | str = 1.0,
        eta: float | str = 0.125,
        gamma: float | str = 0.3,
        beta: float | str = 1.0,
        loss: str = 'logistic',
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.mu = mu
        self.eta = eta
        self.gamma = gamma
        self.beta = beta
        self.loss = loss
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class NonsAld(KernelRegressor):
    r"""Nyström online Newton step on an ALD dictionary.

    When to take it: accuracy for its cost; `│y│ ≤ Y` known.

    Targets: one number.

    Cost: `Jd + 2J²` multiply-adds a row, `Jd + J²` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Li and Liao, Algorithm 3.

    Parameters
    ----------
    mu : float | str, default 1.0
        `μ`, regulariser: the curvature starts at μI; a number > 0.
    alpha : float | str, default 0.001
        `α`, ALD threshold on the squared distance; larger keeps fewer points; a number ≥ 0. "auto": 25/T (Li and
        Liao, section A.1).
    radius : float | str, default 1.0
        `U`, bound on the predictions; with classes the default is 2; a number > 0.
    label_bound : float | str, default 1.0
        `Y`, bound on the targets; with U sets the curvature 1/(4(U² + Y²)); a number > 0.
    max_dictionary : int | str | None, default 1000
        most points kept; a whole number ≥ 1, or none. None: the rule alone decides how many points are kept.
    loss : str, default 'squared'
        what is minimised; with classes the default is logistic, softmax for more than two; squared, logistic or
        softmax.
    removal : str, default 'never'
        which point leaves when the dictionary is full; never keeps the first ones; never, oldest, random, smallest or
        least-significant. One of never, oldest, random, smallest, least-significant.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    intervals : float | None, default None
        The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals.
        Adaptive conformal inference.
    local_intervals : bool, default False
        Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.

    Notes
    -----
    NONS-ALD: Nyström online Newton step on an ALD dictionary ([A] Algorithm 3).

    In the orthonormal coordinates `φ` of the dictionary, with `g = 2(ŷ − y)` and `η = 1/(4(U² + Y²))` for the squared loss (logistic and
    softmax: see `NewtonStep`):
    `A ← A + η g² φφᵀ`, `w ← w − A⁻¹gφ`, then the projection on `|wᵀφ(x_{t+1})| ≤ U`. A point with residual above `α` joins
    the dictionary: `w ← [w; 0]`, `A ← diag(A, μ)` (Lemmas 4.2 and 4.3; exact in Newton coordinates). `Jd + 2J²`
    multiply-adds a round, `Jd + J²` numbers of memory.

    Where the printed algorithm and this differ: it skips prediction and update on a round that enlarges the dictionary;
    the paper's text and its Table 3 do not, and neither does this. The projection uses the coordinates before growth.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.NonsAld()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] - x['b'])
    >>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)
    True
    """

    _name = 'nons-ald'
    _keys = (
        ('mu', 'mu', 1.0),
        ('alpha', 'alpha', 0.001),
        ('radius', 'radius', 1.0),
        ('label_bound', 'label_bound', 1.0),
        ('max_dictionary', 'max_dictionary', 1000),
        ('loss', 'loss', 'squared'),
        ('removal', 'removal', 'never'),
    )

    def __init__(
        self,
        *,
        mu: float | str = 1.0,
        alpha: float | str = 0.001,
        radius: float | str = 1.0,
        label_bound: float | str = 1.0,
        max_dictionary: int | str | None = 1000,
        loss: str = 'squared',
        removal: str = 'never',
        kernel: str = 'auto',
        seed: int = 0,
        intervals: float | None = None,
        local_intervals: bool = False,
    ) -> None:
        self.mu = mu
        self.alpha = alpha
        self.radius = radius
        self.label_bound = label_bound
        self.max_dictionary = max_dictionary
        self.loss = loss
        self.removal = removal
        self.kernel = kernel
        self.seed = seed
        self.intervals = intervals
        self.local_intervals = local_intervals


class NonsAldClassifier(KernelClassifier):
    r"""Nyström online Newton step on an ALD dictionary.

    When to take it: accuracy for its cost; `│y│ ≤ Y` known.

    Classes: any number.

    Cost: `Jd + 2J²` multiply-adds a row, `Jd + J²` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Li and Liao, Algorithm 3.

    Parameters
    ----------
    mu : float | str, default 1.0
        `μ`, regulariser: the curvature starts at μI; a number > 0.
    alpha : float | str, default 0.001
        `α`, ALD threshold on the squared distance; larger keeps fewer points; a number ≥ 0. "auto": 25/T (Li and
        Liao, section A.1).
    radius : float | str, default 2.0
        `U`, bound on the predictions; with classes the default is 2; a number > 0.
    label_bound : float | str, default 1.0
        `Y`, bound on the targets; with U sets the curvature 1/(4(U² + Y²)); a number > 0.
    max_dictionary : int | str | None, default 1000
        most points kept; a whole number ≥ 1, or none. None: the rule alone decides how many points are kept.
    loss : str, default 'logistic'
        what is minimised; with classes the default is logistic, softmax for more than two; squared, logistic or
        softmax.
    removal : str, default 'never'
        which point leaves when the dictionary is full; never keeps the first ones; never, oldest, random, smallest or
        least-significant. One of never, oldest, random, smallest, least-significant.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    NONS-ALD: Nyström online Newton step on an ALD dictionary ([A] Algorithm 3).

    In the orthonormal coordinates `φ` of the dictionary, with `g = 2(ŷ − y)` and `η = 1/(4(U² + Y²))` for the squared loss (logistic and
    softmax: see `NewtonStep`):
    `A ← A + η g² φφᵀ`, `w ← w − A⁻¹gφ`, then the projection on `|wᵀφ(x_{t+1})| ≤ U`. A point with residual above `α` joins
    the dictionary: `w ← [w; 0]`, `A ← diag(A, μ)` (Lemmas 4.2 and 4.3; exact in Newton coordinates). `Jd + 2J²`
    multiply-adds a round, `Jd + J²` numbers of memory.

    Where the printed algorithm and this differ: it skips prediction and update on a round that enlarges the dictionary;
    the paper's text and its Table 3 do not, and neither does this. The projection uses the coordinates before growth.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.NonsAldClassifier()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'nons-ald'
    _keys = (
        ('mu', 'mu', 1.0),
        ('alpha', 'alpha', 0.001),
        ('radius', 'radius', 2.0),
        ('label_bound', 'label_bound', 1.0),
        ('max_dictionary', 'max_dictionary', 1000),
        ('loss', 'loss', 'logistic'),
        ('removal', 'removal', 'never'),
    )
    _many = True
    _losses = ('logistic',)

    def __init__(
        self,
        *,
        mu: float | str = 1.0,
        alpha: float | str = 0.001,
        radius: float | str = 2.0,
        label_bound: float | str = 1.0,
        max_dictionary: int | str | None = 1000,
        loss: str = 'logistic',
        removal: str = 'never',
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.mu = mu
        self.alpha = alpha
        self.radius = radius
        self.label_bound = label_bound
        self.max_dictionary = max_dictionary
        self.loss = loss
        self.removal = removal
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class ProsNKons(KernelRegressor):
    r"""Online Newton step on a KORS dictionary, restarted when a point is kept.

    When to take it: to compare; it restarts at each kept point.

    Targets: one number.

    Cost: `Jd + 2½J²` multiply-adds a row, `Jd + 1½J²` numbers of memory (`t` the row, `d` the features, `J` the
    points kept, other letters the symbols below).

    Source: Calandriello et al. 2017a.

    Parameters
    ----------
    alpha : float | str, default 5.0
        `α`, regulariser: the curvature starts at αI; a number > 0.
    gamma : float | str, default 100.0
        `γ`, regulariser of the leverage scores; larger keeps fewer points; a number > 0.
    beta : float | str, default 1.0
        `β`, oversampling of the leverage scores; larger keeps more points; a number > 0.
    epsilon : float | str, default 0.5
        `ε`, accuracy of the leverage scores; a number ≥ 0.
    clip : float | str, default 1.0
        `C`, bound on the predictions, also sets the curvature 1/(16C²); a number > 0.
    max_dictionary : int | str | None, default 1000
        most points kept; a whole number ≥ 1, or none. None: the rule alone decides how many points are kept.
    loss : str, default 'squared'
        what is minimised; with classes the default is logistic, softmax for more than two; squared, logistic or
        softmax.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    intervals : float | None, default None
        The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals.
        Adaptive conformal inference.
    local_intervals : bool, default False
        Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.

    Notes
    -----
    PROS-N-KONS and CON-KONS: the online Newton step on a KORS dictionary (Calandriello, Lazaric and Valko 2017a).

    `A ← A + ½σ g² φφᵀ` with `½σ = 1/(16C²)`, `w ← w − A⁻¹gφ`, projection on `|wᵀφ(x_{t+1})| ≤ C`, in the orthonormal
    coordinates of a dictionary sampled by ridge leverage scores. A kept point acts from the next round on, and that round
    skips the projection. PROS-N-KONS then restarts with `A = αI`, `w = 0`; CON-KONS carries what it has: a coordinate is
    appended with `A ← diag(A, α)`, `w ← [w; 0]`. ([A] section A.1 prints CON-KONS's matrix as `QAQᵀ`, which is singular in
    the new direction; `αI + Q(A − αI)Qᵀ` is meant here.) The first point is kept without a coin: prediction 0, no step. A point
    kept in the span of the others changes neither dictionary nor learner.
    `Jd + 2½J²` multiply-adds a round (a factor and two inverses), `Jd + 1½J²` numbers of memory.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.ProsNKons()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] - x['b'])
    >>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)
    True
    """

    _name = 'pros-n-kons'
    _keys = (
        ('alpha', 'alpha', 5.0),
        ('gamma', 'gamma', 100.0),
        ('beta', 'beta', 1.0),
        ('epsilon', 'epsilon', 0.5),
        ('clip', 'clip', 1.0),
        ('max_dictionary', 'max_dictionary', 1000),
        ('loss', 'loss', 'squared'),
    )
    _poor_score = True

    def __init__(
        self,
        *,
        alpha: float | str = 5.0,
        gamma: float | str = 100.0,
        beta: float | str = 1.0,
        epsilon: float | str = 0.5,
        clip: float | str = 1.0,
        max_dictionary: int | str | None = 1000,
        loss: str = 'squared',
        kernel: str = 'auto',
        seed: int = 0,
        intervals: float | None = None,
        local_intervals: bool = False,
    ) -> None:
        self.alpha = alpha
        self.gamma = gamma
        self.beta = beta
        self.epsilon = epsilon
        self.clip = clip
        self.max_dictionary = max_dictionary
        self.loss = loss
        self.kernel = kernel
        self.seed = seed
        self.intervals = intervals
        self.local_intervals = local_intervals


class ProsNKonsClassifier(KernelClassifier):
    r"""Online Newton step on a KORS dictionary, restarted when a point is kept.

    When to take it: to compare; it restarts at each kept point.

    Classes: any number.

    Cost: `Jd + 2½J²` multiply-adds a row, `Jd + 1½J²` numbers of memory (`t` the row, `d` the features, `J` the
    points kept, other letters the symbols below).

    Source: Calandriello et al. 2017a.

    Parameters
    ----------
    alpha : float | str, default 5.0
        `α`, regulariser: the curvature starts at αI; a number > 0.
    gamma : float | str, default 100.0
        `γ`, regulariser of the leverage scores; larger keeps fewer points; a number > 0.
    beta : float | str, default 1.0
        `β`, oversampling of the leverage scores; larger keeps more points; a number > 0.
    epsilon : float | str, default 0.5
        `ε`, accuracy of the leverage scores; a number ≥ 0.
    clip : float | str, default 1.0
        `C`, bound on the predictions, also sets the curvature 1/(16C²); a number > 0.
    max_dictionary : int | str | None, default 1000
        most points kept; a whole number ≥ 1, or none. None: the rule alone decides how many points are kept.
    loss : str, default 'logistic'
        what is minimised; with classes the default is logistic, softmax for more than two; squared, logistic or
        softmax.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    PROS-N-KONS and CON-KONS: the online Newton step on a KORS dictionary (Calandriello, Lazaric and Valko 2017a).

    `A ← A + ½σ g² φφᵀ` with `½σ = 1/(16C²)`, `w ← w − A⁻¹gφ`, projection on `|wᵀφ(x_{t+1})| ≤ C`, in the orthonormal
    coordinates of a dictionary sampled by ridge leverage scores. A kept point acts from the next round on, and that round
    skips the projection. PROS-N-KONS then restarts with `A = αI`, `w = 0`; CON-KONS carries what it has: a coordinate is
    appended with `A ← diag(A, α)`, `w ← [w; 0]`. ([A] section A.1 prints CON-KONS's matrix as `QAQᵀ`, which is singular in
    the new direction; `αI + Q(A − αI)Qᵀ` is meant here.) The first point is kept without a coin: prediction 0, no step. A point
    kept in the span of the others changes neither dictionary nor learner.
    `Jd + 2½J²` multiply-adds a round (a factor and two inverses), `Jd + 1½J²` numbers of memory.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.ProsNKonsClassifier()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'pros-n-kons'
    _keys = (
        ('alpha', 'alpha', 5.0),
        ('gamma', 'gamma', 100.0),
        ('beta', 'beta', 1.0),
        ('epsilon', 'epsilon', 0.5),
        ('clip', 'clip', 1.0),
        ('max_dictionary', 'max_dictionary', 1000),
        ('loss', 'loss', 'logistic'),
    )
    _many = True
    _losses = ('logistic',)
    _poor_score = True

    def __init__(
        self,
        *,
        alpha: float | str = 5.0,
        gamma: float | str = 100.0,
        beta: float | str = 1.0,
        epsilon: float | str = 0.5,
        clip: float | str = 1.0,
        max_dictionary: int | str | None = 1000,
        loss: str = 'logistic',
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.alpha = alpha
        self.gamma = gamma
        self.beta = beta
        self.epsilon = epsilon
        self.clip = clip
        self.max_dictionary = max_dictionary
        self.loss = loss
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class ConKons(KernelRegressor):
    r"""Online Newton step on a KORS dictionary, carried on when a point is kept.

    When to take it: points sampled by leverage rather than by distance.

    Targets: one number.

    Cost: `Jd + 2½J²` multiply-adds a row, `Jd + 1½J²` numbers of memory (`t` the row, `d` the features, `J` the
    points kept, other letters the symbols below).

    Source: Calandriello et al. 2017a; Li and Liao, section A.1.

    Parameters
    ----------
    alpha : float | str, default 5.0
        `α`, regulariser: the curvature starts at αI; a number > 0.
    gamma : float | str, default 1.0
        `γ`, regulariser of the leverage scores; larger keeps fewer points; a number > 0.
    beta : float | str, default 1.0
        `β`, oversampling of the leverage scores; larger keeps more points; a number > 0.
    epsilon : float | str, default 0.5
        `ε`, accuracy of the leverage scores; a number ≥ 0.
    clip : float | str, default 1.0
        `C`, bound on the predictions, also sets the curvature 1/(16C²); a number > 0.
    max_dictionary : int | str | None, default 1000
        most points kept; a whole number ≥ 1, or none. None: the rule alone decides how many points are kept.
    loss : str, default 'squared'
        what is minimised; with classes the default is logistic, softmax for more than two; squared, logistic or
        softmax.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    intervals : float | None, default None
        The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals.
        Adaptive conformal inference.
    local_intervals : bool, default False
        Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.

    Notes
    -----
    PROS-N-KONS and CON-KONS: the online Newton step on a KORS dictionary (Calandriello, Lazaric and Valko 2017a).

    `A ← A + ½σ g² φφᵀ` with `½σ = 1/(16C²)`, `w ← w − A⁻¹gφ`, projection on `|wᵀφ(x_{t+1})| ≤ C`, in the orthonormal
    coordinates of a dictionary sampled by ridge leverage scores. A kept point acts from the next round on, and that round
    skips the projection. PROS-N-KONS then restarts with `A = αI`, `w = 0`; CON-KONS carries what it has: a coordinate is
    appended with `A ← diag(A, α)`, `w ← [w; 0]`. ([A] section A.1 prints CON-KONS's matrix as `QAQᵀ`, which is singular in
    the new direction; `αI + Q(A − αI)Qᵀ` is meant here.) The first point is kept without a coin: prediction 0, no step. A point
    kept in the span of the others changes neither dictionary nor learner.
    `Jd + 2½J²` multiply-adds a round (a factor and two inverses), `Jd + 1½J²` numbers of memory.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.ConKons()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] - x['b'])
    >>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)
    True
    """

    _name = 'con-kons'
    _keys = (
        ('alpha', 'alpha', 5.0),
        ('gamma', 'gamma', 1.0),
        ('beta', 'beta', 1.0),
        ('epsilon', 'epsilon', 0.5),
        ('clip', 'clip', 1.0),
        ('max_dictionary', 'max_dictionary', 1000),
        ('loss', 'loss', 'squared'),
    )
    _poor_score = True

    def __init__(
        self,
        *,
        alpha: float | str = 5.0,
        gamma: float | str = 1.0,
        beta: float | str = 1.0,
        epsilon: float | str = 0.5,
        clip: float | str = 1.0,
        max_dictionary: int | str | None = 1000,
        loss: str = 'squared',
        kernel: str = 'auto',
        seed: int = 0,
        intervals: float | None = None,
        local_intervals: bool = False,
    ) -> None:
        self.alpha = alpha
        self.gamma = gamma
        self.beta = beta
        self.epsilon = epsilon
        self.clip = clip
        self.max_dictionary = max_dictionary
        self.loss = loss
        self.kernel = kernel
        self.seed = seed
        self.intervals = intervals
        self.local_intervals = local_intervals


class ConKonsClassifier(KernelClassifier):
    r"""Online Newton step on a KORS dictionary, carried on when a point is kept.

    When to take it: points sampled by leverage rather than by distance.

    Classes: any number.

    Cost: `Jd + 2½J²` multiply-adds a row, `Jd + 1½J²` numbers of memory (`t` the row, `d` the features, `J` the
    points kept, other letters the symbols below).

    Source: Calandriello et al. 2017a; Li and Liao, section A.1.

    Parameters
    ----------
    alpha : float | str, default 5.0
        `α`, regulariser: the curvature starts at αI; a number > 0.
    gamma : float | str, default 1.0
        `γ`, regulariser of the leverage scores; larger keeps fewer points; a number > 0.
    beta : float | str, default 1.0
        `β`, oversampling of the leverage scores; larger keeps more points; a number > 0.
    epsilon : float | str, default 0.5
        `ε`, accuracy of the leverage scores; a number ≥ 0.
    clip : float | str, default 1.0
        `C`, bound on the predictions, also sets the curvature 1/(16C²); a number > 0.
    max_dictionary : int | str | None, default 1000
        most points kept; a whole number ≥ 1, or none. None: the rule alone decides how many points are kept.
    loss : str, default 'logistic'
        what is minimised; with classes the default is logistic, softmax for more than two; squared, logistic or
        softmax.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    PROS-N-KONS and CON-KONS: the online Newton step on a KORS dictionary (Calandriello, Lazaric and Valko 2017a).

    `A ← A + ½σ g² φφᵀ` with `½σ = 1/(16C²)`, `w ← w − A⁻¹gφ`, projection on `|wᵀφ(x_{t+1})| ≤ C`, in the orthonormal
    coordinates of a dictionary sampled by ridge leverage scores. A kept point acts from the next round on, and that round
    skips the projection. PROS-N-KONS then restarts with `A = αI`, `w = 0`; CON-KONS carries what it has: a coordinate is
    appended with `A ← diag(A, α)`, `w ← [w; 0]`. ([A] section A.1 prints CON-KONS's matrix as `QAQᵀ`, which is singular in
    the new direction; `αI + Q(A − αI)Qᵀ` is meant here.) The first point is kept without a coin: prediction 0, no step. A point
    kept in the span of the others changes neither dictionary nor learner.
    `Jd + 2½J²` multiply-adds a round (a factor and two inverses), `Jd + 1½J²` numbers of memory.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.ConKonsClassifier()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'con-kons'
    _keys = (
        ('alpha', 'alpha', 5.0),
        ('gamma', 'gamma', 1.0),
        ('beta', 'beta', 1.0),
        ('epsilon', 'epsilon', 0.5),
        ('clip', 'clip', 1.0),
        ('max_dictionary', 'max_dictionary', 1000),
        ('loss', 'loss', 'logistic'),
    )
    _many = True
    _losses = ('logistic',)

    def __init__(
        self,
        *,
        alpha: float | str = 5.0,
        gamma: float | str = 1.0,
        beta: float | str = 1.0,
        epsilon: float | str = 0.5,
        clip: float | str = 1.0,
        max_dictionary: int | str | None = 1000,
        loss: str = 'logistic',
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.alpha = alpha
        self.gamma = gamma
        self.beta = beta
        self.epsilon = epsilon
        self.clip = clip
        self.max_dictionary = max_dictionary
        self.loss = loss
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class Fogd(KernelRegressor):
    r"""Fourier online gradient descent on random features of a Gaussian kernel.

    When to take it: speed; Gaussian kernel.

    Targets: one number, or several at once.

    Cost: `Dd + 4D` multiply-adds a row, `Dd + 2D` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Lu et al. 2016.

    Parameters
    ----------
    features : int | str, default 400
        `D`, random frequencies; each gives a cosine and a sine; a whole number ≥ 1.
    step : float | str, default 0.1
        `η`, step of the gradient descent; 1 and more tends to diverge; a number > 0. "auto": 10/sqrt(T) (of the grid
        {1, 10, 100, 1000}/√T in Li and Liao, section A.1).
    loss : str, default 'squared'
        what is minimised; with classes the default is logistic, softmax for more than two; squared, absolute,
        huber:δ, epsilon:ε, quantile:τ, poisson, logistic, hinge, squared-hinge or softmax.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    intervals : float | None, default None
        The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals.
        Adaptive conformal inference.
    local_intervals : bool, default False
        Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.

    Notes
    -----
    FOGD: Fourier online gradient descent (Lu, Hoi, Wang, Zhao and Liu 2016).

    `w ← w − η g z(x)` on the `2D` random Fourier features of the Gaussian kernel, no projection. `Dd + 4D` multiply-adds
    and `D` sines and cosines a round.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.Fogd()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] - x['b'])
    >>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)
    True
    """

    _name = 'fogd'
    _keys = (
        ('features', 'features', 400),
        ('step', 'step', 0.1),
        ('loss', 'loss', 'squared'),
    )
    _vectors = True

    def __init__(
        self,
        *,
        features: int | str = 400,
        step: float | str = 0.1,
        loss: str = 'squared',
        kernel: str = 'auto',
        seed: int = 0,
        intervals: float | None = None,
        local_intervals: bool = False,
    ) -> None:
        self.features = features
        self.step = step
        self.loss = loss
        self.kernel = kernel
        self.seed = seed
        self.intervals = intervals
        self.local_intervals = local_intervals


class FogdClassifier(KernelClassifier):
    r"""Fourier online gradient descent on random features of a Gaussian kernel.

    When to take it: speed; Gaussian kernel.

    Classes: any number.

    Cost: `Dd + 4D` multiply-adds a row, `Dd + 2D` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Lu et al. 2016.

    Parameters
    ----------
    features : int | str, default 400
        `D`, random frequencies; each gives a cosine and a sine; a whole number ≥ 1.
    step : float | str, default 0.1
        `η`, step of the gradient descent; 1 and more tends to diverge; a number > 0. "auto": 10/sqrt(T) (of the grid
        {1, 10, 100, 1000}/√T in Li and Liao, section A.1).
    loss : str, default 'logistic'
        what is minimised; with classes the default is logistic, softmax for more than two; squared, absolute,
        huber:δ, epsilon:ε, quantile:τ, poisson, logistic, hinge, squared-hinge or softmax.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    FOGD: Fourier online gradient descent (Lu, Hoi, Wang, Zhao and Liu 2016).

    `w ← w − η g z(x)` on the `2D` random Fourier features of the Gaussian kernel, no projection. `Dd + 4D` multiply-adds
    and `D` sines and cosines a round.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.FogdClassifier()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'fogd'
    _keys = (
        ('features', 'features', 400),
        ('step', 'step', 0.1),
        ('loss', 'loss', 'logistic'),
    )
    _many = True
    _losses = ('logistic',)

    def __init__(
        self,
        *,
        features: int | str = 400,
        step: float | str = 0.1,
        loss: str = 'logistic',
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.features = features
        self.step = step
        self.loss = loss
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class Nogd(KernelRegressor):
    r"""Nyström online gradient descent on the features of the first points.

    When to take it: a fixed number of points, any kernel.

    Targets: one number, or several at once.

    Cost: `Bd + Bk` multiply-adds a row, `Bd + Bk` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Lu et al. 2016.

    Parameters
    ----------
    budget : int | str, default 400
        `B`, points kept, the first ones; then features are made of them, once, in B³; a whole number ≥ 1.
    rank : int | str, default 400
        `k`, features made of them; above the budget it is the budget; a whole number ≥ 1.
    step : float | str, default 0.1
        `η`, step of the gradient descent; 1 and more tends to diverge; a number > 0. "auto": 10/sqrt(T) (of the grid
        {1, 10, 100, 1000}/√T in Li and Liao, section A.1).
    radius : float | str | None, default None
        `U`, radius of the ball of functions (bounds predictions); a number > 0, or none. None: the function is not
        bounded.
    loss : str, default 'squared'
        what is minimised; with classes the default is logistic, softmax for more than two; squared, absolute,
        huber:δ, epsilon:ε, quantile:τ, poisson, logistic, hinge, squared-hinge or softmax.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    intervals : float | None, default None
        The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals.
        Adaptive conformal inference.
    local_intervals : bool, default False
        Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.

    Notes
    -----
    NOGD: Nyström online gradient descent (Lu, Hoi, Wang, Zhao and Liu 2016).

    Until `B` points are kept, plain kernel gradient descent `f ← f − η g k(x, ·)` on all of them. Then the features of the
    rank-`k` Nyström approximation on those points, `z(x) = Λ_k^{−1/2} U_kᵀ k_B(x)` with `K_B = U Λ Uᵀ` (eigenvalues up to
    `1e−12 λ_max` are dropped), start from the projection of the same function, and `w ← w − η g z(x)` follows. `Bd + Bk`
    multiply-adds a round after the switch, which itself costs `O(B³)` once.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.Nogd()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] - x['b'])
    >>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)
    True
    """

    _name = 'nogd'
    _keys = (
        ('budget', 'budget', 400),
        ('rank', 'rank', 400),
        ('step', 'step', 0.1),
        ('radius', 'radius', None),
        ('loss', 'loss', 'squared'),
    )
    _vectors = True

    def __init__(
        self,
        *,
        budget: int | str = 400,
        rank: int | str = 400,
        step: float | str = 0.1,
        radius: float | str | None = None,
        loss: str = 'squared',
        kernel: str = 'auto',
        seed: int = 0,
        intervals: float | None = None,
        local_intervals: bool = False,
    ) -> None:
        self.budget = budget
        self.rank = rank
        self.step = step
        self.radius = radius
        self.loss = loss
        self.kernel = kernel
        self.seed = seed
        self.intervals = intervals
        self.local_intervals = local_intervals


class NogdClassifier(KernelClassifier):
    r"""Nyström online gradient descent on the features of the first points.

    When to take it: a fixed number of points, any kernel.

    Classes: any number.

    Cost: `Bd + Bk` multiply-adds a row, `Bd + Bk` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Lu et al. 2016.

    Parameters
    ----------
    budget : int | str, default 400
        `B`, points kept, the first ones; then features are made of them, once, in B³; a whole number ≥ 1.
    rank : int | str, default 400
        `k`, features made of them; above the budget it is the budget; a whole number ≥ 1.
    step : float | str, default 0.1
        `η`, step of the gradient descent; 1 and more tends to diverge; a number > 0. "auto": 10/sqrt(T) (of the grid
        {1, 10, 100, 1000}/√T in Li and Liao, section A.1).
    radius : float | str | None, default None
        `U`, radius of the ball of functions (bounds predictions); a number > 0, or none. None: the function is not
        bounded.
    loss : str, default 'logistic'
        what is minimised; with classes the default is logistic, softmax for more than two; squared, absolute,
        huber:δ, epsilon:ε, quantile:τ, poisson, logistic, hinge, squared-hinge or softmax.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    NOGD: Nyström online gradient descent (Lu, Hoi, Wang, Zhao and Liu 2016).

    Until `B` points are kept, plain kernel gradient descent `f ← f − η g k(x, ·)` on all of them. Then the features of the
    rank-`k` Nyström approximation on those points, `z(x) = Λ_k^{−1/2} U_kᵀ k_B(x)` with `K_B = U Λ Uᵀ` (eigenvalues up to
    `1e−12 λ_max` are dropped), start from the projection of the same function, and `w ← w − η g z(x)` follows. `Bd + Bk`
    multiply-adds a round after the switch, which itself costs `O(B³)` once.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.NogdClassifier()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'nogd'
    _keys = (
        ('budget', 'budget', 400),
        ('rank', 'rank', 400),
        ('step', 'step', 0.1),
        ('radius', 'radius', None),
        ('loss', 'loss', 'logistic'),
    )
    _many = True
    _losses = ('logistic',)

    def __init__(
        self,
        *,
        budget: int | str = 400,
        rank: int | str = 400,
        step: float | str = 0.1,
        radius: float | str | None = None,
        loss: str = 'logistic',
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.budget = budget
        self.rank = rank
        self.step = step
        self.radius = radius
        self.loss = loss
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class Krls(KernelRegressor):
    r"""Kernel recursive least squares on an ALD dictionary.

    When to take it: no bound on targets; drift.

    Targets: one number, or several at once.

    Cost: `Jd + 2J²` multiply-adds a row, `Jd + J²` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Engel et al. 2004.

    Parameters
    ----------
    nu : float | str, default 0.001
        `ν`, ALD threshold on the squared distance; larger keeps fewer points; a number ≥ 0.
    lambda_ : float | str, default 0.1
        `λ`, ridge: the variance of the noise where k(x, x) is that of the function; for classes 0.01; 0 is Engel's
        algorithm; a number ≥ 0.
    forgetting : float | str, default 1.0
        `γ`, share of the past that a row leaves: exponentially, 1/(1 − γ) rows are remembered; directionally, about J
        times as many; 1 forgets nothing; a number above 0, at most 1.
    max_dictionary : int | str | None, default 1000
        most points kept; a whole number ≥ 1, or none. None: the rule alone decides how many points are kept.
    forgets : str, default 'directional'
        how: where the input lies, everywhere, or back to the ridge's prior (which needs lambda > 0); directional,
        exponential or prior. One of directional, exponential, prior.
    removal : str, default 'never'
        which point leaves when the dictionary is full; never keeps the first ones; never, oldest, random, smallest or
        least-significant. One of never, oldest, random, smallest, least-significant.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    intervals : float | None, default None
        The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals.
        Adaptive conformal inference.
    local_intervals : bool, default False
        Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.

    Notes
    -----
    KRLS: kernel recursive least squares on an ALD dictionary (Engel, Mannor and Meir 2004).

    In the orthonormal coordinates of the dictionary it is recursive least squares, `LeastSquares`: predictions are those
    of the least-squares fit to all rounds, each represented by its projection on the dictionary of its time. Engel's
    recursion keeps `K⁻¹` and a second matrix and loses digits for small thresholds; this one keeps a Cholesky factor and
    one inverse and does not. `Jd + 2J²` multiply-adds a round, `Jd + J²` numbers of memory.

    A ridge and forgetting are extensions; see `LeastSquares` for what they do.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.Krls()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] - x['b'])
    >>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)
    True
    """

    _name = 'krls'
    _keys = (
        ('nu', 'nu', 0.001),
        ('lambda_', 'lambda', 0.1),
        ('forgetting', 'forgetting', 1.0),
        ('max_dictionary', 'max_dictionary', 1000),
        ('forgets', 'forgets', 'directional'),
        ('removal', 'removal', 'never'),
    )
    _vectors = True

    def __init__(
        self,
        *,
        nu: float | str = 0.001,
        lambda_: float | str = 0.1,
        forgetting: float | str = 1.0,
        max_dictionary: int | str | None = 1000,
        forgets: str = 'directional',
        removal: str = 'never',
        kernel: str = 'auto',
        seed: int = 0,
        intervals: float | None = None,
        local_intervals: bool = False,
    ) -> None:
        self.nu = nu
        self.lambda_ = lambda_
        self.forgetting = forgetting
        self.max_dictionary = max_dictionary
        self.forgets = forgets
        self.removal = removal
        self.kernel = kernel
        self.seed = seed
        self.intervals = intervals
        self.local_intervals = local_intervals


class KrlsClassifier(KernelClassifier):
    r"""Kernel recursive least squares on an ALD dictionary.

    When to take it: no bound on targets; drift.

    Classes: any number.

    Cost: `Jd + 2J²` multiply-adds a row, `Jd + J²` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Engel et al. 2004.

    Parameters
    ----------
    nu : float | str, default 0.001
        `ν`, ALD threshold on the squared distance; larger keeps fewer points; a number ≥ 0.
    lambda_ : float | str, default 0.01
        `λ`, ridge: the variance of the noise where k(x, x) is that of the function; for classes 0.01; 0 is Engel's
        algorithm; a number ≥ 0.
    forgetting : float | str, default 1.0
        `γ`, share of the past that a row leaves: exponentially, 1/(1 − γ) rows are remembered; directionally, about J
        times as many; 1 forgets nothing; a number above 0, at most 1.
    max_dictionary : int | str | None, default 1000
        most points kept; a whole number ≥ 1, or none. None: the rule alone decides how many points are kept.
    forgets : str, default 'directional'
        how: where the input lies, everywhere, or back to the ridge's prior (which needs lambda > 0); directional,
        exponential or prior. One of directional, exponential, prior.
    removal : str, default 'never'
        which point leaves when the dictionary is full; never keeps the first ones; never, oldest, random, smallest or
        least-significant. One of never, oldest, random, smallest, least-significant.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    KRLS: kernel recursive least squares on an ALD dictionary (Engel, Mannor and Meir 2004).

    In the orthonormal coordinates of the dictionary it is recursive least squares, `LeastSquares`: predictions are those
    of the least-squares fit to all rounds, each represented by its projection on the dictionary of its time. Engel's
    recursion keeps `K⁻¹` and a second matrix and loses digits for small thresholds; this one keeps a Cholesky factor and
    one inverse and does not. `Jd + 2J²` multiply-adds a round, `Jd + J²` numbers of memory.

    A ridge and forgetting are extensions; see `LeastSquares` for what they do.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.KrlsClassifier()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'krls'
    _keys = (
        ('nu', 'nu', 0.001),
        ('lambda_', 'lambda', 0.01),
        ('forgetting', 'forgetting', 1.0),
        ('max_dictionary', 'max_dictionary', 1000),
        ('forgets', 'forgets', 'directional'),
        ('removal', 'removal', 'never'),
    )
    _many = True
    _losses = ('squared',)

    def __init__(
        self,
        *,
        nu: float | str = 0.001,
        lambda_: float | str = 0.01,
        forgetting: float | str = 1.0,
        max_dictionary: int | str | None = 1000,
        forgets: str = 'directional',
        removal: str = 'never',
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.nu = nu
        self.lambda_ = lambda_
        self.forgetting = forgetting
        self.max_dictionary = max_dictionary
        self.forgets = forgets
        self.removal = removal
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class AldKrls(KernelRegressor):
    r"""Kernel recursive least squares as published: an ALD dictionary, no ridge, no forgetting.

    When to take it: no bound on targets; drift.

    Targets: one number, or several at once.

    Cost: `Jd + 2J²` multiply-adds a row, `Jd + J²` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Engel et al. 2004.

    Parameters
    ----------
    nu : float | str, default 0.001
        `ν`, ALD threshold on the squared distance; larger keeps fewer points; a number ≥ 0.
    max_dictionary : int | str | None, default 1000
        most points kept; a whole number ≥ 1, or none. None: the rule alone decides how many points are kept.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    intervals : float | None, default None
        The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals.
        Adaptive conformal inference.
    local_intervals : bool, default False
        Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.

    Notes
    -----
    KRLS: kernel recursive least squares on an ALD dictionary (Engel, Mannor and Meir 2004).

    In the orthonormal coordinates of the dictionary it is recursive least squares, `LeastSquares`: predictions are those
    of the least-squares fit to all rounds, each represented by its projection on the dictionary of its time. Engel's
    recursion keeps `K⁻¹` and a second matrix and loses digits for small thresholds; this one keeps a Cholesky factor and
    one inverse and does not. `Jd + 2J²` multiply-adds a round, `Jd + J²` numbers of memory.

    A ridge and forgetting are extensions; see `LeastSquares` for what they do.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.AldKrls()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] - x['b'])
    >>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)
    True
    """

    _name = 'ald-krls'
    _keys = (
        ('nu', 'nu', 0.001),
        ('max_dictionary', 'max_dictionary', 1000),
    )
    _vectors = True

    def __init__(
        self,
        *,
        nu: float | str = 0.001,
        max_dictionary: int | str | None = 1000,
        kernel: str = 'auto',
        seed: int = 0,
        intervals: float | None = None,
        local_intervals: bool = False,
    ) -> None:
        self.nu = nu
        self.max_dictionary = max_dictionary
        self.kernel = kernel
        self.seed = seed
        self.intervals = intervals
        self.local_intervals = local_intervals


class AldKrlsClassifier(KernelClassifier):
    r"""Kernel recursive least squares as published: an ALD dictionary, no ridge, no forgetting.

    When to take it: no bound on targets; drift.

    Classes: any number.

    Cost: `Jd + 2J²` multiply-adds a row, `Jd + J²` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Engel et al. 2004.

    Parameters
    ----------
    nu : float | str, default 0.001
        `ν`, ALD threshold on the squared distance; larger keeps fewer points; a number ≥ 0.
    max_dictionary : int | str | None, default 1000
        most points kept; a whole number ≥ 1, or none. None: the rule alone decides how many points are kept.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    KRLS: kernel recursive least squares on an ALD dictionary (Engel, Mannor and Meir 2004).

    In the orthonormal coordinates of the dictionary it is recursive least squares, `LeastSquares`: predictions are those
    of the least-squares fit to all rounds, each represented by its projection on the dictionary of its time. Engel's
    recursion keeps `K⁻¹` and a second matrix and loses digits for small thresholds; this one keeps a Cholesky factor and
    one inverse and does not. `Jd + 2J²` multiply-adds a round, `Jd + J²` numbers of memory.

    A ridge and forgetting are extensions; see `LeastSquares` for what they do.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.AldKrlsClassifier()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'ald-krls'
    _keys = (
        ('nu', 'nu', 0.001),
        ('max_dictionary', 'max_dictionary', 1000),
    )
    _many = True
    _losses = ('squared',)

    def __init__(
        self,
        *,
        nu: float | str = 0.001,
        max_dictionary: int | str | None = 1000,
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.nu = nu
        self.max_dictionary = max_dictionary
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class KernelAwv(KernelRegressor):
    r"""Azoury–Warmuth–Vovk forecaster over all points.

    When to take it: yardstick against any data; some thousand rows.

    Targets: one number, or several at once.

    Cost: `td + ½t²` multiply-adds a row, `td + ½t²` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below). Memory grows: every example is kept, and memory and time grow with the
    square of their number.

    Source: Jézéquel et al. 2019, eq. 3.

    Parameters
    ----------
    lambda_ : float | str, default 1.0
        `λ`, ridge; a number > 0.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    intervals : float | None, default None
        The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals.
        Adaptive conformal inference.
    local_intervals : bool, default False
        Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.

    Notes
    -----
    Kernel-AWV and Kernel-KRR: least squares over all points of the stream (Jézéquel, Gaillard and Rudi 2019, eq. 3).

    `f̂_t` minimises `Σ_{s<t} (y_s − f(x_s))² + λ‖f‖² + f(x_t)²` over the whole space; KRR, the variant of section 4 and of
    Zhdanov and Kalnishkan (2013), leaves the last term out. With the factor `L Lᵀ = K + λI`, `v = L⁻¹k(x_t)` and
    `q = L⁻¹Y`: `ŷ_KRR = vᵀq` and `ŷ_AWV = ŷ_KRR/(1 + s/λ)`, `s = k(x_t,x_t) − ‖v‖²`. The factor gains the row
    `[vᵀ, √(s + λ)]`, `q` the entry `(y − vᵀq)/√(s + λ)`. `td + ½t²` multiply-adds a round: **memory grows with the square of
    the stream's length**. With weights the factor is that of `K + λΩ⁻¹`, so `ω` weighs its example's squared error. A block solves for `SOLVES_TOGETHER` inputs in one read of the factor, once it is large enough, and then for the
    points that joined among them: `O(t)` more a round, and the same bits.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.KernelAwv()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] - x['b'])
    >>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)
    True
    """

    _name = 'kernel-awv'
    _keys = (
        ('lambda_', 'lambda', 1.0),
    )
    _vectors = True

    def __init__(
        self,
        *,
        lambda_: float | str = 1.0,
        kernel: str = 'auto',
        seed: int = 0,
        intervals: float | None = None,
        local_intervals: bool = False,
    ) -> None:
        self.lambda_ = lambda_
        self.kernel = kernel
        self.seed = seed
        self.intervals = intervals
        self.local_intervals = local_intervals


class KernelAwvClassifier(KernelClassifier):
    r"""Azoury–Warmuth–Vovk forecaster over all points.

    When to take it: yardstick against any data; some thousand rows.

    Classes: any number.

    Cost: `td + ½t²` multiply-adds a row, `td + ½t²` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below). Memory grows: every example is kept, and memory and time grow with the
    square of their number.

    Source: Jézéquel et al. 2019, eq. 3.

    Parameters
    ----------
    lambda_ : float | str, default 1.0
        `λ`, ridge; a number > 0.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    Kernel-AWV and Kernel-KRR: least squares over all points of the stream (Jézéquel, Gaillard and Rudi 2019, eq. 3).

    `f̂_t` minimises `Σ_{s<t} (y_s − f(x_s))² + λ‖f‖² + f(x_t)²` over the whole space; KRR, the variant of section 4 and of
    Zhdanov and Kalnishkan (2013), leaves the last term out. With the factor `L Lᵀ = K + λI`, `v = L⁻¹k(x_t)` and
    `q = L⁻¹Y`: `ŷ_KRR = vᵀq` and `ŷ_AWV = ŷ_KRR/(1 + s/λ)`, `s = k(x_t,x_t) − ‖v‖²`. The factor gains the row
    `[vᵀ, √(s + λ)]`, `q` the entry `(y − vᵀq)/√(s + λ)`. `td + ½t²` multiply-adds a round: **memory grows with the square of
    the stream's length**. With weights the factor is that of `K + λΩ⁻¹`, so `ω` weighs its example's squared error. A block solves for `SOLVES_TOGETHER` inputs in one read of the factor, once it is large enough, and then for the
    points that joined among them: `O(t)` more a round, and the same bits.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.KernelAwvClassifier()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'kernel-awv'
    _keys = (
        ('lambda_', 'lambda', 1.0),
    )
    _many = True
    _losses = ('squared',)

    def __init__(
        self,
        *,
        lambda_: float | str = 1.0,
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.lambda_ = lambda_
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class KernelKrr(KernelRegressor):
    r"""Online kernel ridge regression over all points.

    When to take it: yardstick on independent data; some thousand rows.

    Targets: one number, or several at once.

    Cost: `td + ½t²` multiply-adds a row, `td + ½t²` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below). Memory grows: every example is kept, and memory and time grow with the
    square of their number.

    Source: Zhdanov and Kalnishkan 2013; Jézéquel et al. 2019, section 4.

    Parameters
    ----------
    lambda_ : float | str, default 1.0
        `λ`, ridge; a number > 0.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    intervals : float | None, default None
        The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals.
        Adaptive conformal inference.
    local_intervals : bool, default False
        Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.

    Notes
    -----
    Kernel-AWV and Kernel-KRR: least squares over all points of the stream (Jézéquel, Gaillard and Rudi 2019, eq. 3).

    `f̂_t` minimises `Σ_{s<t} (y_s − f(x_s))² + λ‖f‖² + f(x_t)²` over the whole space; KRR, the variant of section 4 and of
    Zhdanov and Kalnishkan (2013), leaves the last term out. With the factor `L Lᵀ = K + λI`, `v = L⁻¹k(x_t)` and
    `q = L⁻¹Y`: `ŷ_KRR = vᵀq` and `ŷ_AWV = ŷ_KRR/(1 + s/λ)`, `s = k(x_t,x_t) − ‖v‖²`. The factor gains the row
    `[vᵀ, √(s + λ)]`, `q` the entry `(y − vᵀq)/√(s + λ)`. `td + ½t²` multiply-adds a round: **memory grows with the square of
    the stream's length**. With weights the factor is that of `K + λΩ⁻¹`, so `ω` weighs its example's squared error. A block solves for `SOLVES_TOGETHER` inputs in one read of the factor, once it is large enough, and then for the
    points that joined among them: `O(t)` more a round, and the same bits.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.KernelKrr()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] - x['b'])
    >>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)
    True
    """

    _name = 'kernel-krr'
    _keys = (
        ('lambda_', 'lambda', 1.0),
    )
    _vectors = True

    def __init__(
        self,
        *,
        lambda_: float | str = 1.0,
        kernel: str = 'auto',
        seed: int = 0,
        intervals: float | None = None,
        local_intervals: bool = False,
    ) -> None:
        self.lambda_ = lambda_
        self.kernel = kernel
        self.seed = seed
        self.intervals = intervals
        self.local_intervals = local_intervals


class KernelKrrClassifier(KernelClassifier):
    r"""Online kernel ridge regression over all points.

    When to take it: yardstick on independent data; some thousand rows.

    Classes: any number.

    Cost: `td + ½t²` multiply-adds a row, `td + ½t²` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below). Memory grows: every example is kept, and memory and time grow with the
    square of their number.

    Source: Zhdanov and Kalnishkan 2013; Jézéquel et al. 2019, section 4.

    Parameters
    ----------
    lambda_ : float | str, default 1.0
        `λ`, ridge; a number > 0.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    Kernel-AWV and Kernel-KRR: least squares over all points of the stream (Jézéquel, Gaillard and Rudi 2019, eq. 3).

    `f̂_t` minimises `Σ_{s<t} (y_s − f(x_s))² + λ‖f‖² + f(x_t)²` over the whole space; KRR, the variant of section 4 and of
    Zhdanov and Kalnishkan (2013), leaves the last term out. With the factor `L Lᵀ = K + λI`, `v = L⁻¹k(x_t)` and
    `q = L⁻¹Y`: `ŷ_KRR = vᵀq` and `ŷ_AWV = ŷ_KRR/(1 + s/λ)`, `s = k(x_t,x_t) − ‖v‖²`. The factor gains the row
    `[vᵀ, √(s + λ)]`, `q` the entry `(y − vᵀq)/√(s + λ)`. `td + ½t²` multiply-adds a round: **memory grows with the square of
    the stream's length**. With weights the factor is that of `K + λΩ⁻¹`, so `ω` weighs its example's squared error. A block solves for `SOLVES_TOGETHER` inputs in one read of the factor, once it is large enough, and then for the
    points that joined among them: `O(t)` more a round, and the same bits.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.KernelKrrClassifier()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'kernel-krr'
    _keys = (
        ('lambda_', 'lambda', 1.0),
    )
    _many = True
    _losses = ('squared',)

    def __init__(
        self,
        *,
        lambda_: float | str = 1.0,
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.lambda_ = lambda_
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class PkawvTaylor(KernelRegressor):
    r"""Azoury–Warmuth–Vovk forecaster on Taylor features of a Gaussian kernel.

    When to take it: `d` small, Gaussian kernel.

    Targets: one number, or several at once.

    Cost: `2r²` multiply-adds a row, `½r²` numbers of memory (`t` the row, `d` the features, `J` the points kept,
    other letters the symbols below).

    Source: Jézéquel et al. 2019, section 3.1, Algorithm 1.

    Parameters
    ----------
    lambda_ : float | str, default 1.0
        `λ`, ridge; a number > 0.
    centre : float | Sequence[float] | str | None, default 'auto'
        where inputs are measured from; those near it need few features, those far from it are predicted as 0; a
        number, d numbers separated by commas, or none. None: the origin. "auto": the mean of the first rows (256 at
        most) (ours: the paper expands around the origin).
    degree : int | str, default 2
        `M`, degree of the Taylor features, r = C(d+M, M) of them; inputs near the origin need few; a whole number ≥
        0. "auto": ⌈max(8R²/σ², 2 ln(T/min(λ, 1)))⌉, R the largest distance of the first rows from the centre
        (Jézéquel et al. 2019, Theorem 4).
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    intervals : float | None, default None
        The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals.
        Adaptive conformal inference.
    local_intervals : bool, default False
        Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.

    Notes
    -----
    PKAWV and PKRR on Taylor features of the Gaussian kernel (Jézéquel, Gaillard and Rudi 2019, section 3.1, Algorithm 1).

    `f̂_t` minimises `Σ_{s<t} (y_s − f(x_s))² + λ‖f‖² + f(x_t)²` over the span of the features up to degree `M` (eq. 4); PKRR,
    the variant for independent data of section 4, leaves the last term out. With `A = λI + Σ_{s<t} z zᵀ`, `w = A⁻¹Σ y z`:
    `ŷ = wᵀz/(1 + zᵀA⁻¹z)` and `ŷ = wᵀz`. (Algorithm 1's right-hand side means `A_{t−1}⁻¹`.) `2r²` multiply-adds a round and
    `½r²` numbers for `r = C(d + M, M)` features, whatever the length of the stream.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.PkawvTaylor()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] - x['b'])
    >>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)
    True
    """

    _name = 'pkawv-taylor'
    _keys = (
        ('lambda_', 'lambda', 1.0),
        ('centre', 'centre', 'auto'),
        ('degree', 'degree', 2),
    )
    _vectors = True

    def __init__(
        self,
        *,
        lambda_: float | str = 1.0,
        centre: float | Sequence[float] | str | None = 'auto',
        degree: int | str = 2,
        kernel: str = 'auto',
        seed: int = 0,
        intervals: float | None = None,
        local_intervals: bool = False,
    ) -> None:
        self.lambda_ = lambda_
        self.centre = centre
        self.degree = degree
        self.kernel = kernel
        self.seed = seed
        self.intervals = intervals
        self.local_intervals = local_intervals


class PkawvTaylorClassifier(KernelClassifier):
    r"""Azoury–Warmuth–Vovk forecaster on Taylor features of a Gaussian kernel.

    When to take it: `d` small, Gaussian kernel.

    Classes: any number.

    Cost: `2r²` multiply-adds a row, `½r²` numbers of memory (`t` the row, `d` the features, `J` the points kept,
    other letters the symbols below).

    Source: Jézéquel et al. 2019, section 3.1, Algorithm 1.

    Parameters
    ----------
    lambda_ : float | str, default 1.0
        `λ`, ridge; a number > 0.
    centre : float | Sequence[float] | str | None, default 'auto'
        where inputs are measured from; those near it need few features, those far from it are predicted as 0; a
        number, d numbers separated by commas, or none. None: the origin. "auto": the mean of the first rows (256 at
        most) (ours: the paper expands around the origin).
    degree : int | str, default 2
        `M`, degree of the Taylor features, r = C(d+M, M) of them; inputs near the origin need few; a whole number ≥
        0. "auto": ⌈max(8R²/σ², 2 ln(T/min(λ, 1)))⌉, R the largest distance of the first rows from the centre
        (Jézéquel et al. 2019, Theorem 4).
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    PKAWV and PKRR on Taylor features of the Gaussian kernel (Jézéquel, Gaillard and Rudi 2019, section 3.1, Algorithm 1).

    `f̂_t` minimises `Σ_{s<t} (y_s − f(x_s))² + λ‖f‖² + f(x_t)²` over the span of the features up to degree `M` (eq. 4); PKRR,
    the variant for independent data of section 4, leaves the last term out. With `A = λI + Σ_{s<t} z zᵀ`, `w = A⁻¹Σ y z`:
    `ŷ = wᵀz/(1 + zᵀA⁻¹z)` and `ŷ = wᵀz`. (Algorithm 1's right-hand side means `A_{t−1}⁻¹`.) `2r²` multiply-adds a round and
    `½r²` numbers for `r = C(d + M, M)` features, whatever the length of the stream.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.PkawvTaylorClassifier()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'pkawv-taylor'
    _keys = (
        ('lambda_', 'lambda', 1.0),
        ('centre', 'centre', 'auto'),
        ('degree', 'degree', 2),
    )
    _many = True
    _losses = ('squared',)

    def __init__(
        self,
        *,
        lambda_: float | str = 1.0,
        centre: float | Sequence[float] | str | None = 'auto',
        degree: int | str = 2,
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.lambda_ = lambda_
        self.centre = centre
        self.degree = degree
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class PkrrTaylor(KernelRegressor):
    r"""Online ridge regression on Taylor features of a Gaussian kernel.

    When to take it: the same, independent data.

    Targets: one number, or several at once.

    Cost: `1½r²` multiply-adds a row, `½r²` numbers of memory (`t` the row, `d` the features, `J` the points kept,
    other letters the symbols below).

    Source: Jézéquel et al. 2019, section 4.

    Parameters
    ----------
    lambda_ : float | str, default 1.0
        `λ`, ridge; a number > 0.
    centre : float | Sequence[float] | str | None, default 'auto'
        where inputs are measured from; those near it need few features, those far from it are predicted as 0; a
        number, d numbers separated by commas, or none. None: the origin. "auto": the mean of the first rows (256 at
        most) (ours: the paper expands around the origin).
    degree : int | str, default 2
        `M`, degree of the Taylor features, r = C(d+M, M) of them; inputs near the origin need few; a whole number ≥
        0. "auto": ⌈max(8R²/σ², 2 ln(T/min(λ, 1)))⌉, R the largest distance of the first rows from the centre
        (Jézéquel et al. 2019, Theorem 4).
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    intervals : float | None, default None
        The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals.
        Adaptive conformal inference.
    local_intervals : bool, default False
        Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.

    Notes
    -----
    PKAWV and PKRR on Taylor features of the Gaussian kernel (Jézéquel, Gaillard and Rudi 2019, section 3.1, Algorithm 1).

    `f̂_t` minimises `Σ_{s<t} (y_s − f(x_s))² + λ‖f‖² + f(x_t)²` over the span of the features up to degree `M` (eq. 4); PKRR,
    the variant for independent data of section 4, leaves the last term out. With `A = λI + Σ_{s<t} z zᵀ`, `w = A⁻¹Σ y z`:
    `ŷ = wᵀz/(1 + zᵀA⁻¹z)` and `ŷ = wᵀz`. (Algorithm 1's right-hand side means `A_{t−1}⁻¹`.) `2r²` multiply-adds a round and
    `½r²` numbers for `r = C(d + M, M)` features, whatever the length of the stream.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.PkrrTaylor()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] - x['b'])
    >>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)
    True
    """

    _name = 'pkrr-taylor'
    _keys = (
        ('lambda_', 'lambda', 1.0),
        ('centre', 'centre', 'auto'),
        ('degree', 'degree', 2),
    )
    _vectors = True

    def __init__(
        self,
        *,
        lambda_: float | str = 1.0,
        centre: float | Sequence[float] | str | None = 'auto',
        degree: int | str = 2,
        kernel: str = 'auto',
        seed: int = 0,
        intervals: float | None = None,
        local_intervals: bool = False,
    ) -> None:
        self.lambda_ = lambda_
        self.centre = centre
        self.degree = degree
        self.kernel = kernel
        self.seed = seed
        self.intervals = intervals
        self.local_intervals = local_intervals


class PkrrTaylorClassifier(KernelClassifier):
    r"""Online ridge regression on Taylor features of a Gaussian kernel.

    When to take it: the same, independent data.

    Classes: any number.

    Cost: `1½r²` multiply-adds a row, `½r²` numbers of memory (`t` the row, `d` the features, `J` the points kept,
    other letters the symbols below).

    Source: Jézéquel et al. 2019, section 4.

    Parameters
    ----------
    lambda_ : float | str, default 1.0
        `λ`, ridge; a number > 0.
    centre : float | Sequence[float] | str | None, default 'auto'
        where inputs are measured from; those near it need few features, those far from it are predicted as 0; a
        number, d numbers separated by commas, or none. None: the origin. "auto": the mean of the first rows (256 at
        most) (ours: the paper expands around the origin).
    degree : int | str, default 2
        `M`, degree of the Taylor features, r = C(d+M, M) of them; inputs near the origin need few; a whole number ≥
        0. "auto": ⌈max(8R²/σ², 2 ln(T/min(λ, 1)))⌉, R the largest distance of the first rows from the centre
        (Jézéquel et al. 2019, Theorem 4).
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    PKAWV and PKRR on Taylor features of the Gaussian kernel (Jézéquel, Gaillard and Rudi 2019, section 3.1, Algorithm 1).

    `f̂_t` minimises `Σ_{s<t} (y_s − f(x_s))² + λ‖f‖² + f(x_t)²` over the span of the features up to degree `M` (eq. 4); PKRR,
    the variant for independent data of section 4, leaves the last term out. With `A = λI + Σ_{s<t} z zᵀ`, `w = A⁻¹Σ y z`:
    `ŷ = wᵀz/(1 + zᵀA⁻¹z)` and `ŷ = wᵀz`. (Algorithm 1's right-hand side means `A_{t−1}⁻¹`.) `2r²` multiply-adds a round and
    `½r²` numbers for `r = C(d + M, M)` features, whatever the length of the stream.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.PkrrTaylorClassifier()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'pkrr-taylor'
    _keys = (
        ('lambda_', 'lambda', 1.0),
        ('centre', 'centre', 'auto'),
        ('degree', 'degree', 2),
    )
    _many = True
    _losses = ('squared',)

    def __init__(
        self,
        *,
        lambda_: float | str = 1.0,
        centre: float | Sequence[float] | str | None = 'auto',
        degree: int | str = 2,
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.lambda_ = lambda_
        self.centre = centre
        self.degree = degree
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class PkawvNystrom(KernelRegressor):
    r"""Azoury–Warmuth–Vovk forecaster on the span of a KORS dictionary, over the whole past.

    When to take it: the paper's guarantee in more dimensions.

    Targets: one number.

    Cost: `Jd + 3J²` multiply-adds a row, `t(d + J)` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below). Memory grows: past inputs and coordinates are stored, and projected anew,
    in t(d + 2J), when a point is kept.

    Source: Jézéquel et al. 2019, section 3.2, Algorithm 2.

    Parameters
    ----------
    lambda_ : float | str, default 1.0
        `λ`, ridge; a number > 0.
    mu : float | str, default 1.0
        `μ`, regulariser of the leverage scores; larger keeps fewer points; a number > 0.
    beta : float | str, default 1.0
        `β`, oversampling of the leverage scores; larger keeps more points; a number > 0. "auto": 12*ln(T/0.05)
        (Jézéquel et al. 2019, Proposition 5 with δ = 0.05).
    epsilon : float | str, default 0.5
        `ε`, accuracy of the leverage scores; a number ≥ 0.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    intervals : float | None, default None
        The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals.
        Adaptive conformal inference.
    local_intervals : bool, default False
        Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.

    Notes
    -----
    PKAWV and PKRR with Nyström projections (Jézéquel, Gaillard and Rudi 2019, section 3.2, Algorithm 2).

    `f̂_t` minimises `Σ_{s<t} (y_s − f(x_s))² + λ‖f‖² + f(x_t)²` over the span of the points that KORS has kept, `x_t` included
    when its coin says so; PKRR leaves the last term out. A point kept in the span of the others changes nothing. Any other kept
    point projects the whole past anew, so **past inputs and their coordinates are stored: memory grows with the stream**,
    `n(d + m)` numbers for `m` kept points.

    The listing up- and downdates a factor of the normal equations of kernel columns, indexes `a_t, b_t, c_t` by the wrong
    set and breaks down on near duplicates. Here the past has orthonormal coordinates `F` (`n × m`), `A = FᵀF + λI`, and a
    kept point appends one: its values over the past are `f_s = (k(x_s, x) − φ_sᵀφ(x))/√δ`, the Schur complement of the new
    entry of `A` is at least `λ`, and nothing breaks. Weights scale the stored rows. There is one output. `Jd + 3m²` multiply-adds a round, `n(d + 2m)` more when a point is kept.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.PkawvNystrom()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] - x['b'])
    >>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)
    True
    """

    _name = 'pkawv-nystrom'
    _keys = (
        ('lambda_', 'lambda', 1.0),
        ('mu', 'mu', 1.0),
        ('beta', 'beta', 1.0),
        ('epsilon', 'epsilon', 0.5),
    )

    def __init__(
        self,
        *,
        lambda_: float | str = 1.0,
        mu: float | str = 1.0,
        beta: float | str = 1.0,
        epsilon: float | str = 0.5,
        kernel: str = 'auto',
        seed: int = 0,
        intervals: float | None = None,
        local_intervals: bool = False,
    ) -> None:
        self.lambda_ = lambda_
        self.mu = mu
        self.beta = beta
        self.epsilon = epsilon
        self.kernel = kernel
        self.seed = seed
        self.intervals = intervals
        self.local_intervals = local_intervals


class PkawvNystromClassifier(KernelClassifier):
    r"""Azoury–Warmuth–Vovk forecaster on the span of a KORS dictionary, over the whole past.

    When to take it: the paper's guarantee in more dimensions.

    Classes: two.

    Cost: `Jd + 3J²` multiply-adds a row, `t(d + J)` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below). Memory grows: past inputs and coordinates are stored, and projected anew,
    in t(d + 2J), when a point is kept.

    Source: Jézéquel et al. 2019, section 3.2, Algorithm 2.

    Parameters
    ----------
    lambda_ : float | str, default 1.0
        `λ`, ridge; a number > 0.
    mu : float | str, default 1.0
        `μ`, regulariser of the leverage scores; larger keeps fewer points; a number > 0.
    beta : float | str, default 1.0
        `β`, oversampling of the leverage scores; larger keeps more points; a number > 0. "auto": 12*ln(T/0.05)
        (Jézéquel et al. 2019, Proposition 5 with δ = 0.05).
    epsilon : float | str, default 0.5
        `ε`, accuracy of the leverage scores; a number ≥ 0.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    PKAWV and PKRR with Nyström projections (Jézéquel, Gaillard and Rudi 2019, section 3.2, Algorithm 2).

    `f̂_t` minimises `Σ_{s<t} (y_s − f(x_s))² + λ‖f‖² + f(x_t)²` over the span of the points that KORS has kept, `x_t` included
    when its coin says so; PKRR leaves the last term out. A point kept in the span of the others changes nothing. Any other kept
    point projects the whole past anew, so **past inputs and their coordinates are stored: memory grows with the stream**,
    `n(d + m)` numbers for `m` kept points.

    The listing up- and downdates a factor of the normal equations of kernel columns, indexes `a_t, b_t, c_t` by the wrong
    set and breaks down on near duplicates. Here the past has orthonormal coordinates `F` (`n × m`), `A = FᵀF + λI`, and a
    kept point appends one: its values over the past are `f_s = (k(x_s, x) − φ_sᵀφ(x))/√δ`, the Schur complement of the new
    entry of `A` is at least `λ`, and nothing breaks. Weights scale the stored rows. There is one output. `Jd + 3m²` multiply-adds a round, `n(d + 2m)` more when a point is kept.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.PkawvNystromClassifier()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'pkawv-nystrom'
    _keys = (
        ('lambda_', 'lambda', 1.0),
        ('mu', 'mu', 1.0),
        ('beta', 'beta', 1.0),
        ('epsilon', 'epsilon', 0.5),
    )
    _many = False
    _losses = ('squared',)

    def __init__(
        self,
        *,
        lambda_: float | str = 1.0,
        mu: float | str = 1.0,
        beta: float | str = 1.0,
        epsilon: float | str = 0.5,
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.lambda_ = lambda_
        self.mu = mu
        self.beta = beta
        self.epsilon = epsilon
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class PkrrNystrom(KernelRegressor):
    r"""Online ridge regression on the span of a KORS dictionary, over the whole past.

    When to take it: the same, independent data.

    Targets: one number.

    Cost: `Jd + 3J²` multiply-adds a row, `t(d + J)` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below). Memory grows: past inputs and coordinates are stored, and projected anew,
    in t(d + 2J), when a point is kept.

    Source: Jézéquel et al. 2019, section 4.

    Parameters
    ----------
    lambda_ : float | str, default 1.0
        `λ`, ridge; a number > 0.
    mu : float | str, default 1.0
        `μ`, regulariser of the leverage scores; larger keeps fewer points; a number > 0.
    beta : float | str, default 1.0
        `β`, oversampling of the leverage scores; larger keeps more points; a number > 0. "auto": 12*ln(T/0.05)
        (Jézéquel et al. 2019, Proposition 5 with δ = 0.05).
    epsilon : float | str, default 0.5
        `ε`, accuracy of the leverage scores; a number ≥ 0.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    intervals : float | None, default None
        The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals.
        Adaptive conformal inference.
    local_intervals : bool, default False
        Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.

    Notes
    -----
    PKAWV and PKRR with Nyström projections (Jézéquel, Gaillard and Rudi 2019, section 3.2, Algorithm 2).

    `f̂_t` minimises `Σ_{s<t} (y_s − f(x_s))² + λ‖f‖² + f(x_t)²` over the span of the points that KORS has kept, `x_t` included
    when its coin says so; PKRR leaves the last term out. A point kept in the span of the others changes nothing. Any other kept
    point projects the whole past anew, so **past inputs and their coordinates are stored: memory grows with the stream**,
    `n(d + m)` numbers for `m` kept points.

    The listing up- and downdates a factor of the normal equations of kernel columns, indexes `a_t, b_t, c_t` by the wrong
    set and breaks down on near duplicates. Here the past has orthonormal coordinates `F` (`n × m`), `A = FᵀF + λI`, and a
    kept point appends one: its values over the past are `f_s = (k(x_s, x) − φ_sᵀφ(x))/√δ`, the Schur complement of the new
    entry of `A` is at least `λ`, and nothing breaks. Weights scale the stored rows. There is one output. `Jd + 3m²` multiply-adds a round, `n(d + 2m)` more when a point is kept.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.PkrrNystrom()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] - x['b'])
    >>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)
    True
    """

    _name = 'pkrr-nystrom'
    _keys = (
        ('lambda_', 'lambda', 1.0),
        ('mu', 'mu', 1.0),
        ('beta', 'beta', 1.0),
        ('epsilon', 'epsilon', 0.5),
    )

    def __init__(
        self,
        *,
        lambda_: float | str = 1.0,
        mu: float | str = 1.0,
        beta: float | str = 1.0,
        epsilon: float | str = 0.5,
        kernel: str = 'auto',
        seed: int = 0,
        intervals: float | None = None,
        local_intervals: bool = False,
    ) -> None:
        self.lambda_ = lambda_
        self.mu = mu
        self.beta = beta
        self.epsilon = epsilon
        self.kernel = kernel
        self.seed = seed
        self.intervals = intervals
        self.local_intervals = local_intervals


class PkrrNystromClassifier(KernelClassifier):
    r"""Online ridge regression on the span of a KORS dictionary, over the whole past.

    When to take it: the same, independent data.

    Classes: two.

    Cost: `Jd + 3J²` multiply-adds a row, `t(d + J)` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below). Memory grows: past inputs and coordinates are stored, and projected anew,
    in t(d + 2J), when a point is kept.

    Source: Jézéquel et al. 2019, section 4.

    Parameters
    ----------
    lambda_ : float | str, default 1.0
        `λ`, ridge; a number > 0.
    mu : float | str, default 1.0
        `μ`, regulariser of the leverage scores; larger keeps fewer points; a number > 0.
    beta : float | str, default 1.0
        `β`, oversampling of the leverage scores; larger keeps more points; a number > 0. "auto": 12*ln(T/0.05)
        (Jézéquel et al. 2019, Proposition 5 with δ = 0.05).
    epsilon : float | str, default 0.5
        `ε`, accuracy of the leverage scores; a number ≥ 0.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    PKAWV and PKRR with Nyström projections (Jézéquel, Gaillard and Rudi 2019, section 3.2, Algorithm 2).

    `f̂_t` minimises `Σ_{s<t} (y_s − f(x_s))² + λ‖f‖² + f(x_t)²` over the span of the points that KORS has kept, `x_t` included
    when its coin says so; PKRR leaves the last term out. A point kept in the span of the others changes nothing. Any other kept
    point projects the whole past anew, so **past inputs and their coordinates are stored: memory grows with the stream**,
    `n(d + m)` numbers for `m` kept points.

    The listing up- and downdates a factor of the normal equations of kernel columns, indexes `a_t, b_t, c_t` by the wrong
    set and breaks down on near duplicates. Here the past has orthonormal coordinates `F` (`n × m`), `A = FᵀF + λI`, and a
    kept point appends one: its values over the past are `f_s = (k(x_s, x) − φ_sᵀφ(x))/√δ`, the Schur complement of the new
    entry of `A` is at least `λ`, and nothing breaks. Weights scale the stored rows. There is one output. `Jd + 3m²` multiply-adds a round, `n(d + 2m)` more when a point is kept.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.PkrrNystromClassifier()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'pkrr-nystrom'
    _keys = (
        ('lambda_', 'lambda', 1.0),
        ('mu', 'mu', 1.0),
        ('beta', 'beta', 1.0),
        ('epsilon', 'epsilon', 0.5),
    )
    _many = False
    _losses = ('squared',)

    def __init__(
        self,
        *,
        lambda_: float | str = 1.0,
        mu: float | str = 1.0,
        beta: float | str = 1.0,
        epsilon: float | str = 0.5,
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.lambda_ = lambda_
        self.mu = mu
        self.beta = beta
        self.epsilon = epsilon
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class Experts(KernelRegressor):
    r"""Mixture of learners that competes with the best of them.

    When to take it: a few candidates.

    Targets: one number.

    Cost: `the members'` multiply-adds a row, `the members'` numbers of memory (`t` the row, `d` the features, `J` the
    points kept, other letters the symbols below). Memory grows: as the members' does; nons-ald and krls keep 1000
    points at most, aogd-ald what its threshold admits.

    Source: de Rooij et al. 2014; Wintenberger 2017; Gaillard et al. 2014; Herbster and Warmuth 1998.

    Parameters
    ----------
    members : str | Sequence[str | Learner], default 'nons-ald;krls;aogd-ald'
        the learners; nons-ald, krls and aogd-ald that differ in neither kernel, threshold nor max_dictionary share a
        dictionary; NAME KEY=VALUE …; NAME …, with kernel=SPEC among the settings.
    rule : str, default 'ml-poly'
        how losses become weights: exponential, Bernstein or polynomial aggregation; ewa, boa or ml-poly. One of ewa,
        boa, ml-poly.
    share : float | str, default 0.0
        `α`, part of the weight that all members get after a row, to follow a best member that changes; a number of at
        least 0, below 1; 0 under ml-poly. "auto": 1/(t + 1) after row t (Cesa-Bianchi et al. 2012).
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    intervals : float | None, default None
        The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals.
        Adaptive conformal inference.
    local_intervals : bool, default False
        Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.

    Notes
    -----
    A mixture of learners: online choice of `λ`, `σ`, `M` and anything else by prediction with expert advice.

    Members are learners with as many outputs as each other, usually one: boxes of any learners (`Box<dyn Regressor>`), `AnyRegressor`s, which share work and are saved,
    or a type of one's own, which says that it is a `Member` in one line.

    Every member predicts and learns every example; the mixture predicts `ŷ = Σ p_k ŷ_k`, with weights that an
    `Aggregation` learns from the linearised regrets `2(ŷ − y)(ŷ − ŷ_k)`. A bound of its rule is a
    bound on `Σ (ŷ − y)² − Σ (ŷ_k − y)²` for every `k` (the calibration that [B] section 3.1 proposes).

    - **Clipping.** `ŷ_k` is what the member predicts, clipped to the smallest interval that holds 0 and all targets seen, those of all outputs: as long
      as targets stay there no loss is larger for it, and a member that blows up cannot blow up the mixture.
    - **Failure.** A member that refuses an example which others take (its update is not finite, or its kernel
      overflows) is dropped with weight 0 from the next round on; the mixture goes on. An example that all refuse changes nothing. A round whose regrets
      exceed 1e100, which takes a target of that size, teaches nothing about the members.
    - **Shared work.** Untrained `AnyRegressor`s that are `NonsAld`, `Krls` or `AogdAld`
      with the same kernel, threshold and largest dictionary (none for `AogdAld`, which at its limit goes on otherwise)
      keep the same points, whatever their regularisers. They share one dictionary and one probe a round: with `m`
      of them `Jd + ½J² + 1½mJ²` multiply-adds instead of `m(Jd + 2J²)`, and the same predictions bit for bit. (Ridges on the
      same Taylor features would share only the `r` multiplications that make them, of `2r²`, so they do not.)
    - **Variance.** Of the members that tell one the mixture takes the mean `σ̂² = Σ p_k σ_k²/Σ p_k`, and adds how far all of them are apart:
      `σ² = σ̂² + Σ p_k (ŷ_k − ŷ)²`, the variance of the mixture of their distributions.
    - **Change.** Members that forget, or start anew (`Restarting`), follow a target that changes; with a
      [share](Mixture::sharing) of the weight for all, the mixture moves to them within rows instead of making up for the whole past.
    - **Blocks.** The weights act on no member, so `learn_block` lets each member learn the whole block in
      its own blocked pass (those on one dictionary one after the other, on the same coordinates), on several threads if asked
      (`set_threads`), and then goes through the rounds. The result does not depend on the threads.

    Cost: that of the members, and `O(K)` a round.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.Experts()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] - x['b'])
    >>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)
    True
    """

    _name = 'experts'
    _keys = (
        ('members', 'members', 'nons-ald;krls;aogd-ald'),
        ('rule', 'rule', 'ml-poly'),
        ('share', 'share', 0.0),
    )

    def __init__(
        self,
        *,
        members: str | Sequence[str | Learner] = 'nons-ald;krls;aogd-ald',
        rule: str = 'ml-poly',
        share: float | str = 0.0,
        kernel: str = 'auto',
        seed: int = 0,
        intervals: float | None = None,
        local_intervals: bool = False,
    ) -> None:
        self.members = members
        self.rule = rule
        self.share = share
        self.kernel = kernel
        self.seed = seed
        self.intervals = intervals
        self.local_intervals = local_intervals


class ExpertsClassifier(KernelClassifier):
    r"""Mixture of learners that competes with the best of them.

    When to take it: a few candidates.

    Classes: two.

    Cost: `the members'` multiply-adds a row, `the members'` numbers of memory (`t` the row, `d` the features, `J` the
    points kept, other letters the symbols below). Memory grows: as the members' does; nons-ald and krls keep 1000
    points at most, aogd-ald what its threshold admits.

    Source: de Rooij et al. 2014; Wintenberger 2017; Gaillard et al. 2014; Herbster and Warmuth 1998.

    Parameters
    ----------
    members : str | Sequence[str | Learner], default 'nons-ald;krls;aogd-ald'
        the learners; nons-ald, krls and aogd-ald that differ in neither kernel, threshold nor max_dictionary share a
        dictionary; NAME KEY=VALUE …; NAME …, with kernel=SPEC among the settings.
    rule : str, default 'ml-poly'
        how losses become weights: exponential, Bernstein or polynomial aggregation; ewa, boa or ml-poly. One of ewa,
        boa, ml-poly.
    share : float | str, default 0.0
        `α`, part of the weight that all members get after a row, to follow a best member that changes; a number of at
        least 0, below 1; 0 under ml-poly. "auto": 1/(t + 1) after row t (Cesa-Bianchi et al. 2012).
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    A mixture of learners: online choice of `λ`, `σ`, `M` and anything else by prediction with expert advice.

    Members are learners with as many outputs as each other, usually one: boxes of any learners (`Box<dyn Regressor>`), `AnyRegressor`s, which share work and are saved,
    or a type of one's own, which says that it is a `Member` in one line.

    Every member predicts and learns every example; the mixture predicts `ŷ = Σ p_k ŷ_k`, with weights that an
    `Aggregation` learns from the linearised regrets `2(ŷ − y)(ŷ − ŷ_k)`. A bound of its rule is a
    bound on `Σ (ŷ − y)² − Σ (ŷ_k − y)²` for every `k` (the calibration that [B] section 3.1 proposes).

    - **Clipping.** `ŷ_k` is what the member predicts, clipped to the smallest interval that holds 0 and all targets seen, those of all outputs: as long
      as targets stay there no loss is larger for it, and a member that blows up cannot blow up the mixture.
    - **Failure.** A member that refuses an example which others take (its update is not finite, or its kernel
      overflows) is dropped with weight 0 from the next round on; the mixture goes on. An example that all refuse changes nothing. A round whose regrets
      exceed 1e100, which takes a target of that size, teaches nothing about the members.
    - **Shared work.** Untrained `AnyRegressor`s that are `NonsAld`, `Krls` or `AogdAld`
      with the same kernel, threshold and largest dictionary (none for `AogdAld`, which at its limit goes on otherwise)
      keep the same points, whatever their regularisers. They share one dictionary and one probe a round: with `m`
      of them `Jd + ½J² + 1½mJ²` multiply-adds instead of `m(Jd + 2J²)`, and the same predictions bit for bit. (Ridges on the
      same Taylor features would share only the `r` multiplications that make them, of `2r²`, so they do not.)
    - **Variance.** Of the members that tell one the mixture takes the mean `σ̂² = Σ p_k σ_k²/Σ p_k`, and adds how far all of them are apart:
      `σ² = σ̂² + Σ p_k (ŷ_k − ŷ)²`, the variance of the mixture of their distributions.
    - **Change.** Members that forget, or start anew (`Restarting`), follow a target that changes; with a
      [share](Mixture::sharing) of the weight for all, the mixture moves to them within rows instead of making up for the whole past.
    - **Blocks.** The weights act on no member, so `learn_block` lets each member learn the whole block in
      its own blocked pass (those on one dictionary one after the other, on the same coordinates), on several threads if asked
      (`set_threads`), and then goes through the rounds. The result does not depend on the threads.

    Cost: that of the members, and `O(K)` a round.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.ExpertsClassifier()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'experts'
    _keys = (
        ('members', 'members', 'nons-ald;krls;aogd-ald'),
        ('rule', 'rule', 'ml-poly'),
        ('share', 'share', 0.0),
    )
    _many = False
    _losses = ('squared',)

    def __init__(
        self,
        *,
        members: str | Sequence[str | Learner] = 'nons-ald;krls;aogd-ald',
        rule: str = 'ml-poly',
        share: float | str = 0.0,
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.members = members
        self.rule = rule
        self.share = share
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class Auto(KernelRegressor):
    r"""Mixture of dictionaries and nearest examples that chooses scaling, widths and regularisers itself.

    When to take it: nothing is known; data unscaled.

    Targets: one number, or several at once.

    Cost: `budget` multiply-adds a row, `budget` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: experts as in Jézéquel et al. 2019, section 3.1.

    Parameters
    ----------
    rule : str, default 'ml-poly'
        how losses become weights: exponential, Bernstein or polynomial aggregation; ewa, boa or ml-poly. One of ewa,
        boa, ml-poly.
    neighbours : int | str, default 32
        `k`, nearest examples in a prediction of the processes on a window of the stream; 0 leaves them out; a whole
        number ≥ 0.
    budget : int | str, default 2000000
        multiply-adds a row, which set the members' sizes, or a time a row such as 50us, measured on this machine; a
        whole number ≥ 1000, or a time such as 50us.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    intervals : float | None, default None
        The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals.
        Adaptive conformal inference.
    local_intervals : bool, default False
        Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.

    Notes
    -----
    A mixture that sets itself up: what a user without tuning gets.

    Features and targets come as they are. From the first rows it learns a scaling (features to mean 0 and deviation 1,
    bent beyond ±4; targets likewise, but not bent; values far outside of the others do not count) and takes the median distance `m` of
    the scaled rows as the unit of widths. Two parts learn side by side, and a mixture weighs them.

    **The grid** (`Mixture`), on dictionaries, with a quarter of the budget:

    | members | width | regulariser | size |
    |---|---|---|---|
    | `NonsAld`, `α = 10⁻³`, `U = Y = max |y|` of the first rows | `½m, m, 2m` | `μ = 1` | `J` points at most |
    | `Krls` with a ridge, `ν = 10⁻³` (ridge regression on the same dictionaries) | `½m, m, 2m` | `λ = 0.03, 0.3` | the same |
    | `PkawvTaylor` of degree 1, which is linear in the scaled features | `30m` | `λ = 3·10⁻⁵, 10⁻²` | `d + 1`, where `4(d + 1)²` is a fifth of the part's share at most; the first alone where `2(d + 1)²` is three fifths at most |
    | `Krls` in a `Restarting`, which starts anew when its loss has risen (Page–Hinkley) | `m, 2m`, without a window `½m` too | `λ = 0.03` | `J`, exchanged |
    | without a window `PkawvTaylor` | `m, 2m` | `λ = 0.03, 0.3` | the highest degree `M ≤ 6` whose `r = C(d + M, M)` fits |

    The members that start anew have dictionaries of their own, in which a new point takes the place of the least significant one once they are full. The other
    dictionaries are filled and stay as they are.

    **The window**, with the rest of it: Gaussian processes on the 8 to 32 examples nearest to the input, of the last `N` (Vecchia 1988; Gramacy and Apley 2015; Datta et
    al. 2016), which learn rough functions that a dictionary of `J` points cannot hold; and `Fogd` with three steps, which follows
    changes. Nearness is measured in five metrics, with a smaller budget in three or two: between ranks, between
    scaled features, between these and the time, with the features weighed or all alike. Half of the processes learn what grid and FOGD leave of the target. `auto/metrics.rs` has the tables.
    How relevant each feature is, and the time, is learnt from the likelihood of rows given the nearest rows before them (`local/relevance.rs`): of the first rows,
    and anew at each doubling from row 2048 on, of up to 1024 of the last rows with neighbours among 4096 (`auto/search.rs`). That costs at most two fifths of what
    predictions from full windows would have cost since the last time. It is left out where that pays for fewer than 128 rows.
    A metric that is not worth its cost is asked in every fourth row only, until it is worth it again (`auto/standing.rs`). What that saves, and what an index of the window
    saves (`local/index.rs`), is spent on a longer window: it grows up to four times while the counted cost of a prediction is within what the budget pays for. When
    a change calls resting metrics back, a row costs more for a while: at most what four times the window costs without an index.

    **Weights.** Both parts are weighed by two mixtures, of which one remembers all rounds and one follows the last two thousand; a third mixture weighs the two (`auto/weights.rs`).

    **Honest.** A prediction uses nothing but the rows before it. Scaling and ranks are learnt anew after 16, 64, 256 and 1024 rows and are
    fixed from then on. Relevance is learnt from 256 rows on, at 1024 also from where 256 have led. Each time both parts are made anew and replay, one by one and
    predicting before they learn, the rows seen so far (of which 1024 at most are kept). Until the first time the prediction is the mean of the targets.
    The four rounds that do this cost as much as the rows they replay, and the last two some `10⁹` multiply-adds for the weights of ten features.
    A feature may wander out of the range of the first 1024 rows. The metrics of scaled features take it as it is. Ranks go on beyond the first rows by the logarithm of the
    distance, and so do the features of grid and FOGD beyond ±4 (`auto/scales.rs`).

    **Two threads.** Where rows come in blocks, grid and window learn at the same time: the grid does not look at the window, and is a piece ahead.

    **Several outputs** have scalings of their own and all else in common: dictionaries, windows, relevance and the members' weights, which are learnt from
    the sum of the losses of scaled targets. NONS-ALD, whose matrix belongs to one output, is left out. An output may join at any time.

    **Budget.** A round costs about `budget` multiply-adds at most (except for those four, and for the doublings), whatever the dimension and the length of
    the stream. The grid's quarter sets the largest dictionary `J` (three of them with three updates each, and two that exchange points: `25J² + 5J(d + 20)`, beside the linear members). The rest sets the window `N`
    of `M` metrics: `MN(d + 1)`, the processes and FOGD. From there the window grows as said. The largest number of metrics is taken that leaves a window of 1500, 600 or `256 + 16d` rows. Where none does,
    below some 30,000 multiply-adds, or with the default budget above some 660 features, the grid has the whole budget: half of it
    sets `J` (`30J² + 6J(d + 20)`), half the degree of the four Taylor members (`8r²`). The count is of operations and not of seconds, so that a run can be repeated;
    `Auto::budget_within` finds the count that takes so many microseconds on this machine.

    **Choices.** The members, their regularisers and kernels were chosen on the fourteen regression streams of the project's comparison of quality (casp, calhousing,
    diamonds, ccpp, cpusmall, elevators, bank, parkinson, year, ailerons; two synthetic drifts, elec2 and elevators in time order); none depends on a
    stream by name. Taylor members beside the window changed no error there by more than 0.5 %, so they are left out; the linear ones
    changed errors by −0.3 to +0.1 % and cost little; they are there for targets that are linear. Made streams of 40 to 784 features
    told that one of them is worth more of the share where features are many (300 that are 0 or 1, a linear target: from .071 to .025; Vowpal Wabbit has .024); with budgets of 4,000 to 16,000 that lowered the mean error of the fourteen by
    4 to 12 %. The metrics and their numbers of neighbours were chosen on
    eight of the fourteen (casp, calhousing, ccpp, cpusmall, elevators, parkinson, elec2, the abrupt drift). How relevance is learnt was chosen by
    the mean over all fourteen and a look at the comparison's four streams of classes: twelve neighbours, two times sixteen steps, 1024 rows, from row 2048 on. Twelve or
    sixteen neighbours, and half of the rows or twice the cost, changed that mean by less than 1.5 %. Without a lower bound for the relevance of the time the abrupt drift
    was 18 % worse with a quarter of the budget; a bound ten times as high changed the mean by less than 0.1 %. A stream drawn at random, the parity of three of twelve bits, showed that 1024
    rows need where 256 have led as a beginning. Members are not stopped for good: after
    a change the worst may be the best. Resting from row 4096 on changed no error of the fourteen by more than 0.5 %;
    from row 1024 on, with one row in sixteen and a higher threshold, it raised that of casp by 5 %.
    Dictionaries that exchange points, where there is no window, lowered the mean error with budgets of 4,000 to 16,000 by 8 to 16 %, at three quarters more time; with 32,000 they raised it by 2 %.
    Members that start anew lowered the errors under drift, with all settings of their detector as they were: on the abrupt drift by 31 % with the default budget and 51 % with 32,000, on the
    Friedman drift by 18 and 21 %, and on two made streams, a walk and a feature that is the time, by 75 and 65 % without a window. ADWIN in place of Page–Hinkley changed the mean
    by 0.4 % at most. Where nothing changes they changed the errors with the default budget by −1.2 to +0.9 %. That they exchange their points changed the mean beside a window by −1.5 to +0.3 %, at 5 % more time.
    Ranks learnt anew from the window at doublings changed the mean by +0.1 % with the default budget and by +0.8 % with 256,000, and the errors of six streams with features that wander by less than 2 %,
    except one (−9 % with 256,000); so the first ranks stay.
    Longer windows at small budgets were chosen by the mean over the fourteen, and so was the mixture of two memories: 2000 rounds lower the errors under drift by 4 and 5 % and change all others by less than 1 %,
    1000 rounds do nearly the same. That features are bent and not clipped was found on streams made for the purpose (casp and calhousing sorted by a feature, walks,
    features that grow, a feature that is the time, heavy tails). It lowered five of the six errors by 4 to 99 % and raised that with the time by 2 %; the mean over the fourteen stayed the same
    within 0.3 %.

    Memory: `5 budget/16` numbers for the grid without a window, `budget/10` with one; `MN(3d + 6)` for the window and its index, and `1024 d` until the scaling is fixed.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.Auto()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] - x['b'])
    >>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)
    True
    """

    _name = 'auto'
    _keys = (
        ('rule', 'rule', 'ml-poly'),
        ('neighbours', 'neighbours', 32),
        ('budget', 'budget', 2000000),
    )
    _vectors = True

    def __init__(
        self,
        *,
        rule: str = 'ml-poly',
        neighbours: int | str = 32,
        budget: int | str = 2000000,
        seed: int = 0,
        intervals: float | None = None,
        local_intervals: bool = False,
    ) -> None:
        self.rule = rule
        self.neighbours = neighbours
        self.budget = budget
        self.seed = seed
        self.intervals = intervals
        self.local_intervals = local_intervals


class AutoClassifier(KernelClassifier):
    r"""Mixture of dictionaries and nearest examples that chooses scaling, widths and regularisers itself.

    When to take it: nothing is known; data unscaled.

    Classes: any number.

    Cost: `budget` multiply-adds a row, `budget` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: experts as in Jézéquel et al. 2019, section 3.1.

    Parameters
    ----------
    rule : str, default 'ml-poly'
        how losses become weights: exponential, Bernstein or polynomial aggregation; ewa, boa or ml-poly. One of ewa,
        boa, ml-poly.
    neighbours : int | str, default 32
        `k`, nearest examples in a prediction of the processes on a window of the stream; 0 leaves them out; a whole
        number ≥ 0.
    budget : int | str, default 2000000
        multiply-adds a row, which set the members' sizes, or a time a row such as 50us, measured on this machine; a
        whole number ≥ 1000, or a time such as 50us.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.

    Notes
    -----
    A mixture that sets itself up: what a user without tuning gets.

    Features and targets come as they are. From the first rows it learns a scaling (features to mean 0 and deviation 1,
    bent beyond ±4; targets likewise, but not bent; values far outside of the others do not count) and takes the median distance `m` of
    the scaled rows as the unit of widths. Two parts learn side by side, and a mixture weighs them.

    **The grid** (`Mixture`), on dictionaries, with a quarter of the budget:

    | members | width | regulariser | size |
    |---|---|---|---|
    | `NonsAld`, `α = 10⁻³`, `U = Y = max |y|` of the first rows | `½m, m, 2m` | `μ = 1` | `J` points at most |
    | `Krls` with a ridge, `ν = 10⁻³` (ridge regression on the same dictionaries) | `½m, m, 2m` | `λ = 0.03, 0.3` | the same |
    | `PkawvTaylor` of degree 1, which is linear in the scaled features | `30m` | `λ = 3·10⁻⁵, 10⁻²` | `d + 1`, where `4(d + 1)²` is a fifth of the part's share at most; the first alone where `2(d + 1)²` is three fifths at most |
    | `Krls` in a `Restarting`, which starts anew when its loss has risen (Page–Hinkley) | `m, 2m`, without a window `½m` too | `λ = 0.03` | `J`, exchanged |
    | without a window `PkawvTaylor` | `m, 2m` | `λ = 0.03, 0.3` | the highest degree `M ≤ 6` whose `r = C(d + M, M)` fits |

    The members that start anew have dictionaries of their own, in which a new point takes the place of the least significant one once they are full. The other
    dictionaries are filled and stay as they are.

    **The window**, with the rest of it: Gaussian processes on the 8 to 32 examples nearest to the input, of the last `N` (Vecchia 1988; Gramacy and Apley 2015; Datta et
    al. 2016), which learn rough functions that a dictionary of `J` points cannot hold; and `Fogd` with three steps, which follows
    changes. Nearness is measured in five metrics, with a smaller budget in three or two: between ranks, between
    scaled features, between these and the time, with the features weighed or all alike. Half of the processes learn what grid and FOGD leave of the target. `auto/metrics.rs` has the tables.
    How relevant each feature is, and the time, is learnt from the likelihood of rows given the nearest rows before them (`local/relevance.rs`): of the first rows,
    and anew at each doubling from row 2048 on, of up to 1024 of the last rows with neighbours among 4096 (`auto/search.rs`). That costs at most two fifths of what
    predictions from full windows would have cost since the last time. It is left out where that pays for fewer than 128 rows.
    A metric that is not worth its cost is asked in every fourth row only, until it is worth it again (`auto/standing.rs`). What that saves, and what an index of the window
    saves (`local/index.rs`), is spent on a longer window: it grows up to four times while the counted cost of a prediction is within what the budget pays for. When
    a change calls resting metrics back, a row costs more for a while: at most what four times the window costs without an index.

    **Weights.** Both parts are weighed by two mixtures, of which one remembers all rounds and one follows the last two thousand; a third mixture weighs the two (`auto/weights.rs`).

    **Honest.** A prediction uses nothing but the rows before it. Scaling and ranks are learnt anew after 16, 64, 256 and 1024 rows and are
    fixed from then on. Relevance is learnt from 256 rows on, at 1024 also from where 256 have led. Each time both parts are made anew and replay, one by one and
    predicting before they learn, the rows seen so far (of which 1024 at most are kept). Until the first time the prediction is the mean of the targets.
    The four rounds that do this cost as much as the rows they replay, and the last two some `10⁹` multiply-adds for the weights of ten features.
    A feature may wander out of the range of the first 1024 rows. The metrics of scaled features take it as it is. Ranks go on beyond the first rows by the logarithm of the
    distance, and so do the features of grid and FOGD beyond ±4 (`auto/scales.rs`).

    **Two threads.** Where rows come in blocks, grid and window learn at the same time: the grid does not look at the window, and is a piece ahead.

    **Several outputs** have scalings of their own and all else in common: dictionaries, windows, relevance and the members' weights, which are learnt from
    the sum of the losses of scaled targets. NONS-ALD, whose matrix belongs to one output, is left out. An output may join at any time.

    **Budget.** A round costs about `budget` multiply-adds at most (except for those four, and for the doublings), whatever the dimension and the length of
    the stream. The grid's quarter sets the largest dictionary `J` (three of them with three updates each, and two that exchange points: `25J² + 5J(d + 20)`, beside the linear members). The rest sets the window `N`
    of `M` metrics: `MN(d + 1)`, the processes and FOGD. From there the window grows as said. The largest number of metrics is taken that leaves a window of 1500, 600 or `256 + 16d` rows. Where none does,
    below some 30,000 multiply-adds, or with the default budget above some 660 features, the grid has the whole budget: half of it
    sets `J` (`30J² + 6J(d + 20)`), half the degree of the four Taylor members (`8r²`). The count is of operations and not of seconds, so that a run can be repeated;
    `Auto::budget_within` finds the count that takes so many microseconds on this machine.

    **Choices.** The members, their regularisers and kernels were chosen on the fourteen regression streams of the project's comparison of quality (casp, calhousing,
    diamonds, ccpp, cpusmall, elevators, bank, parkinson, year, ailerons; two synthetic drifts, elec2 and elevators in time order); none depends on a
    stream by name. Taylor members beside the window changed no error there by more than 0.5 %, so they are left out; the linear ones
    changed errors by −0.3 to +0.1 % and cost little; they are there for targets that are linear. Made streams of 40 to 784 features
    told that one of them is worth more of the share where features are many (300 that are 0 or 1, a linear target: from .071 to .025; Vowpal Wabbit has .024); with budgets of 4,000 to 16,000 that lowered the mean error of the fourteen by
    4 to 12 %. The metrics and their numbers of neighbours were chosen on
    eight of the fourteen (casp, calhousing, ccpp, cpusmall, elevators, parkinson, elec2, the abrupt drift). How relevance is learnt was chosen by
    the mean over all fourteen and a look at the comparison's four streams of classes: twelve neighbours, two times sixteen steps, 1024 rows, from row 2048 on. Twelve or
    sixteen neighbours, and half of the rows or twice the cost, changed that mean by less than 1.5 %. Without a lower bound for the relevance of the time the abrupt drift
    was 18 % worse with a quarter of the budget; a bound ten times as high changed the mean by less than 0.1 %. A stream drawn at random, the parity of three of twelve bits, showed that 1024
    rows need where 256 have led as a beginning. Members are not stopped for good: after
    a change the worst may be the best. Resting from row 4096 on changed no error of the fourteen by more than 0.5 %;
    from row 1024 on, with one row in sixteen and a higher threshold, it raised that of casp by 5 %.
    Dictionaries that exchange points, where there is no window, lowered the mean error with budgets of 4,000 to 16,000 by 8 to 16 %, at three quarters more time; with 32,000 they raised it by 2 %.
    Members that start anew lowered the errors under drift, with all settings of their detector as they were: on the abrupt drift by 31 % with the default budget and 51 % with 32,000, on the
    Friedman drift by 18 and 21 %, and on two made streams, a walk and a feature that is the time, by 75 and 65 % without a window. ADWIN in place of Page–Hinkley changed the mean
    by 0.4 % at most. Where nothing changes they changed the errors with the default budget by −1.2 to +0.9 %. That they exchange their points changed the mean beside a window by −1.5 to +0.3 %, at 5 % more time.
    Ranks learnt anew from the window at doublings changed the mean by +0.1 % with the default budget and by +0.8 % with 256,000, and the errors of six streams with features that wander by less than 2 %,
    except one (−9 % with 256,000); so the first ranks stay.
    Longer windows at small budgets were chosen by the mean over the fourteen, and so was the mixture of two memories: 2000 rounds lower the errors under drift by 4 and 5 % and change all others by less than 1 %,
    1000 rounds do nearly the same. That features are bent and not clipped was found on streams made for the purpose (casp and calhousing sorted by a feature, walks,
    features that grow, a feature that is the time, heavy tails). It lowered five of the six errors by 4 to 99 % and raised that with the time by 2 %; the mean over the fourteen stayed the same
    within 0.3 %.

    Memory: `5 budget/16` numbers for the grid without a window, `budget/10` with one; `MN(3d + 6)` for the window and its index, and `1024 d` until the scaling is fixed.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.AutoClassifier()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'auto'
    _keys = (
        ('rule', 'rule', 'ml-poly'),
        ('neighbours', 'neighbours', 32),
        ('budget', 'budget', 2000000),
    )
    _many = True
    _losses = ('squared',)
    _calibrates = True

    def __init__(
        self,
        *,
        rule: str = 'ml-poly',
        neighbours: int | str = 32,
        budget: int | str = 2000000,
        seed: int = 0,
    ) -> None:
        self.rule = rule
        self.neighbours = neighbours
        self.budget = budget
        self.seed = seed


class Knlms(KernelRegressor):
    r"""Kernel normalised least mean squares on a coherent dictionary.

    When to take it: very cheap steps on a dictionary; drift.

    Targets: one number, or several at once.

    Cost: `Jd + 4J` multiply-adds a row, `Jd + 2J` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Richard et al. 2009.

    Parameters
    ----------
    eta : float | str, default 0.1
        `η`, step size, below 2; a number > 0.
    mu0 : float | str, default 0.7
        `μ₀`, largest coherence kept; a number from 0 to 1.
    eps : float | str, default 0.0001
        `ε`, added to the squared norm; a number ≥ 0.
    max_dictionary : int | str | None, default 1000
        most points kept; a whole number ≥ 1, or none. None: the rule alone decides how many points are kept.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    intervals : float | None, default None
        The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals.
        Adaptive conformal inference.
    local_intervals : bool, default False
        Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.

    Notes
    -----
    KNLMS: kernel normalised least mean squares (Richard, Bermudez and Honeine 2009).

    With `k` the kernel values `k(d_i, x)` at the kept points and `e = y − f(x)`: `x` joins with `α = 0` when its coherence is at
    most `μ₀`, as the first point always does; then, over the dictionary that may have grown, `α ← α + η ω e k/(ε + ‖k‖²)`, `ω` being the
    weight of the example. Once the dictionary is full no point joins and the steps go on. `Jd + 4J` multiply-adds a round,
    `Jd + 2J` numbers of memory.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.Knlms()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] - x['b'])
    >>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)
    True
    """

    _name = 'knlms'
    _keys = (
        ('eta', 'eta', 0.1),
        ('mu0', 'mu0', 0.7),
        ('eps', 'eps', 0.0001),
        ('max_dictionary', 'max_dictionary', 1000),
    )
    _vectors = True
    _poor_score = True

    def __init__(
        self,
        *,
        eta: float | str = 0.1,
        mu0: float | str = 0.7,
        eps: float | str = 0.0001,
        max_dictionary: int | str | None = 1000,
        kernel: str = 'auto',
        seed: int = 0,
        intervals: float | None = None,
        local_intervals: bool = False,
    ) -> None:
        self.eta = eta
        self.mu0 = mu0
        self.eps = eps
        self.max_dictionary = max_dictionary
        self.kernel = kernel
        self.seed = seed
        self.intervals = intervals
        self.local_intervals = local_intervals


class KnlmsClassifier(KernelClassifier):
    r"""Kernel normalised least mean squares on a coherent dictionary.

    When to take it: very cheap steps on a dictionary; drift.

    Classes: any number.

    Cost: `Jd + 4J` multiply-adds a row, `Jd + 2J` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Richard et al. 2009.

    Parameters
    ----------
    eta : float | str, default 0.1
        `η`, step size, below 2; a number > 0.
    mu0 : float | str, default 0.7
        `μ₀`, largest coherence kept; a number from 0 to 1.
    eps : float | str, default 0.0001
        `ε`, added to the squared norm; a number ≥ 0.
    max_dictionary : int | str | None, default 1000
        most points kept; a whole number ≥ 1, or none. None: the rule alone decides how many points are kept.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    KNLMS: kernel normalised least mean squares (Richard, Bermudez and Honeine 2009).

    With `k` the kernel values `k(d_i, x)` at the kept points and `e = y − f(x)`: `x` joins with `α = 0` when its coherence is at
    most `μ₀`, as the first point always does; then, over the dictionary that may have grown, `α ← α + η ω e k/(ε + ‖k‖²)`, `ω` being the
    weight of the example. Once the dictionary is full no point joins and the steps go on. `Jd + 4J` multiply-adds a round,
    `Jd + 2J` numbers of memory.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.KnlmsClassifier()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'knlms'
    _keys = (
        ('eta', 'eta', 0.1),
        ('mu0', 'mu0', 0.7),
        ('eps', 'eps', 0.0001),
        ('max_dictionary', 'max_dictionary', 1000),
    )
    _many = True
    _losses = ('squared',)

    def __init__(
        self,
        *,
        eta: float | str = 0.1,
        mu0: float | str = 0.7,
        eps: float | str = 0.0001,
        max_dictionary: int | str | None = 1000,
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.eta = eta
        self.mu0 = mu0
        self.eps = eps
        self.max_dictionary = max_dictionary
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class Qklms(KernelRegressor):
    r"""Quantised kernel least mean squares: near inputs share a point.

    When to take it: the cheapest steps on a dictionary; drift.

    Targets: one number, or several at once.

    Cost: `2Jd + J` multiply-adds a row, `Jd + 2J` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Chen et al. 2012.

    Parameters
    ----------
    eta : float | str, default 0.2
        `η`, step size, below 2/k(x,x); a number > 0.
    epsilon : float | str, default 'auto'
        `ε`, inputs this near share a point; a number ≥ 0. "auto": the median distance of the first rows (200 at most)
        to their nearest; 0 if all are the same (ours: the papers choose by hand).
    max_dictionary : int | str | None, default 1000
        most points kept; a whole number ≥ 1, or none. None: the rule alone decides how many points are kept.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    intervals : float | None, default None
        The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals.
        Adaptive conformal inference.
    local_intervals : bool, default False
        Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.

    Notes
    -----
    QKLMS: quantised kernel least mean squares (Chen, Zhao, Zhu and Príncipe 2012).

    With `e = y − f(x)` and `d_j` the kept point nearest to `x`: within the distance `ε` of it, `α_j ← α_j + η ω e`, `ω` being the weight of the
    example; otherwise `x` joins with the coefficient `η ω e`. Once the dictionary is full, inputs farther than `ε` from all its points teach
    nothing. `2Jd + J` multiply-adds a round, `Jd + 2J` numbers of memory.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.Qklms()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] - x['b'])
    >>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)
    True
    """

    _name = 'qklms'
    _keys = (
        ('eta', 'eta', 0.2),
        ('epsilon', 'epsilon', 'auto'),
        ('max_dictionary', 'max_dictionary', 1000),
    )
    _vectors = True

    def __init__(
        self,
        *,
        eta: float | str = 0.2,
        epsilon: float | str = 'auto',
        max_dictionary: int | str | None = 1000,
        kernel: str = 'auto',
        seed: int = 0,
        intervals: float | None = None,
        local_intervals: bool = False,
    ) -> None:
        self.eta = eta
        self.epsilon = epsilon
        self.max_dictionary = max_dictionary
        self.kernel = kernel
        self.seed = seed
        self.intervals = intervals
        self.local_intervals = local_intervals


class QklmsClassifier(KernelClassifier):
    r"""Quantised kernel least mean squares: near inputs share a point.

    When to take it: the cheapest steps on a dictionary; drift.

    Classes: any number.

    Cost: `2Jd + J` multiply-adds a row, `Jd + 2J` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Chen et al. 2012.

    Parameters
    ----------
    eta : float | str, default 0.2
        `η`, step size, below 2/k(x,x); a number > 0.
    epsilon : float | str, default 'auto'
        `ε`, inputs this near share a point; a number ≥ 0. "auto": the median distance of the first rows (200 at most)
        to their nearest; 0 if all are the same (ours: the papers choose by hand).
    max_dictionary : int | str | None, default 1000
        most points kept; a whole number ≥ 1, or none. None: the rule alone decides how many points are kept.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    QKLMS: quantised kernel least mean squares (Chen, Zhao, Zhu and Príncipe 2012).

    With `e = y − f(x)` and `d_j` the kept point nearest to `x`: within the distance `ε` of it, `α_j ← α_j + η ω e`, `ω` being the weight of the
    example; otherwise `x` joins with the coefficient `η ω e`. Once the dictionary is full, inputs farther than `ε` from all its points teach
    nothing. `2Jd + J` multiply-adds a round, `Jd + 2J` numbers of memory.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.QklmsClassifier()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'qklms'
    _keys = (
        ('eta', 'eta', 0.2),
        ('epsilon', 'epsilon', 'auto'),
        ('max_dictionary', 'max_dictionary', 1000),
    )
    _many = True
    _losses = ('squared',)

    def __init__(
        self,
        *,
        eta: float | str = 0.2,
        epsilon: float | str = 'auto',
        max_dictionary: int | str | None = 1000,
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.eta = eta
        self.epsilon = epsilon
        self.max_dictionary = max_dictionary
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class Klms(KernelRegressor):
    r"""Kernel least mean squares: every example is kept until the dictionary is full.

    When to take it: the yardstick of kernel adaptive filters.

    Targets: one number, or several at once.

    Cost: `Jd + J` multiply-adds a row, `Jd + 2J` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Liu et al. 2008.

    Parameters
    ----------
    eta : float | str, default 0.2
        `η`, step size, below 2/k(x,x); a number > 0.
    max_dictionary : int | str | None, default 1000
        most points kept; a whole number ≥ 1, or none. None: every example is kept.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    intervals : float | None, default None
        The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals.
        Adaptive conformal inference.
    local_intervals : bool, default False
        Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.

    Notes
    -----
    KLMS: kernel least mean squares (Liu, Pokharel and Principe 2008).

    With `e = y − f(x)`, `x` joins with the coefficient `η ω e`, `ω` being the weight of the example: a step of size `η` along the gradient of
    `½ω(f(x) − y)²`. No other coefficient moves. Once the dictionary is full nothing is learnt any more.

    `Jd + J` multiply-adds a round, `Jd + 2J` numbers of memory.

    The step is that of `Qklms`, of which this is the case without quantisation: repeated inputs are kept again.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.Klms()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] - x['b'])
    >>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)
    True
    """

    _name = 'klms'
    _keys = (
        ('eta', 'eta', 0.2),
        ('max_dictionary', 'max_dictionary', 1000),
    )
    _vectors = True

    def __init__(
        self,
        *,
        eta: float | str = 0.2,
        max_dictionary: int | str | None = 1000,
        kernel: str = 'auto',
        seed: int = 0,
        intervals: float | None = None,
        local_intervals: bool = False,
    ) -> None:
        self.eta = eta
        self.max_dictionary = max_dictionary
        self.kernel = kernel
        self.seed = seed
        self.intervals = intervals
        self.local_intervals = local_intervals


class KlmsClassifier(KernelClassifier):
    r"""Kernel least mean squares: every example is kept until the dictionary is full.

    When to take it: the yardstick of kernel adaptive filters.

    Classes: any number.

    Cost: `Jd + J` multiply-adds a row, `Jd + 2J` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Liu et al. 2008.

    Parameters
    ----------
    eta : float | str, default 0.2
        `η`, step size, below 2/k(x,x); a number > 0.
    max_dictionary : int | str | None, default 1000
        most points kept; a whole number ≥ 1, or none. None: every example is kept.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    KLMS: kernel least mean squares (Liu, Pokharel and Principe 2008).

    With `e = y − f(x)`, `x` joins with the coefficient `η ω e`, `ω` being the weight of the example: a step of size `η` along the gradient of
    `½ω(f(x) − y)²`. No other coefficient moves. Once the dictionary is full nothing is learnt any more.

    `Jd + J` multiply-adds a round, `Jd + 2J` numbers of memory.

    The step is that of `Qklms`, of which this is the case without quantisation: repeated inputs are kept again.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.KlmsClassifier()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'klms'
    _keys = (
        ('eta', 'eta', 0.2),
        ('max_dictionary', 'max_dictionary', 1000),
    )
    _many = True
    _losses = ('squared',)

    def __init__(
        self,
        *,
        eta: float | str = 0.2,
        max_dictionary: int | str | None = 1000,
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.eta = eta
        self.max_dictionary = max_dictionary
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class Kap(KernelRegressor):
    r"""Kernel affine projection: a normalised step for several examples at once.

    When to take it: learns faster than knlms where inputs resemble those before them.

    Targets: one number.

    Cost: `Jd + ½p²J + 2pJ` multiply-adds a row, `Jd + 2J + pJ` numbers of memory (`t` the row, `d` the features, `J`
    the points kept, other letters the symbols below).

    Source: Richard et al. 2009.

    Parameters
    ----------
    eta : float | str, default 0.05
        `η`, step size, below 2; a number > 0.
    mu0 : float | str, default 0.9
        `μ₀`, largest coherence kept; a number from 0 to 1.
    eps : float | str, default 1.0
        `ε`, added to the diagonal of the matrix of the window; a number > 0.
    order : int | str, default 8
        `p`, examples in the window; a whole number ≥ 1.
    max_dictionary : int | str | None, default 500
        most points kept; a whole number ≥ 1, or none. None: the rule alone decides how many points are kept.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    intervals : float | None, default None
        The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals.
        Adaptive conformal inference.
    local_intervals : bool, default False
        Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.

    Notes
    -----
    KAP: kernel affine projection (Richard, Bermudez and Honeine 2009).

    Points join as for `Knlms`, by their coherence. With the last `p` examples, this one included (fewer at first), `H` their
    kernel values at the kept points, one row an example, and `Ω` their weights: `α ← α + η Hᵀ(εI + HHᵀ)⁻¹ Ω (y − Hα)`, over the dictionary that may have
    grown. The errors are those of the current `f`. For `p = 1` this is KNLMS. Once the dictionary is full no point joins and the steps go on.

    `Jd + p²J/2 + 2pJ + p³/6` multiply-adds a round and `pd` more when a point joins, `J(d + 2 + p)` numbers of memory.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.Kap()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] - x['b'])
    >>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)
    True
    """

    _name = 'kap'
    _keys = (
        ('eta', 'eta', 0.05),
        ('mu0', 'mu0', 0.9),
        ('eps', 'eps', 1.0),
        ('order', 'order', 8),
        ('max_dictionary', 'max_dictionary', 500),
    )

    def __init__(
        self,
        *,
        eta: float | str = 0.05,
        mu0: float | str = 0.9,
        eps: float | str = 1.0,
        order: int | str = 8,
        max_dictionary: int | str | None = 500,
        kernel: str = 'auto',
        seed: int = 0,
        intervals: float | None = None,
        local_intervals: bool = False,
    ) -> None:
        self.eta = eta
        self.mu0 = mu0
        self.eps = eps
        self.order = order
        self.max_dictionary = max_dictionary
        self.kernel = kernel
        self.seed = seed
        self.intervals = intervals
        self.local_intervals = local_intervals


class KapClassifier(KernelClassifier):
    r"""Kernel affine projection: a normalised step for several examples at once.

    When to take it: learns faster than knlms where inputs resemble those before them.

    Classes: two.

    Cost: `Jd + ½p²J + 2pJ` multiply-adds a row, `Jd + 2J + pJ` numbers of memory (`t` the row, `d` the features, `J`
    the points kept, other letters the symbols below).

    Source: Richard et al. 2009.

    Parameters
    ----------
    eta : float | str, default 0.05
        `η`, step size, below 2; a number > 0.
    mu0 : float | str, default 0.9
        `μ₀`, largest coherence kept; a number from 0 to 1.
    eps : float | str, default 1.0
        `ε`, added to the diagonal of the matrix of the window; a number > 0.
    order : int | str, default 8
        `p`, examples in the window; a whole number ≥ 1.
    max_dictionary : int | str | None, default 500
        most points kept; a whole number ≥ 1, or none. None: the rule alone decides how many points are kept.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    KAP: kernel affine projection (Richard, Bermudez and Honeine 2009).

    Points join as for `Knlms`, by their coherence. With the last `p` examples, this one included (fewer at first), `H` their
    kernel values at the kept points, one row an example, and `Ω` their weights: `α ← α + η Hᵀ(εI + HHᵀ)⁻¹ Ω (y − Hα)`, over the dictionary that may have
    grown. The errors are those of the current `f`. For `p = 1` this is KNLMS. Once the dictionary is full no point joins and the steps go on.

    `Jd + p²J/2 + 2pJ + p³/6` multiply-adds a round and `pd` more when a point joins, `J(d + 2 + p)` numbers of memory.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.KapClassifier()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'kap'
    _keys = (
        ('eta', 'eta', 0.05),
        ('mu0', 'mu0', 0.9),
        ('eps', 'eps', 1.0),
        ('order', 'order', 8),
        ('max_dictionary', 'max_dictionary', 500),
    )
    _many = False
    _losses = ('squared',)

    def __init__(
        self,
        *,
        eta: float | str = 0.05,
        mu0: float | str = 0.9,
        eps: float | str = 1.0,
        order: int | str = 8,
        max_dictionary: int | str | None = 500,
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.eta = eta
        self.mu0 = mu0
        self.eps = eps
        self.order = order
        self.max_dictionary = max_dictionary
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class Norma(KernelRegressor):
    r"""Regularised gradient descent on any loss over a window of points.

    When to take it: any loss at the price of one kernel row; a target that drifts.

    Targets: one number.

    Cost: `Jd + 2J` multiply-adds a row, `Jd + 2J` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Kivinen et al. 2004.

    Parameters
    ----------
    eta : float | str, default 0.1
        `η`, step size, below 2/k(x,x); a number > 0.
    lambda_ : float | str, default 0.002
        `λ`, regulariser: coefficients shrink by 1 − λη a round; at most 1/η; a number ≥ 0.
    tau : int | str, default 500
        `τ`, points kept, the latest ones; a whole number ≥ 1.
    loss : str, default 'squared'
        what is minimised; with classes the default is logistic, softmax for more than two; squared, absolute,
        huber:δ, epsilon:ε, quantile:τ, poisson, logistic, hinge or squared-hinge.
    leak : str, default 'after'
        whether the coefficients shrink after the derivative of the loss is taken, or first; after or first. One of
        after, first.
    schedule : str, default 'constant'
        step size of round t: η, or η/√t; constant or sqrt. One of constant, sqrt.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    intervals : float | None, default None
        The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals.
        Adaptive conformal inference.
    local_intervals : bool, default False
        Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.

    Notes
    -----
    NORMA: naive online regularised risk minimisation (Kivinen, Smola and Williamson 2004).

    In round `t`, with `η_t` the step size and `ℓ′` the derivative of the loss at the prediction `f(x)`: all coefficients leak, `α ← (1 − λη_t) α`, and
    `x` joins with the coefficient `−η_t ω ℓ′`, `ω` being the weight of the example. Of more than `τ` points the oldest leaves. Where the loss is flat,
    `x` joins with 0. `Jd + 2J` multiply-adds a round, `Jd + 2J` numbers of memory.

    The squared loss counts half here, as in the paper: `−ℓ′ = y − f(x)`, so that steps compare with those of `Klms`. The other losses
    are those of `Loss`. The paper takes the derivative before the leak; `Leak::First` takes it after. Examples of weight 0 are no rounds.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.Norma()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] - x['b'])
    >>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)
    True
    """

    _name = 'norma'
    _keys = (
        ('eta', 'eta', 0.1),
        ('lambda_', 'lambda', 0.002),
        ('tau', 'tau', 500),
        ('loss', 'loss', 'squared'),
        ('leak', 'leak', 'after'),
        ('schedule', 'schedule', 'constant'),
    )

    def __init__(
        self,
        *,
        eta: float | str = 0.1,
        lambda_: float | str = 0.002,
        tau: int | str = 500,
        loss: str = 'squared',
        leak: str = 'after',
        schedule: str = 'constant',
        kernel: str = 'auto',
        seed: int = 0,
        intervals: float | None = None,
        local_intervals: bool = False,
    ) -> None:
        self.eta = eta
        self.lambda_ = lambda_
        self.tau = tau
        self.loss = loss
        self.leak = leak
        self.schedule = schedule
        self.kernel = kernel
        self.seed = seed
        self.intervals = intervals
        self.local_intervals = local_intervals


class NormaClassifier(KernelClassifier):
    r"""Regularised gradient descent on any loss over a window of points.

    When to take it: any loss at the price of one kernel row; a target that drifts.

    Classes: two.

    Cost: `Jd + 2J` multiply-adds a row, `Jd + 2J` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Kivinen et al. 2004.

    Parameters
    ----------
    eta : float | str, default 0.1
        `η`, step size, below 2/k(x,x); a number > 0.
    lambda_ : float | str, default 0.002
        `λ`, regulariser: coefficients shrink by 1 − λη a round; at most 1/η; a number ≥ 0.
    tau : int | str, default 500
        `τ`, points kept, the latest ones; a whole number ≥ 1.
    loss : str, default 'logistic'
        what is minimised; with classes the default is logistic, softmax for more than two; squared, absolute,
        huber:δ, epsilon:ε, quantile:τ, poisson, logistic, hinge or squared-hinge.
    leak : str, default 'after'
        whether the coefficients shrink after the derivative of the loss is taken, or first; after or first. One of
        after, first.
    schedule : str, default 'constant'
        step size of round t: η, or η/√t; constant or sqrt. One of constant, sqrt.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    NORMA: naive online regularised risk minimisation (Kivinen, Smola and Williamson 2004).

    In round `t`, with `η_t` the step size and `ℓ′` the derivative of the loss at the prediction `f(x)`: all coefficients leak, `α ← (1 − λη_t) α`, and
    `x` joins with the coefficient `−η_t ω ℓ′`, `ω` being the weight of the example. Of more than `τ` points the oldest leaves. Where the loss is flat,
    `x` joins with 0. `Jd + 2J` multiply-adds a round, `Jd + 2J` numbers of memory.

    The squared loss counts half here, as in the paper: `−ℓ′ = y − f(x)`, so that steps compare with those of `Klms`. The other losses
    are those of `Loss`. The paper takes the derivative before the leak; `Leak::First` takes it after. Examples of weight 0 are no rounds.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.NormaClassifier()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'norma'
    _keys = (
        ('eta', 'eta', 0.1),
        ('lambda_', 'lambda', 0.002),
        ('tau', 'tau', 500),
        ('loss', 'loss', 'logistic'),
        ('leak', 'leak', 'after'),
        ('schedule', 'schedule', 'constant'),
    )
    _many = False
    _losses = ('logistic',)

    def __init__(
        self,
        *,
        eta: float | str = 0.1,
        lambda_: float | str = 0.002,
        tau: int | str = 500,
        loss: str = 'logistic',
        leak: str = 'after',
        schedule: str = 'constant',
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.eta = eta
        self.lambda_ = lambda_
        self.tau = tau
        self.loss = loss
        self.leak = leak
        self.schedule = schedule
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class FbKlms(KernelRegressor):
    r"""Normalised kernel least mean squares; the smallest coefficient leaves a full dictionary.

    When to take it: cheap steps with a dictionary that goes on changing.

    Targets: one number.

    Cost: `Jd + 3J` multiply-adds a row, `Jd + 2J` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Rzepka 2012.

    Parameters
    ----------
    eta : float | str, default 0.1
        `η`, step size; a number > 0.
    nu : float | str, default 0.3
        `ν`, growth threshold; larger keeps fewer points; a number ≥ 0.
    eps : float | str | None, default None
        `ε`, added to the squared norm of the kernel row; a number ≥ 0, or none. None: k(x, x) of each input.
    max_dictionary : int | str, default 500
        most points kept; a whole number ≥ 1.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    intervals : float | None, default None
        The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals.
        Adaptive conformal inference.
    local_intervals : bool, default False
        Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.

    Notes
    -----
    FB-KLMS: fixed-budget kernel least mean squares (Rzepka 2012).

    With `k` the kernel values at the kept points, `κ = k(x, x)`, `e = y − f(x)`, `ω` the weight of the example and `n = ‖k‖² + ε`:
    `α ← α + η ω e k/n`. If `min_i (κ − k_i/k(d_i, d_i)) ≥ ν`, `x` joins with the coefficient `η ω e/n`. Of more than `M` points the one of the smallest
    `|α|` leaves: the first of several, and it may be the new one. The first point joins with `η ω y/κ`. `Jd + 3J` multiply-adds a round, `Jd + 2J`
    numbers of memory.

    The source has `ε = 0`; its step then grows without bound far from the dictionary. Steps at the point itself shrink the error for `ε > ηκ/2`, and the
    default is `ε = κ`. Inputs with `κ = 0` are the zero function; they teach nothing.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.FbKlms()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] - x['b'])
    >>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)
    True
    """

    _name = 'fb-klms'
    _keys = (
        ('eta', 'eta', 0.1),
        ('nu', 'nu', 0.3),
        ('eps', 'eps', None),
        ('max_dictionary', 'max_dictionary', 500),
    )
    _poor_score = True

    def __init__(
        self,
        *,
        eta: float | str = 0.1,
        nu: float | str = 0.3,
        eps: float | str | None = None,
        max_dictionary: int | str = 500,
        kernel: str = 'auto',
        seed: int = 0,
        intervals: float | None = None,
        local_intervals: bool = False,
    ) -> None:
        self.eta = eta
        self.nu = nu
        self.eps = eps
        self.max_dictionary = max_dictionary
        self.kernel = kernel
        self.seed = seed
        self.intervals = intervals
        self.local_intervals = local_intervals


class FbKlmsClassifier(KernelClassifier):
    r"""Normalised kernel least mean squares; the smallest coefficient leaves a full dictionary.

    When to take it: cheap steps with a dictionary that goes on changing.

    Classes: two.

    Cost: `Jd + 3J` multiply-adds a row, `Jd + 2J` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Rzepka 2012.

    Parameters
    ----------
    eta : float | str, default 0.1
        `η`, step size; a number > 0.
    nu : float | str, default 0.3
        `ν`, growth threshold; larger keeps fewer points; a number ≥ 0.
    eps : float | str | None, default None
        `ε`, added to the squared norm of the kernel row; a number ≥ 0, or none. None: k(x, x) of each input.
    max_dictionary : int | str, default 500
        most points kept; a whole number ≥ 1.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    FB-KLMS: fixed-budget kernel least mean squares (Rzepka 2012).

    With `k` the kernel values at the kept points, `κ = k(x, x)`, `e = y − f(x)`, `ω` the weight of the example and `n = ‖k‖² + ε`:
    `α ← α + η ω e k/n`. If `min_i (κ − k_i/k(d_i, d_i)) ≥ ν`, `x` joins with the coefficient `η ω e/n`. Of more than `M` points the one of the smallest
    `|α|` leaves: the first of several, and it may be the new one. The first point joins with `η ω y/κ`. `Jd + 3J` multiply-adds a round, `Jd + 2J`
    numbers of memory.

    The source has `ε = 0`; its step then grows without bound far from the dictionary. Steps at the point itself shrink the error for `ε > ηκ/2`, and the
    default is `ε = κ`. Inputs with `κ = 0` are the zero function; they teach nothing.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.FbKlmsClassifier()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'fb-klms'
    _keys = (
        ('eta', 'eta', 0.1),
        ('nu', 'nu', 0.3),
        ('eps', 'eps', None),
        ('max_dictionary', 'max_dictionary', 500),
    )
    _many = False
    _losses = ('squared',)

    def __init__(
        self,
        *,
        eta: float | str = 0.1,
        nu: float | str = 0.3,
        eps: float | str | None = None,
        max_dictionary: int | str = 500,
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.eta = eta
        self.nu = nu
        self.eps = eps
        self.max_dictionary = max_dictionary
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class Lkapa(KernelRegressor):
    r"""Leaky kernel affine projection: a gradient step for several examples at once.

    When to take it: a yardstick of affine projection.

    Targets: one number.

    Cost: `Jd + pd + pJ` multiply-adds a row, `Jd + 2J + pJ` numbers of memory (`t` the row, `d` the features, `J` the
    points kept, other letters the symbols below).

    Source: Liu and Principe 2008.

    Parameters
    ----------
    eta : float | str, default 0.01
        `η`, step size; a number > 0.
    lambda_ : float | str, default 0.01
        `λ`, regulariser: coefficients shrink by 1 − λη a round; at most 1/η; a number ≥ 0.
    order : int | str, default 10
        `p`, examples in the window; a whole number ≥ 1.
    max_dictionary : int | str | None, default 1000
        most points kept; a whole number ≥ 1, or none. None: every example is kept.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    intervals : float | None, default None
        The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals.
        Adaptive conformal inference.
    local_intervals : bool, default False
        Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.

    Notes
    -----
    LKAPA and NLKAPA: leaky kernel affine projection, plain and normalised (Liu and Principe 2008).

    With the last `p` examples, this one included (fewer at first), `e` their errors under the current `f` and `Ω` their weights: `α ← (1 − λη) α`, `x`
    joins with 0, and the coefficients of the `p` examples, the last ones, gain `η Ωe`; for NLKAPA `η (K + εI)⁻¹ Ωe`, `K` being the kernel matrix of the
    examples. The first point joins with `η ω y`. Once the dictionary is full nothing is learnt any more. `λ = 0` is the projection without a leak.

    `Jd + pd + pJ` multiply-adds a round, `p³/6` more for NLKAPA; `J(d + 2 + p)` numbers of memory.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.Lkapa()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] - x['b'])
    >>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)
    True
    """

    _name = 'lkapa'
    _keys = (
        ('eta', 'eta', 0.01),
        ('lambda_', 'lambda', 0.01),
        ('order', 'order', 10),
        ('max_dictionary', 'max_dictionary', 1000),
    )

    def __init__(
        self,
        *,
        eta: float | str = 0.01,
        lambda_: float | str = 0.01,
        order: int | str = 10,
        max_dictionary: int | str | None = 1000,
        kernel: str = 'auto',
        seed: int = 0,
        intervals: float | None = None,
        local_intervals: bool = False,
    ) -> None:
        self.eta = eta
        self.lambda_ = lambda_
        self.order = order
        self.max_dictionary = max_dictionary
        self.kernel = kernel
        self.seed = seed
        self.intervals = intervals
        self.local_intervals = local_intervals


class LkapaClassifier(KernelClassifier):
    r"""Leaky kernel affine projection: a gradient step for several examples at once.

    When to take it: a yardstick of affine projection.

    Classes: two.

    Cost: `Jd + pd + pJ` multiply-adds a row, `Jd + 2J + pJ` numbers of memory (`t` the row, `d` the features, `J` the
    points kept, other letters the symbols below).

    Source: Liu and Principe 2008.

    Parameters
    ----------
    eta : float | str, default 0.01
        `η`, step size; a number > 0.
    lambda_ : float | str, default 0.01
        `λ`, regulariser: coefficients shrink by 1 − λη a round; at most 1/η; a number ≥ 0.
    order : int | str, default 10
        `p`, examples in the window; a whole number ≥ 1.
    max_dictionary : int | str | None, default 1000
        most points kept; a whole number ≥ 1, or none. None: every example is kept.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    LKAPA and NLKAPA: leaky kernel affine projection, plain and normalised (Liu and Principe 2008).

    With the last `p` examples, this one included (fewer at first), `e` their errors under the current `f` and `Ω` their weights: `α ← (1 − λη) α`, `x`
    joins with 0, and the coefficients of the `p` examples, the last ones, gain `η Ωe`; for NLKAPA `η (K + εI)⁻¹ Ωe`, `K` being the kernel matrix of the
    examples. The first point joins with `η ω y`. Once the dictionary is full nothing is learnt any more. `λ = 0` is the projection without a leak.

    `Jd + pd + pJ` multiply-adds a round, `p³/6` more for NLKAPA; `J(d + 2 + p)` numbers of memory.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.LkapaClassifier()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'lkapa'
    _keys = (
        ('eta', 'eta', 0.01),
        ('lambda_', 'lambda', 0.01),
        ('order', 'order', 10),
        ('max_dictionary', 'max_dictionary', 1000),
    )
    _many = False
    _losses = ('squared',)

    def __init__(
        self,
        *,
        eta: float | str = 0.01,
        lambda_: float | str = 0.01,
        order: int | str = 10,
        max_dictionary: int | str | None = 1000,
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.eta = eta
        self.lambda_ = lambda_
        self.order = order
        self.max_dictionary = max_dictionary
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class Nlkapa(KernelRegressor):
    r"""Leaky kernel affine projection, normalised by the kernel matrix of its examples.

    When to take it: a yardstick of affine projection.

    Targets: one number.

    Cost: `Jd + pd + pJ + p²` multiply-adds a row, `Jd + 2J + pJ` numbers of memory (`t` the row, `d` the features,
    `J` the points kept, other letters the symbols below).

    Source: Liu and Principe 2008.

    Parameters
    ----------
    eta : float | str, default 0.05
        `η`, step size, below 2; a number > 0.
    lambda_ : float | str, default 0.01
        `λ`, regulariser: coefficients shrink by 1 − λη a round; at most 1/η; a number ≥ 0.
    order : int | str, default 10
        `p`, examples in the window; a whole number ≥ 1.
    eps : float | str, default 1.0
        `ε`, added to the diagonal of the matrix of the window; a number > 0.
    max_dictionary : int | str | None, default 1000
        most points kept; a whole number ≥ 1, or none. None: every example is kept.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    intervals : float | None, default None
        The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals.
        Adaptive conformal inference.
    local_intervals : bool, default False
        Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.

    Notes
    -----
    LKAPA and NLKAPA: leaky kernel affine projection, plain and normalised (Liu and Principe 2008).

    With the last `p` examples, this one included (fewer at first), `e` their errors under the current `f` and `Ω` their weights: `α ← (1 − λη) α`, `x`
    joins with 0, and the coefficients of the `p` examples, the last ones, gain `η Ωe`; for NLKAPA `η (K + εI)⁻¹ Ωe`, `K` being the kernel matrix of the
    examples. The first point joins with `η ω y`. Once the dictionary is full nothing is learnt any more. `λ = 0` is the projection without a leak.

    `Jd + pd + pJ` multiply-adds a round, `p³/6` more for NLKAPA; `J(d + 2 + p)` numbers of memory.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.Nlkapa()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] - x['b'])
    >>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)
    True
    """

    _name = 'nlkapa'
    _keys = (
        ('eta', 'eta', 0.05),
        ('lambda_', 'lambda', 0.01),
        ('order', 'order', 10),
        ('eps', 'eps', 1.0),
        ('max_dictionary', 'max_dictionary', 1000),
    )

    def __init__(
        self,
        *,
        eta: float | str = 0.05,
        lambda_: float | str = 0.01,
        order: int | str = 10,
        eps: float | str = 1.0,
        max_dictionary: int | str | None = 1000,
        kernel: str = 'auto',
        seed: int = 0,
        intervals: float | None = None,
        local_intervals: bool = False,
    ) -> None:
        self.eta = eta
        self.lambda_ = lambda_
        self.order = order
        self.eps = eps
        self.max_dictionary = max_dictionary
        self.kernel = kernel
        self.seed = seed
        self.intervals = intervals
        self.local_intervals = local_intervals


class NlkapaClassifier(KernelClassifier):
    r"""Leaky kernel affine projection, normalised by the kernel matrix of its examples.

    When to take it: a yardstick of affine projection.

    Classes: two.

    Cost: `Jd + pd + pJ + p²` multiply-adds a row, `Jd + 2J + pJ` numbers of memory (`t` the row, `d` the features,
    `J` the points kept, other letters the symbols below).

    Source: Liu and Principe 2008.

    Parameters
    ----------
    eta : float | str, default 0.05
        `η`, step size, below 2; a number > 0.
    lambda_ : float | str, default 0.01
        `λ`, regulariser: coefficients shrink by 1 − λη a round; at most 1/η; a number ≥ 0.
    order : int | str, default 10
        `p`, examples in the window; a whole number ≥ 1.
    eps : float | str, default 1.0
        `ε`, added to the diagonal of the matrix of the window; a number > 0.
    max_dictionary : int | str | None, default 1000
        most points kept; a whole number ≥ 1, or none. None: every example is kept.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    LKAPA and NLKAPA: leaky kernel affine projection, plain and normalised (Liu and Principe 2008).

    With the last `p` examples, this one included (fewer at first), `e` their errors under the current `f` and `Ω` their weights: `α ← (1 − λη) α`, `x`
    joins with 0, and the coefficients of the `p` examples, the last ones, gain `η Ωe`; for NLKAPA `η (K + εI)⁻¹ Ωe`, `K` being the kernel matrix of the
    examples. The first point joins with `η ω y`. Once the dictionary is full nothing is learnt any more. `λ = 0` is the projection without a leak.

    `Jd + pd + pJ` multiply-adds a round, `p³/6` more for NLKAPA; `J(d + 2 + p)` numbers of memory.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.NlkapaClassifier()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'nlkapa'
    _keys = (
        ('eta', 'eta', 0.05),
        ('lambda_', 'lambda', 0.01),
        ('order', 'order', 10),
        ('eps', 'eps', 1.0),
        ('max_dictionary', 'max_dictionary', 1000),
    )
    _many = False
    _losses = ('squared',)

    def __init__(
        self,
        *,
        eta: float | str = 0.05,
        lambda_: float | str = 0.01,
        order: int | str = 10,
        eps: float | str = 1.0,
        max_dictionary: int | str | None = 1000,
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.eta = eta
        self.lambda_ = lambda_
        self.order = order
        self.eps = eps
        self.max_dictionary = max_dictionary
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class KlmsCsl1(KernelRegressor):
    r"""Kernel least mean squares on a coherent dictionary that an ℓ₁ regulariser thins out.

    When to take it: points that are no longer used go by themselves.

    Targets: one number.

    Cost: `Jd + 5J` multiply-adds a row, `Jd + 2J` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Gao et al. 2013.

    Parameters
    ----------
    eta : float | str, default 0.02
        `η`, step size; a number > 0.
    mu0 : float | str, default 0.5
        `μ₀`, largest coherence kept; a number from 0 to 1.
    lambda_ : float | str, default 0.0001
        `λ`, what a coefficient loses a round; at 0 its point leaves; a number ≥ 0.
    max_dictionary : int | str | None, default 500
        most points kept; a whole number ≥ 1, or none. None: the rule alone decides how many points are kept.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    intervals : float | None, default None
        The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals.
        Adaptive conformal inference.
    local_intervals : bool, default False
        Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.

    Notes
    -----
    KLMS-CSL1 and KLMS-CSAL1: kernel least mean squares with a coherent dictionary and a plain or adaptive ℓ₁ regulariser (Gao, Chen, Richard, Huang
    and Flamary 2013).

    Points join as for `Knlms`, by their coherence, with `α = 0`. With `e = y − f(x)`, `k` the kernel values at the kept
    points, `x` included if it joined, and `ω` the weight of the example: `α ← α + η ω e k`. Then each coefficient moves towards 0 by its threshold and
    stops there. For CSL1 the threshold is `λ`. For CSAL1 it is `λ/|α_i + ε|` with the `α` from before the round, and `λ` for the point that joins. Points
    with a coefficient of exactly 0 leave. An emptied dictionary starts again.

    `Jd + 5J` multiply-adds a round, `Jd + 2J` numbers of memory.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.KlmsCsl1()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] - x['b'])
    >>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)
    True
    """

    _name = 'klms-csl1'
    _keys = (
        ('eta', 'eta', 0.02),
        ('mu0', 'mu0', 0.5),
        ('lambda_', 'lambda', 0.0001),
        ('max_dictionary', 'max_dictionary', 500),
    )
    _poor_score = True

    def __init__(
        self,
        *,
        eta: float | str = 0.02,
        mu0: float | str = 0.5,
        lambda_: float | str = 0.0001,
        max_dictionary: int | str | None = 500,
        kernel: str = 'auto',
        seed: int = 0,
        intervals: float | None = None,
        local_intervals: bool = False,
    ) -> None:
        self.eta = eta
        self.mu0 = mu0
        self.lambda_ = lambda_
        self.max_dictionary = max_dictionary
        self.kernel = kernel
        self.seed = seed
        self.intervals = intervals
        self.local_intervals = local_intervals


class KlmsCsl1Classifier(KernelClassifier):
    r"""Kernel least mean squares on a coherent dictionary that an ℓ₁ regulariser thins out.

    When to take it: points that are no longer used go by themselves.

    Classes: two.

    Cost: `Jd + 5J` multiply-adds a row, `Jd + 2J` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Gao et al. 2013.

    Parameters
    ----------
    eta : float | str, default 0.02
        `η`, step size; a number > 0.
    mu0 : float | str, default 0.5
        `μ₀`, largest coherence kept; a number from 0 to 1.
    lambda_ : float | str, default 0.0001
        `λ`, what a coefficient loses a round; at 0 its point leaves; a number ≥ 0.
    max_dictionary : int | str | None, default 500
        most points kept; a whole number ≥ 1, or none. None: the rule alone decides how many points are kept.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    KLMS-CSL1 and KLMS-CSAL1: kernel least mean squares with a coherent dictionary and a plain or adaptive ℓ₁ regulariser (Gao, Chen, Richard, Huang
    and Flamary 2013).

    Points join as for `Knlms`, by their coherence, with `α = 0`. With `e = y − f(x)`, `k` the kernel values at the kept
    points, `x` included if it joined, and `ω` the weight of the example: `α ← α + η ω e k`. Then each coefficient moves towards 0 by its threshold and
    stops there. For CSL1 the threshold is `λ`. For CSAL1 it is `λ/|α_i + ε|` with the `α` from before the round, and `λ` for the point that joins. Points
    with a coefficient of exactly 0 leave. An emptied dictionary starts again.

    `Jd + 5J` multiply-adds a round, `Jd + 2J` numbers of memory.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.KlmsCsl1Classifier()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'klms-csl1'
    _keys = (
        ('eta', 'eta', 0.02),
        ('mu0', 'mu0', 0.5),
        ('lambda_', 'lambda', 0.0001),
        ('max_dictionary', 'max_dictionary', 500),
    )
    _many = False
    _losses = ('squared',)

    def __init__(
        self,
        *,
        eta: float | str = 0.02,
        mu0: float | str = 0.5,
        lambda_: float | str = 0.0001,
        max_dictionary: int | str | None = 500,
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.eta = eta
        self.mu0 = mu0
        self.lambda_ = lambda_
        self.max_dictionary = max_dictionary
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class KlmsCsal1(KernelRegressor):
    r"""Kernel least mean squares on a coherent dictionary that an adaptive ℓ₁ regulariser thins out.

    When to take it: points that are no longer used go by themselves.

    Targets: one number.

    Cost: `Jd + 5J` multiply-adds a row, `Jd + 2J` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Gao et al. 2013.

    Parameters
    ----------
    eta : float | str, default 0.02
        `η`, step size; a number > 0.
    mu0 : float | str, default 0.5
        `μ₀`, largest coherence kept; a number from 0 to 1.
    lambda_ : float | str, default 1e-06
        `λ`, what a coefficient α loses a round is λ/|α + ε|; at 0 its point leaves; a number ≥ 0.
    eps_alpha : float | str, default 0.001
        `ε`, added to the coefficient that the threshold is divided by; a number ≥ 0.
    max_dictionary : int | str | None, default 500
        most points kept; a whole number ≥ 1, or none. None: the rule alone decides how many points are kept.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    intervals : float | None, default None
        The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals.
        Adaptive conformal inference.
    local_intervals : bool, default False
        Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.

    Notes
    -----
    KLMS-CSL1 and KLMS-CSAL1: kernel least mean squares with a coherent dictionary and a plain or adaptive ℓ₁ regulariser (Gao, Chen, Richard, Huang
    and Flamary 2013).

    Points join as for `Knlms`, by their coherence, with `α = 0`. With `e = y − f(x)`, `k` the kernel values at the kept
    points, `x` included if it joined, and `ω` the weight of the example: `α ← α + η ω e k`. Then each coefficient moves towards 0 by its threshold and
    stops there. For CSL1 the threshold is `λ`. For CSAL1 it is `λ/|α_i + ε|` with the `α` from before the round, and `λ` for the point that joins. Points
    with a coefficient of exactly 0 leave. An emptied dictionary starts again.

    `Jd + 5J` multiply-adds a round, `Jd + 2J` numbers of memory.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.KlmsCsal1()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] - x['b'])
    >>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)
    True
    """

    _name = 'klms-csal1'
    _keys = (
        ('eta', 'eta', 0.02),
        ('mu0', 'mu0', 0.5),
        ('lambda_', 'lambda', 1e-06),
        ('eps_alpha', 'eps_alpha', 0.001),
        ('max_dictionary', 'max_dictionary', 500),
    )
    _poor_score = True

    def __init__(
        self,
        *,
        eta: float | str = 0.02,
        mu0: float | str = 0.5,
        lambda_: float | str = 1e-06,
        eps_alpha: float | str = 0.001,
        max_dictionary: int | str | None = 500,
        kernel: str = 'auto',
        seed: int = 0,
        intervals: float | None = None,
        local_intervals: bool = False,
    ) -> None:
        self.eta = eta
        self.mu0 = mu0
        self.lambda_ = lambda_
        self.eps_alpha = eps_alpha
        self.max_dictionary = max_dictionary
        self.kernel = kernel
        self.seed = seed
        self.intervals = intervals
        self.local_intervals = local_intervals


class KlmsCsal1Classifier(KernelClassifier):
    r"""Kernel least mean squares on a coherent dictionary that an adaptive ℓ₁ regulariser thins out.

    When to take it: points that are no longer used go by themselves.

    Classes: two.

    Cost: `Jd + 5J` multiply-adds a row, `Jd + 2J` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Gao et al. 2013.

    Parameters
    ----------
    eta : float | str, default 0.02
        `η`, step size; a number > 0.
    mu0 : float | str, default 0.5
        `μ₀`, largest coherence kept; a number from 0 to 1.
    lambda_ : float | str, default 1e-06
        `λ`, what a coefficient α loses a round is λ/|α + ε|; at 0 its point leaves; a number ≥ 0.
    eps_alpha : float | str, default 0.001
        `ε`, added to the coefficient that the threshold is divided by; a number ≥ 0.
    max_dictionary : int | str | None, default 500
        most points kept; a whole number ≥ 1, or none. None: the rule alone decides how many points are kept.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    KLMS-CSL1 and KLMS-CSAL1: kernel least mean squares with a coherent dictionary and a plain or adaptive ℓ₁ regulariser (Gao, Chen, Richard, Huang
    and Flamary 2013).

    Points join as for `Knlms`, by their coherence, with `α = 0`. With `e = y − f(x)`, `k` the kernel values at the kept
    points, `x` included if it joined, and `ω` the weight of the example: `α ← α + η ω e k`. Then each coefficient moves towards 0 by its threshold and
    stops there. For CSL1 the threshold is `λ`. For CSAL1 it is `λ/|α_i + ε|` with the `α` from before the round, and `λ` for the point that joins. Points
    with a coefficient of exactly 0 leave. An emptied dictionary starts again.

    `Jd + 5J` multiply-adds a round, `Jd + 2J` numbers of memory.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.KlmsCsal1Classifier()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'klms-csal1'
    _keys = (
        ('eta', 'eta', 0.02),
        ('mu0', 'mu0', 0.5),
        ('lambda_', 'lambda', 1e-06),
        ('eps_alpha', 'eps_alpha', 0.001),
        ('max_dictionary', 'max_dictionary', 500),
    )
    _many = False
    _losses = ('squared',)

    def __init__(
        self,
        *,
        eta: float | str = 0.02,
        mu0: float | str = 0.5,
        lambda_: float | str = 1e-06,
        eps_alpha: float | str = 0.001,
        max_dictionary: int | str | None = 500,
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.eta = eta
        self.mu0 = mu0
        self.lambda_ = lambda_
        self.eps_alpha = eps_alpha
        self.max_dictionary = max_dictionary
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class KapSm(KernelRegressor):
    r"""Projected subgradients of several examples at once over a window of points.

    When to take it: outliers, with the Huber loss; a target that drifts.

    Targets: one number.

    Cost: `Jd + pd + pJ` multiply-adds a row, `Jd + 2J + pJ` numbers of memory (`t` the row, `d` the features, `J` the
    points kept, other letters the symbols below).

    Source: Slavakis et al. 2008.

    Parameters
    ----------
    mu : float | str, default 0.3
        `μ`, step size, below 2; a number > 0.
    loss : str, default 'l2'
        what is minimised; l2 or huber. One of l2, huber.
    width : float | str, default 2.0
        `s`, width of the Huber loss, in units of the target; a number > 0.
    window : int | str, default 10
        `p`, examples in the window; a whole number ≥ 1.
    max_dictionary : int | str, default 500
        most points kept; a whole number ≥ 1.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    intervals : float | None, default None
        The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals.
        Adaptive conformal inference.
    local_intervals : bool, default False
        Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.

    Notes
    -----
    KAP-SM: kernel adaptive projected subgradients (Slavakis, Theodoridis and Yamada 2008).

    With the last `q ≤ p` examples, this one included, `e_j` their errors under the current `f`, `κ_j = k(x_j, x_j)` and `ω_j` their weights: `x` joins
    with 0, and the coefficients of the `q` examples, the last ones, lose `μβ_j`, `β_j = ω_j L_j g_j/(q(g_j² κ_j + u))`, `u = 2.2e−16`. Without the factor
    `ω_j/q` and for `μ = 1`, a term projects `f` on the half-space where the linearised loss of its example is not positive. Of more than `M` points
    the oldest leaves; `p ≤ M`. The loss is

    - `l2`: `L = e²`, `g = −2e`;
    - `huber`: `L = e²/2s`, `g = −e/s` for `|e| ≤ s`, otherwise `L = |e| − s/2`, `g = −sign e`.

    A factor of the loss would leave the projection where it is, so a weight multiplies `β` instead.

    `Jd + pd + pJ` multiply-adds a round, `J(d + 2 + p)` numbers of memory.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.KapSm()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] - x['b'])
    >>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)
    True
    """

    _name = 'kap-sm'
    _keys = (
        ('mu', 'mu', 0.3),
        ('loss', 'loss', 'l2'),
        ('width', 'width', 2.0),
        ('window', 'window', 10),
        ('max_dictionary', 'max_dictionary', 500),
    )

    def __init__(
        self,
        *,
        mu: float | str = 0.3,
        loss: str = 'l2',
        width: float | str = 2.0,
        window: int | str = 10,
        max_dictionary: int | str = 500,
        kernel: str = 'auto',
        seed: int = 0,
        intervals: float | None = None,
        local_intervals: bool = False,
    ) -> None:
        self.mu = mu
        self.loss = loss
        self.width = width
        self.window = window
        self.max_dictionary = max_dictionary
        self.kernel = kernel
        self.seed = seed
        self.intervals = intervals
        self.local_intervals = local_intervals


class KapSmClassifier(KernelClassifier):
    r"""Projected subgradients of several examples at once over a window of points.

    When to take it: outliers, with the Huber loss; a target that drifts.

    Classes: two.

    Cost: `Jd + pd + pJ` multiply-adds a row, `Jd + 2J + pJ` numbers of memory (`t` the row, `d` the features, `J` the
    points kept, other letters the symbols below).

    Source: Slavakis et al. 2008.

    Parameters
    ----------
    mu : float | str, default 0.3
        `μ`, step size, below 2; a number > 0.
    loss : str, default 'l2'
        what is minimised; l2 or huber. One of l2, huber.
    width : float | str, default 2.0
        `s`, width of the Huber loss, in units of the target; a number > 0.
    window : int | str, default 10
        `p`, examples in the window; a whole number ≥ 1.
    max_dictionary : int | str, default 500
        most points kept; a whole number ≥ 1.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    KAP-SM: kernel adaptive projected subgradients (Slavakis, Theodoridis and Yamada 2008).

    With the last `q ≤ p` examples, this one included, `e_j` their errors under the current `f`, `κ_j = k(x_j, x_j)` and `ω_j` their weights: `x` joins
    with 0, and the coefficients of the `q` examples, the last ones, lose `μβ_j`, `β_j = ω_j L_j g_j/(q(g_j² κ_j + u))`, `u = 2.2e−16`. Without the factor
    `ω_j/q` and for `μ = 1`, a term projects `f` on the half-space where the linearised loss of its example is not positive. Of more than `M` points
    the oldest leaves; `p ≤ M`. The loss is

    - `l2`: `L = e²`, `g = −2e`;
    - `huber`: `L = e²/2s`, `g = −e/s` for `|e| ≤ s`, otherwise `L = |e| − s/2`, `g = −sign e`.

    A factor of the loss would leave the projection where it is, so a weight multiplies `β` instead.

    `Jd + pd + pJ` multiply-adds a round, `J(d + 2 + p)` numbers of memory.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.KapSmClassifier()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'kap-sm'
    _keys = (
        ('mu', 'mu', 0.3),
        ('loss', 'loss', 'l2'),
        ('width', 'width', 2.0),
        ('window', 'window', 10),
        ('max_dictionary', 'max_dictionary', 500),
    )
    _many = False
    _losses = ('l2',)

    def __init__(
        self,
        *,
        mu: float | str = 0.3,
        loss: str = 'l2',
        width: float | str = 2.0,
        window: int | str = 10,
        max_dictionary: int | str = 500,
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.mu = mu
        self.loss = loss
        self.width = width
        self.window = window
        self.max_dictionary = max_dictionary
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class QklmsFb(KernelRegressor):
    r"""Quantised kernel least mean squares; the least significant point leaves a full dictionary.

    When to take it: cheap steps on a budget; drift.

    Targets: one number.

    Cost: `3Jd + 4J` multiply-adds a row, `Jd + 4J` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Zhao et al. 2013.

    Parameters
    ----------
    eta : float | str, default 0.1
        `η`, step size, below 2/k(x,x); a number > 0.
    epsilon : float | str, default 'auto'
        `ε`, inputs this near share a point; a number ≥ 0. "auto": the median distance of the first rows (200 at most)
        to their nearest; 0 if all are the same (ours: the papers choose by hand).
    beta : float | str, default 0.999
        `β`, forgetting factor of the significance of points; a number from 0 to 1.
    max_dictionary : int | str, default 1000
        most points kept; a whole number ≥ 1.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    intervals : float | None, default None
        The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals.
        Adaptive conformal inference.
    local_intervals : bool, default False
        Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.

    Notes
    -----
    QKLMS-FB: quantised kernel least mean squares with a fixed budget (Zhao, Chen, Zhu and Principe 2013).

    As `Qklms`, but a full dictionary makes room: the point of the least significance `E` leaves, the first of several. With
    `e = y − f(x)`, `s = η ω e`, `ω` the weight of the example, `L` the influence of a point and `c = πσ²/2` for a Gaussian of width `σ`:

    - `x` merges into `j`: `E_i ← βE_i + c|α_i| k(d_i, d_j)` for `i ≠ j`; `E_j ← |α_j + s| (βE_j/|α_j| + c)` with the `α` from before, or `c|α_j + s|` if
      that is 0; `α_j ← α_j + s`; `L ← βL`, then `L_j ← L_j + 1`;
    - `x` joins with `s`: `E ← β[E; 0] + c|s| k(·, x)`, `L ← [βL; 1]`;
    - point `l` leaves before: `E_i ← E_i − L_l c|α_i| k(d_i, d_l)`, and `e` is the error without it.

    All terms of `E` have the factor `c`, so no decision depends on it, and `E` is kept in units of `c`. The source knows Gaussians only. Other kernels are
    used in the same way; in `E_j`, `c` then has the factor `k(d_j, d_j)`.

    `3Jd + 4J` multiply-adds a round at most, `Jd + 4J` numbers of memory.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.QklmsFb()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] - x['b'])
    >>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)
    True
    """

    _name = 'qklms-fb'
    _keys = (
        ('eta', 'eta', 0.1),
        ('epsilon', 'epsilon', 'auto'),
        ('beta', 'beta', 0.999),
        ('max_dictionary', 'max_dictionary', 1000),
    )

    def __init__(
        self,
        *,
        eta: float | str = 0.1,
        epsilon: float | str = 'auto',
        beta: float | str = 0.999,
        max_dictionary: int | str = 1000,
        kernel: str = 'auto',
        seed: int = 0,
        intervals: float | None = None,
        local_intervals: bool = False,
    ) -> None:
        self.eta = eta
        self.epsilon = epsilon
        self.beta = beta
        self.max_dictionary = max_dictionary
        self.kernel = kernel
        self.seed = seed
        self.intervals = intervals
        self.local_intervals = local_intervals


class QklmsFbClassifier(KernelClassifier):
    r"""Quantised kernel least mean squares; the least significant point leaves a full dictionary.

    When to take it: cheap steps on a budget; drift.

    Classes: two.

    Cost: `3Jd + 4J` multiply-adds a row, `Jd + 4J` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Zhao et al. 2013.

    Parameters
    ----------
    eta : float | str, default 0.1
        `η`, step size, below 2/k(x,x); a number > 0.
    epsilon : float | str, default 'auto'
        `ε`, inputs this near share a point; a number ≥ 0. "auto": the median distance of the first rows (200 at most)
        to their nearest; 0 if all are the same (ours: the papers choose by hand).
    beta : float | str, default 0.999
        `β`, forgetting factor of the significance of points; a number from 0 to 1.
    max_dictionary : int | str, default 1000
        most points kept; a whole number ≥ 1.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    QKLMS-FB: quantised kernel least mean squares with a fixed budget (Zhao, Chen, Zhu and Principe 2013).

    As `Qklms`, but a full dictionary makes room: the point of the least significance `E` leaves, the first of several. With
    `e = y − f(x)`, `s = η ω e`, `ω` the weight of the example, `L` the influence of a point and `c = πσ²/2` for a Gaussian of width `σ`:

    - `x` merges into `j`: `E_i ← βE_i + c|α_i| k(d_i, d_j)` for `i ≠ j`; `E_j ← |α_j + s| (βE_j/|α_j| + c)` with the `α` from before, or `c|α_j + s|` if
      that is 0; `α_j ← α_j + s`; `L ← βL`, then `L_j ← L_j + 1`;
    - `x` joins with `s`: `E ← β[E; 0] + c|s| k(·, x)`, `L ← [βL; 1]`;
    - point `l` leaves before: `E_i ← E_i − L_l c|α_i| k(d_i, d_l)`, and `e` is the error without it.

    All terms of `E` have the factor `c`, so no decision depends on it, and `E` is kept in units of `c`. The source knows Gaussians only. Other kernels are
    used in the same way; in `E_j`, `c` then has the factor `k(d_j, d_j)`.

    `3Jd + 4J` multiply-adds a round at most, `Jd + 4J` numbers of memory.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.QklmsFbClassifier()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'qklms-fb'
    _keys = (
        ('eta', 'eta', 0.1),
        ('epsilon', 'epsilon', 'auto'),
        ('beta', 'beta', 0.999),
        ('max_dictionary', 'max_dictionary', 1000),
    )
    _many = False
    _losses = ('squared',)

    def __init__(
        self,
        *,
        eta: float | str = 0.1,
        epsilon: float | str = 'auto',
        beta: float | str = 0.999,
        max_dictionary: int | str = 1000,
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.eta = eta
        self.epsilon = epsilon
        self.beta = beta
        self.max_dictionary = max_dictionary
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class Perceptron(KernelClassifier):
    r"""Kernel perceptron: every mistake is kept.

    When to take it: two classes; few mistakes.

    Classes: two.

    Cost: `Jd + J` multiply-adds a row, `Jd + 2J` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below). Memory grows: every mistake is kept.

    Source: Freund and Schapire 1999.

    Parameters
    ----------
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    The kernel perceptron (Freund and Schapire 1999).

    A mistake, `y f(x) ≤ 0`, keeps `x` with the coefficient `ωy`, `ω` being the weight of the example; nothing else is learnt. `Jd + J`
    multiply-adds a round, `Jd + 2J` numbers of memory for `J` mistakes.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.Perceptron()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'perceptron'
    _keys = (
    )
    _many = False
    _losses = ('hinge',)

    def __init__(
        self,
        *,
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class Rbp(KernelClassifier):
    r"""Perceptron on a budget: a random point leaves.

    When to take it: two classes; the cheapest on a budget.

    Classes: two.

    Cost: `Bd + B` multiply-adds a row, `Bd + 2B` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Cavallanti et al. 2007.

    Parameters
    ----------
    budget : int | str, default 500
        `B`, most points kept; a whole number ≥ 1.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    RBP: the perceptron on a budget from which points leave at random (Cavallanti, Cesa-Bianchi and Gentile 2007).

    A mistake, `y f(x) ≤ 0`, keeps `x` with the coefficient `ωy`, `ω` being the weight of the example. If there are then more than `B`
    points, one of the `B` older ones leaves, each as likely as the others. `Jd + J` multiply-adds a round, `Jd + 2J` numbers of memory.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.Rbp()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'rbp'
    _keys = (
        ('budget', 'budget', 500),
    )
    _many = False
    _losses = ('hinge',)

    def __init__(
        self,
        *,
        budget: int | str = 500,
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.budget = budget
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class Forgetron(KernelClassifier):
    r"""Perceptron on a budget: points fade, the oldest leaves.

    When to take it: two classes; drift, with a bound on mistakes.

    Classes: two.

    Cost: `2Bd + 3B` multiply-adds a row, `Bd + 2B` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Dekel et al. 2008.

    Parameters
    ----------
    budget : int | str, default 500
        `B`, most points kept; a whole number ≥ 1.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    The self-tuned Forgetron: the perceptron on a budget whose points fade before they leave (Dekel, Shalev-Shwartz and Singer 2008).

    A mistake, `y f(x) ≤ 0`, keeps `x` with the coefficient `ωy`, `ω` being the weight of the example, and counts `M ← M + ω`. If there are then
    more than `B` points, all coefficients are multiplied by `φ` and the oldest point `r` leaves. With `s = |α_r|`, `μ = sign(α_r) f(d_r)`, `x` being
    part of `f`, and `Ψ(φ) = (sφ)² + 2sφ(1 − φμ)` what its removal may cost, `φ` is the largest number in `(0, 1]` with `Q + Ψ(φ) ≤ 15M/32`; then
    `Q ← Q + Ψ(φ)`. As `(s² − 2sμ)φ² + 2sφ + (Q − 15M/32)` is negative at 0, that is 1 or its first root. `Jd + J` multiply-adds a round and
    `Jd + 2J` more where a point leaves, `Jd + 2J` numbers of memory.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.Forgetron()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'forgetron'
    _keys = (
        ('budget', 'budget', 500),
    )
    _many = False
    _losses = ('hinge',)

    def __init__(
        self,
        *,
        budget: int | str = 500,
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.budget = budget
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class Projectron(KernelClassifier):
    r"""Perceptron that projects mistakes near its span.

    When to take it: two classes; few points.

    Classes: two.

    Cost: `Jd + ½J²` multiply-adds a row, `Jd + ½J²` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Orabona et al. 2009.

    Parameters
    ----------
    eta : float | str, default 0.1
        `η`, distance from the span beyond which a mistake is kept; larger keeps fewer points; a number ≥ 0.
    max_dictionary : int | str | None, default 1000
        most points kept; a whole number ≥ 1, or none. None: the rule alone decides how many points are kept.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    Projectron and Projectron++: classifiers that learn a mistake inside of the span without a further point (Orabona, Keshet and
    Caputo 2009).

    With `δ` the squared distance of `k(x, ·)` from the span of the dictionary: a mistake, `y f(x) ≤ 0`, keeps `x` with the coefficient `ωy` if
    `√δ > η`, and otherwise, or when the dictionary is full, adds the projection of `ωy k(x, ·)`; `ω` is the weight of the example. Projectron++
    learns margins below 1 as well, as `ProjectionStep` says, and keeps no point for them. `η` is a distance in units of `√k(x, x)`. Distances
    that are zero to rounding (1e−13 of `k(x, x)` in the square) count as 0. `Jd + ½J² + 3J` multiply-adds a round, `Jd + ½J² + J`
    numbers of memory.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.Projectron()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'projectron'
    _keys = (
        ('eta', 'eta', 0.1),
        ('max_dictionary', 'max_dictionary', 1000),
    )
    _many = False
    _losses = ('hinge',)

    def __init__(
        self,
        *,
        eta: float | str = 0.1,
        max_dictionary: int | str | None = 1000,
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.eta = eta
        self.max_dictionary = max_dictionary
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class ProjectronPlus(KernelClassifier):
    r"""Projectron that learns margins below 1 too.

    When to take it: two classes; few points, more accurate than projectron.

    Classes: two.

    Cost: `Jd + ½J²` multiply-adds a row, `Jd + ½J²` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Orabona et al. 2009.

    Parameters
    ----------
    eta : float | str, default 0.1
        `η`, distance from the span beyond which a mistake is kept; larger keeps fewer points and learns more margins;
        a number > 0.
    max_dictionary : int | str | None, default 1000
        most points kept; a whole number ≥ 1, or none. None: the rule alone decides how many points are kept.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    Projectron and Projectron++: classifiers that learn a mistake inside of the span without a further point (Orabona, Keshet and
    Caputo 2009).

    With `δ` the squared distance of `k(x, ·)` from the span of the dictionary: a mistake, `y f(x) ≤ 0`, keeps `x` with the coefficient `ωy` if
    `√δ > η`, and otherwise, or when the dictionary is full, adds the projection of `ωy k(x, ·)`; `ω` is the weight of the example. Projectron++
    learns margins below 1 as well, as `ProjectionStep` says, and keeps no point for them. `η` is a distance in units of `√k(x, x)`. Distances
    that are zero to rounding (1e−13 of `k(x, x)` in the square) count as 0. `Jd + ½J² + 3J` multiply-adds a round, `Jd + ½J² + J`
    numbers of memory.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.ProjectronPlus()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'projectron++'
    _keys = (
        ('eta', 'eta', 0.1),
        ('max_dictionary', 'max_dictionary', 1000),
    )
    _many = False
    _losses = ('hinge',)

    def __init__(
        self,
        *,
        eta: float | str = 0.1,
        max_dictionary: int | str | None = 1000,
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.eta = eta
        self.max_dictionary = max_dictionary
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class BpaS(KernelClassifier):
    r"""Passive-aggressive on a budget: the least costly point is replaced.

    When to take it: two classes; small budgets.

    Classes: two.

    Cost: `Bd + 8B` multiply-adds a row, `Bd + 2B` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Wang and Vucetic 2010.

    Parameters
    ----------
    budget : int | str, default 500
        `B`, most points kept; a whole number ≥ 1.
    C : float | str, default 1.0
        `C`, largest step; a number > 0.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    BPA-S: passive-aggressive learning on a budget, where the example takes the place of one point (Wang and Vucetic 2010).

    For kernels with `k(x, x) = 1`; others are refused. An example of weight `ω` with the hinge loss `ℓ > 0` has the step
    `τ = min(ωC, ℓ)`. While there are fewer than `B` points it is kept with the coefficient `yτ`. Then, for each point `r` with `k_r = k(d_r, x)`:
    in its place `x` would have the coefficient `b_r = α_r k_r + yτ` at the cost
    `Q_r = ½(α_r² + b_r² − 2α_r b_r k_r) + ωC max(0, 1 − y(f(x) − α_r k_r + b_r))`, and the point of the least cost, the first of several, leaves.
    `Jd + 8J` multiply-adds a round, `Jd + 2J` numbers of memory.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.BpaS()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'bpa-s'
    _keys = (
        ('budget', 'budget', 500),
        ('C', 'C', 1.0),
    )
    _many = False
    _losses = ('hinge',)

    def __init__(
        self,
        *,
        budget: int | str = 500,
        C: float | str = 1.0,
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.budget = budget
        self.C = C
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class Pa(KernelClassifier):
    r"""Passive-aggressive: every margin below 1 is kept.

    When to take it: two classes; short streams.

    Classes: two.

    Cost: `Jd + J` multiply-adds a row, `Jd + 2J` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below). Memory grows: every example with a margin below 1 is kept.

    Source: Crammer et al. 2006.

    Parameters
    ----------
    C : float | str, default 1.0
        `C`, aggressiveness; smaller for noisy classes; a number > 0.
    variant : str, default '1'
        1 bounds steps by C (PA-I), 2 squares the loss (PA-II); 1 or 2. One of 1, 2.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    PA-I and PA-II: passive-aggressive learning (Crammer, Dekel, Keshet, Shalev-Shwartz and Singer 2006).

    An example of weight `ω` with the hinge loss `ℓ > 0` is kept with the coefficient `yτ`: `τ = min(ωC, ℓ/κ)` for PA-I and
    `τ = ℓ/(κ + 1/(2ωC))` for PA-II, with `κ = k(x, x)`. They minimise `½‖f − f_t‖² + ωCℓ` and `½‖f − f_t‖² + ωCℓ²`. `Jd + J` multiply-adds a round,
    `Jd + 2J` numbers of memory for `J` examples with a loss.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.Pa()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'pa'
    _keys = (
        ('C', 'C', 1.0),
        ('variant', 'variant', '1'),
    )
    _many = False
    _losses = ('hinge',)

    def __init__(
        self,
        *,
        C: float | str = 1.0,
        variant: str = '1',
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.C = C
        self.variant = variant
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class Bogd(KernelClassifier):
    r"""Gradient descent on a budget: a random point leaves.

    When to take it: two classes; noisy classes.

    Classes: two.

    Cost: `Bd + 2B` multiply-adds a row, `Bd + 2B` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Zhao et al. 2012.

    Parameters
    ----------
    budget : int | str, default 500
        `B`, most points kept; a whole number ≥ 1.
    eta : float | str, default 0.5
        `η`, step size; a number > 0.
    lambda_ : float | str, default 0.001
        `λ`, regulariser; a number ≥ 0, at most 1/eta.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    BOGD: gradient descent on the hinge loss, on a budget from which points leave at random (Zhao, Wang, Wu, Jin and Hoi 2012).

    Every round multiplies the coefficients by `1 − ηλ`. If the hinge loss of the score before is positive, `x` joins with the coefficient
    `ηωy`, `ω` being the weight of the example. If there are then more than `B` points, one of the `B` older ones leaves, each as likely as the
    others, and those that stay are multiplied by `B/(B − 1)`, so that their expected sum is what it was; the new one is not. `Jd + 2J`
    multiply-adds a round, `Jd + 2J` numbers of memory.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.Bogd()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'bogd'
    _keys = (
        ('budget', 'budget', 500),
        ('eta', 'eta', 0.5),
        ('lambda_', 'lambda', 0.001),
    )
    _many = False
    _losses = ('hinge',)

    def __init__(
        self,
        *,
        budget: int | str = 500,
        eta: float | str = 0.5,
        lambda_: float | str = 0.001,
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.budget = budget
        self.eta = eta
        self.lambda_ = lambda_
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class Pegasos(KernelClassifier):
    r"""Support vector machine by subgradient steps, on a budget.

    When to take it: two classes; a stream without drift.

    Classes: two.

    Cost: `Bd + 2B` multiply-adds a row, `Bd + 2B` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Wang et al. 2012.

    Parameters
    ----------
    budget : int | str, default 500
        `B`, most points kept; a whole number ≥ 1.
    lambda_ : float | str, default 0.001
        `λ`, regulariser; smaller takes longer steps; a number > 0.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    Pegasos on a budget: subgradient steps on the objective of the support vector machine (Shalev-Shwartz, Singer and Srebro 2007; Wang,
    Crammer and Vucetic 2012).

    Round `t` multiplies the coefficients by `1 − 1/t`. If the hinge loss of the score before is positive, `x` joins with the coefficient
    `ωy/(λt)`, `ω` being the weight of the example; if there are then more than `B` points, the oldest leaves. Rounds of weight 0 do not count.
    `Jd + 2J` multiply-adds a round, `Jd + 2J` numbers of memory.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.Pegasos()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'pegasos'
    _keys = (
        ('budget', 'budget', 500),
        ('lambda_', 'lambda', 0.001),
    )
    _many = False
    _losses = ('hinge',)

    def __init__(
        self,
        *,
        budget: int | str = 500,
        lambda_: float | str = 0.001,
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.budget = budget
        self.lambda_ = lambda_
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class SwKrls(KernelRegressor):
    r"""Sliding-window kernel recursive least squares: ridge regression on the last examples.

    When to take it: drift and switches: forgets all that is older than its window.

    Targets: one number, or several at once.

    Cost: `Jd + 2½J²` multiply-adds a row, `Jd + ½J²` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Van Vaerenbergh et al. 2006.

    Parameters
    ----------
    lambda_ : float | str, default 0.1
        `λ`, ridge; a number > 0.
    window : int | str, default 200
        `M`, examples that count; a whole number ≥ 1.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    intervals : float | None, default None
        The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals.
        Adaptive conformal inference.
    local_intervals : bool, default False
        Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.

    Notes
    -----
    SW-KRLS: sliding-window kernel recursive least squares (Van Vaerenbergh, Vía and Santamaría 2006).

    `f` is the kernel ridge regression on the last `M` examples, `f(x) = kᵀα` with `α = (K + λI)⁻¹y`; weights `ω` make that `K + λΩ⁻¹`. The state is the factor
    `L Lᵀ = K + λΩ⁻¹` and `q = L⁻¹y`, so `f(x) = (L⁻¹k)ᵀq`. A new example appends a row to `L` and an entry to `q`; the oldest leaves by
    plane rotations, which act on `q` as well. The paper updates `(K + λI)⁻¹` itself. Here no inverse exists, rotations lose no digits, and what rounding left leaves
    the window with its example: after any number of rounds the fit is as exact as one made anew. `Jd + 2½J²` multiply-adds a round, `Jd + ½J²` numbers of memory.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.SwKrls()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] - x['b'])
    >>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)
    True
    """

    _name = 'sw-krls'
    _keys = (
        ('lambda_', 'lambda', 0.1),
        ('window', 'window', 200),
    )
    _vectors = True

    def __init__(
        self,
        *,
        lambda_: float | str = 0.1,
        window: int | str = 200,
        kernel: str = 'auto',
        seed: int = 0,
        intervals: float | None = None,
        local_intervals: bool = False,
    ) -> None:
        self.lambda_ = lambda_
        self.window = window
        self.kernel = kernel
        self.seed = seed
        self.intervals = intervals
        self.local_intervals = local_intervals


class SwKrlsClassifier(KernelClassifier):
    r"""Sliding-window kernel recursive least squares: ridge regression on the last examples.

    When to take it: drift and switches: forgets all that is older than its window.

    Classes: any number.

    Cost: `Jd + 2½J²` multiply-adds a row, `Jd + ½J²` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Van Vaerenbergh et al. 2006.

    Parameters
    ----------
    lambda_ : float | str, default 0.1
        `λ`, ridge; a number > 0.
    window : int | str, default 200
        `M`, examples that count; a whole number ≥ 1.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    SW-KRLS: sliding-window kernel recursive least squares (Van Vaerenbergh, Vía and Santamaría 2006).

    `f` is the kernel ridge regression on the last `M` examples, `f(x) = kᵀα` with `α = (K + λI)⁻¹y`; weights `ω` make that `K + λΩ⁻¹`. The state is the factor
    `L Lᵀ = K + λΩ⁻¹` and `q = L⁻¹y`, so `f(x) = (L⁻¹k)ᵀq`. A new example appends a row to `L` and an entry to `q`; the oldest leaves by
    plane rotations, which act on `q` as well. The paper updates `(K + λI)⁻¹` itself. Here no inverse exists, rotations lose no digits, and what rounding left leaves
    the window with its example: after any number of rounds the fit is as exact as one made anew. `Jd + 2½J²` multiply-adds a round, `Jd + ½J²` numbers of memory.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.SwKrlsClassifier()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'sw-krls'
    _keys = (
        ('lambda_', 'lambda', 0.1),
        ('window', 'window', 200),
    )
    _many = True
    _losses = ('squared',)

    def __init__(
        self,
        *,
        lambda_: float | str = 0.1,
        window: int | str = 200,
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.lambda_ = lambda_
        self.window = window
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class FbKrls(KernelRegressor):
    r"""Fixed-budget kernel recursive least squares: ridge regression on the examples that matter most.

    When to take it: a small dictionary for data without drift; eta_y > 0 for slow drift.

    Targets: one number.

    Cost: `Jd + 3½J²` multiply-adds a row, `Jd + ½J²` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Van Vaerenbergh et al. 2010.

    Parameters
    ----------
    lambda_ : float | str, default 0.1
        `λ`, ridge; a number > 0.
    max_dictionary : int | str, default 200
        `M`, examples kept; a whole number ≥ 1.
    eta_y : float | str, default 0.0
        `η_y`, step size with which stored labels follow new targets; 0 leaves them; a number ≥ 0.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    intervals : float | None, default None
        The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals.
        Adaptive conformal inference.
    local_intervals : bool, default False
        Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.

    Notes
    -----
    FB-KRLS: fixed-budget kernel recursive least squares (Van Vaerenbergh, Santamaría, Liu and Príncipe 2010).

    `f` is the kernel ridge regression on the `M` examples kept, `α = (K + λI)⁻¹ỹ`. A new example joins them; of the `M + 1` the one with the least
    `|α_i|/[(K + λI)⁻¹]_ii` then leaves, the oldest of several. With `η_y > 0` the stored labels move first, `ỹ_i ← ỹ_i + η_y ω k(d_i, x)(y − ỹ_i)`. Weights `ω` make the matrix
    `K + λΩ⁻¹`. As in `SwKrls` the state is the factor `L` of that matrix and `q = L⁻¹ỹ`, and a point leaves by rotations;
    the diagonal of the inverse is kept up to date. The paper updates the inverse itself. `Jd + 3½J²` multiply-adds a round (`½J²` more with `η_y > 0`),
    `Jd + ½J²` numbers of memory.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.FbKrls()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] - x['b'])
    >>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)
    True
    """

    _name = 'fb-krls'
    _keys = (
        ('lambda_', 'lambda', 0.1),
        ('max_dictionary', 'max_dictionary', 200),
        ('eta_y', 'eta_y', 0.0),
    )

    def __init__(
        self,
        *,
        lambda_: float | str = 0.1,
        max_dictionary: int | str = 200,
        eta_y: float | str = 0.0,
        kernel: str = 'auto',
        seed: int = 0,
        intervals: float | None = None,
        local_intervals: bool = False,
    ) -> None:
        self.lambda_ = lambda_
        self.max_dictionary = max_dictionary
        self.eta_y = eta_y
        self.kernel = kernel
        self.seed = seed
        self.intervals = intervals
        self.local_intervals = local_intervals


class FbKrlsClassifier(KernelClassifier):
    r"""Fixed-budget kernel recursive least squares: ridge regression on the examples that matter most.

    When to take it: a small dictionary for data without drift; eta_y > 0 for slow drift.

    Classes: two.

    Cost: `Jd + 3½J²` multiply-adds a row, `Jd + ½J²` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Van Vaerenbergh et al. 2010.

    Parameters
    ----------
    lambda_ : float | str, default 0.1
        `λ`, ridge; a number > 0.
    max_dictionary : int | str, default 200
        `M`, examples kept; a whole number ≥ 1.
    eta_y : float | str, default 0.0
        `η_y`, step size with which stored labels follow new targets; 0 leaves them; a number ≥ 0.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    FB-KRLS: fixed-budget kernel recursive least squares (Van Vaerenbergh, Santamaría, Liu and Príncipe 2010).

    `f` is the kernel ridge regression on the `M` examples kept, `α = (K + λI)⁻¹ỹ`. A new example joins them; of the `M + 1` the one with the least
    `|α_i|/[(K + λI)⁻¹]_ii` then leaves, the oldest of several. With `η_y > 0` the stored labels move first, `ỹ_i ← ỹ_i + η_y ω k(d_i, x)(y − ỹ_i)`. Weights `ω` make the matrix
    `K + λΩ⁻¹`. As in `SwKrls` the state is the factor `L` of that matrix and `q = L⁻¹ỹ`, and a point leaves by rotations;
    the diagonal of the inverse is kept up to date. The paper updates the inverse itself. `Jd + 3½J²` multiply-adds a round (`½J²` more with `η_y > 0`),
    `Jd + ½J²` numbers of memory.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.FbKrlsClassifier()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'fb-krls'
    _keys = (
        ('lambda_', 'lambda', 0.1),
        ('max_dictionary', 'max_dictionary', 200),
        ('eta_y', 'eta_y', 0.0),
    )
    _many = False
    _losses = ('squared',)

    def __init__(
        self,
        *,
        lambda_: float | str = 0.1,
        max_dictionary: int | str = 200,
        eta_y: float | str = 0.0,
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.lambda_ = lambda_
        self.max_dictionary = max_dictionary
        self.eta_y = eta_y
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class KrlsT(KernelRegressor):
    r"""Kernel recursive least-squares tracker: a Gaussian process that forgets, on a budget.

    When to take it: drift and switches, with a variance; forgets smoothly.

    Targets: one number.

    Cost: `Jd + 8J²` multiply-adds a row, `Jd + J²` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Van Vaerenbergh et al. 2012.

    Parameters
    ----------
    forgetting : float | str, default 0.999
        `λ`, share of the past that a row leaves: about 1/(1 − λ) rows are remembered; 1 forgets nothing; a number
        above 0, at most 1.
    noise : float | str, default 0.1
        `σ²`, variance of the noise; a number > 0.
    jitter : float | str, default 1e-06
        added to k(x,x); a number ≥ 0.
    max_dictionary : int | str | None, default 200
        most points kept; a whole number ≥ 1, or none. None: the rule alone decides how many points are kept.
    rule : str, default 'b2p'
        how it forgets: back to the prior, or by injected uncertainty; b2p or ui. One of b2p, ui.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    intervals : float | None, default None
        The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals.
        Adaptive conformal inference.
    local_intervals : bool, default False
        Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.

    Notes
    -----
    KRLS-T: the kernel recursive least-squares tracker (Van Vaerenbergh, Lázaro-Gredilla and Santamaría 2012).

    `f` is a Gaussian process with covariance `k`, observed with noise of variance `σ²/ω`, `ω` being the weight of the example; the posterior at the kept points is
    carried on. Every point joins; beyond `M` points the one leaves whose removal moves `f` least, `|(K⁻¹μ)_i|/[K⁻¹]_ii`, and
    is marginalised. Between two rounds the past is forgotten, by a rule: back to the prior (`b2p`), `Σ ← λΣ + (1−λ)K`,
    `μ ← √λ μ`, or by injected uncertainty (`ui`), `Σ ← Σ/λ`. A prediction is made after forgetting; its variance is `s₀² s_y`, where
    `s_y = σ² + Var f(x)` and `s₀² = Σλ(y − m)²/s_y ÷ Σλ` is the scale of the targets (the first round counts 1 and not `λ`).
    With `λ = 1` and no budget it is the Gaussian process.

    The paper recurses `K⁻¹`. Here the posterior stands in Newton coordinates: `f(x) = cᵀφ` with `c ~ N(w, σ²P)`, `w` and `P` being those of `LeastSquares`
    with ridge `σ²`. There the prior of `c` is the identity, `b2p` is `P ← λP + (1−λ)I/σ²`, and marginalising drops a coordinate. `k(x, x)` of an
    example is raised by a jitter, so that repeated points may join; this loses no digits at small jitters, where the
    recursion of `K⁻¹` does. `Jd + 8J²` multiply-adds a round, `Jd + J²` numbers of memory.

    Differences from the paper: with `ui` a round forgets nothing while the trace of `P` exceeds 10⁶ times the prior's, see `Forgetting::Exponential`; without
    jitter a point in the span of the kept ones does not join.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.KrlsT()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] - x['b'])
    >>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)
    True
    """

    _name = 'krls-t'
    _keys = (
        ('forgetting', 'forgetting', 0.999),
        ('noise', 'noise', 0.1),
        ('jitter', 'jitter', 1e-06),
        ('max_dictionary', 'max_dictionary', 200),
        ('rule', 'rule', 'b2p'),
    )

    def __init__(
        self,
        *,
        forgetting: float | str = 0.999,
        noise: float | str = 0.1,
        jitter: float | str = 1e-06,
        max_dictionary: int | str | None = 200,
        rule: str = 'b2p',
        kernel: str = 'auto',
        seed: int = 0,
        intervals: float | None = None,
        local_intervals: bool = False,
    ) -> None:
        self.forgetting = forgetting
        self.noise = noise
        self.jitter = jitter
        self.max_dictionary = max_dictionary
        self.rule = rule
        self.kernel = kernel
        self.seed = seed
        self.intervals = intervals
        self.local_intervals = local_intervals


class KrlsTClassifier(KernelClassifier):
    r"""Kernel recursive least-squares tracker: a Gaussian process that forgets, on a budget.

    When to take it: drift and switches, with a variance; forgets smoothly.

    Classes: two.

    Cost: `Jd + 8J²` multiply-adds a row, `Jd + J²` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Van Vaerenbergh et al. 2012.

    Parameters
    ----------
    forgetting : float | str, default 0.999
        `λ`, share of the past that a row leaves: about 1/(1 − λ) rows are remembered; 1 forgets nothing; a number
        above 0, at most 1.
    noise : float | str, default 0.1
        `σ²`, variance of the noise; a number > 0.
    jitter : float | str, default 1e-06
        added to k(x,x); a number ≥ 0.
    max_dictionary : int | str | None, default 200
        most points kept; a whole number ≥ 1, or none. None: the rule alone decides how many points are kept.
    rule : str, default 'b2p'
        how it forgets: back to the prior, or by injected uncertainty; b2p or ui. One of b2p, ui.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    KRLS-T: the kernel recursive least-squares tracker (Van Vaerenbergh, Lázaro-Gredilla and Santamaría 2012).

    `f` is a Gaussian process with covariance `k`, observed with noise of variance `σ²/ω`, `ω` being the weight of the example; the posterior at the kept points is
    carried on. Every point joins; beyond `M` points the one leaves whose removal moves `f` least, `|(K⁻¹μ)_i|/[K⁻¹]_ii`, and
    is marginalised. Between two rounds the past is forgotten, by a rule: back to the prior (`b2p`), `Σ ← λΣ + (1−λ)K`,
    `μ ← √λ μ`, or by injected uncertainty (`ui`), `Σ ← Σ/λ`. A prediction is made after forgetting; its variance is `s₀² s_y`, where
    `s_y = σ² + Var f(x)` and `s₀² = Σλ(y − m)²/s_y ÷ Σλ` is the scale of the targets (the first round counts 1 and not `λ`).
    With `λ = 1` and no budget it is the Gaussian process.

    The paper recurses `K⁻¹`. Here the posterior stands in Newton coordinates: `f(x) = cᵀφ` with `c ~ N(w, σ²P)`, `w` and `P` being those of `LeastSquares`
    with ridge `σ²`. There the prior of `c` is the identity, `b2p` is `P ← λP + (1−λ)I/σ²`, and marginalising drops a coordinate. `k(x, x)` of an
    example is raised by a jitter, so that repeated points may join; this loses no digits at small jitters, where the
    recursion of `K⁻¹` does. `Jd + 8J²` multiply-adds a round, `Jd + J²` numbers of memory.

    Differences from the paper: with `ui` a round forgets nothing while the trace of `P` exceeds 10⁶ times the prior's, see `Forgetting::Exponential`; without
    jitter a point in the span of the kept ones does not join.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.KrlsTClassifier()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'krls-t'
    _keys = (
        ('forgetting', 'forgetting', 0.999),
        ('noise', 'noise', 0.1),
        ('jitter', 'jitter', 1e-06),
        ('max_dictionary', 'max_dictionary', 200),
        ('rule', 'rule', 'b2p'),
    )
    _many = False
    _losses = ('squared',)

    def __init__(
        self,
        *,
        forgetting: float | str = 0.999,
        noise: float | str = 0.1,
        jitter: float | str = 1e-06,
        max_dictionary: int | str | None = 200,
        rule: str = 'b2p',
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.forgetting = forgetting
        self.noise = noise
        self.jitter = jitter
        self.max_dictionary = max_dictionary
        self.rule = rule
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class ExKrls(KernelRegressor):
    r"""Extended kernel recursive least squares: a state-space model of a function that moves.

    When to take it: some hundred rows of a function that drifts; later rows teach nothing.

    Targets: one number.

    Cost: `Jd + J²` multiply-adds a row, `Jd + ½J²` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Liu et al. 2009.

    Parameters
    ----------
    alpha : float | str, default 0.999
        `a`, state transition; a number > 0.
    beta : float | str, default 1.0
        `β`, weight of past errors a round; a number above 0, at most 1.
    lambda_ : float | str, default 0.1
        `λ`, regulariser; a number > 0.
    q : float | str, default 0.001
        `q`, state noise; a number ≥ 0.
    max_dictionary : int | str | None, default 1000
        most points kept; a whole number ≥ 1, or none. None: the rule alone decides how many points are kept.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    intervals : float | None, default None
        The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals.
        Adaptive conformal inference.
    local_intervals : bool, default False
        Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.

    Notes
    -----
    EX-KRLS: extended kernel recursive least squares (Liu, Park, Wang and Príncipe 2009).

    A state-space model: the function moves by `f ← a f` between two rounds, with noise of size `q`, and is observed with noise; `β` discounts the past, `λ` is the
    regulariser. In round `i`, with kernel row `k`, `κ = k(x, x)`, `e = y − kᵀα` and `ω` the weight of the example (noise `1/ω`):
    `z = Qk`, `r = βⁱρ/ω + κ − kᵀz`, `α ← a[α − ze/r; e/r]`, `d = a² + βⁱqρ`, `ρ ← ρ/d`, `Q ← (a²/d)[Q + zzᵀ/r, −z/r; −zᵀ/r, 1/r]`, from `ρ = λ`
    and nothing else. When the dictionary is full nothing is learnt, but `i` counts on. `Jd + J²` multiply-adds a round while it grows, `Jd + J` after, `Jd + ½J²`
    numbers of memory.

    **Range.** The recursion carries an inverse: `Q` is near `(K + βⁱρ I)⁻¹`, and rounding grows with the square of its condition. On up to 500 points
    under a Gaussian kernel predictions agree with the exact solution to 1e-7 while `βⁱρ` stays above 1e-3 `κ`, to 1e-5 above 1e-4 `κ`, and have lost all digits at
    1e-6 `κ`. A `β` below 1 lets `βⁱρ` vanish as the dictionary grows: 0.995 makes it 1e-3 of `λ` after 1400 rounds, 0.99 after 700. Where `r`
    ceases to be positive the step is refused as diverged. For streams without end take `KrlsT`.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.ExKrls()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] - x['b'])
    >>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)
    True
    """

    _name = 'ex-krls'
    _keys = (
        ('alpha', 'alpha', 0.999),
        ('beta', 'beta', 1.0),
        ('lambda_', 'lambda', 0.1),
        ('q', 'q', 0.001),
        ('max_dictionary', 'max_dictionary', 1000),
    )
    _poor_score = True

    def __init__(
        self,
        *,
        alpha: float | str = 0.999,
        beta: float | str = 1.0,
        lambda_: float | str = 0.1,
        q: float | str = 0.001,
        max_dictionary: int | str | None = 1000,
        kernel: str = 'auto',
        seed: int = 0,
        intervals: float | None = None,
        local_intervals: bool = False,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.lambda_ = lambda_
        self.q = q
        self.max_dictionary = max_dictionary
        self.kernel = kernel
        self.seed = seed
        self.intervals = intervals
        self.local_intervals = local_intervals


class ExKrlsClassifier(KernelClassifier):
    r"""Extended kernel recursive least squares: a state-space model of a function that moves.

    When to take it: some hundred rows of a function that drifts; later rows teach nothing.

    Classes: two.

    Cost: `Jd + J²` multiply-adds a row, `Jd + ½J²` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Liu et al. 2009.

    Parameters
    ----------
    alpha : float | str, default 0.999
        `a`, state transition; a number > 0.
    beta : float | str, default 1.0
        `β`, weight of past errors a round; a number above 0, at most 1.
    lambda_ : float | str, default 0.1
        `λ`, regulariser; a number > 0.
    q : float | str, default 0.001
        `q`, state noise; a number ≥ 0.
    max_dictionary : int | str | None, default 1000
        most points kept; a whole number ≥ 1, or none. None: the rule alone decides how many points are kept.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    EX-KRLS: extended kernel recursive least squares (Liu, Park, Wang and Príncipe 2009).

    A state-space model: the function moves by `f ← a f` between two rounds, with noise of size `q`, and is observed with noise; `β` discounts the past, `λ` is the
    regulariser. In round `i`, with kernel row `k`, `κ = k(x, x)`, `e = y − kᵀα` and `ω` the weight of the example (noise `1/ω`):
    `z = Qk`, `r = βⁱρ/ω + κ − kᵀz`, `α ← a[α − ze/r; e/r]`, `d = a² + βⁱqρ`, `ρ ← ρ/d`, `Q ← (a²/d)[Q + zzᵀ/r, −z/r; −zᵀ/r, 1/r]`, from `ρ = λ`
    and nothing else. When the dictionary is full nothing is learnt, but `i` counts on. `Jd + J²` multiply-adds a round while it grows, `Jd + J` after, `Jd + ½J²`
    numbers of memory.

    **Range.** The recursion carries an inverse: `Q` is near `(K + βⁱρ I)⁻¹`, and rounding grows with the square of its condition. On up to 500 points
    under a Gaussian kernel predictions agree with the exact solution to 1e-7 while `βⁱρ` stays above 1e-3 `κ`, to 1e-5 above 1e-4 `κ`, and have lost all digits at
    1e-6 `κ`. A `β` below 1 lets `βⁱρ` vanish as the dictionary grows: 0.995 makes it 1e-3 of `λ` after 1400 rounds, 0.99 after 700. Where `r`
    ceases to be positive the step is refused as diverged. For streams without end take `KrlsT`.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.ExKrlsClassifier()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'ex-krls'
    _keys = (
        ('alpha', 'alpha', 0.999),
        ('beta', 'beta', 1.0),
        ('lambda_', 'lambda', 0.1),
        ('q', 'q', 0.001),
        ('max_dictionary', 'max_dictionary', 1000),
    )
    _many = False
    _losses = ('squared',)

    def __init__(
        self,
        *,
        alpha: float | str = 0.999,
        beta: float | str = 1.0,
        lambda_: float | str = 0.1,
        q: float | str = 0.001,
        max_dictionary: int | str | None = 1000,
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.lambda_ = lambda_
        self.q = q
        self.max_dictionary = max_dictionary
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class MknlmsCs(KernelRegressor):
    r"""Normalised least mean squares with several kernels on one coherent dictionary.

    When to take it: cheap steps without a width to choose.

    Targets: one number.

    Cost: `P(Jd + 4J)` multiply-adds a row, `Jd + PJ` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Yukawa 2012.

    Parameters
    ----------
    kernels : str | Sequence[str], default 'auto'
        `P`, the P kernels, such as gaussian:0.3,gaussian:0.6 or polynomial:3,1;linear; kernels separated by commas
        (by ; where one has a comma of its own), or auto. "auto": the Gaussian of --kernel at ¼, ½, 1, 2 and 4 times
        its width; another kernel alone (ours: the papers choose by hand).
    eta : float | str, default 0.1
        `η`, step size, below 2; a number > 0.
    delta : float | str, default 0.995
        `δ`, a point is kept if no kernel value with a kept one exceeds this; a number ≥ 0.
    eps : float | str, default 1.0
        `ε`, added to the squared norm; a number ≥ 0.
    max_dictionary : int | str | None, default 500
        most points kept; a whole number ≥ 1, or none. None: the rule alone decides how many points are kept.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    intervals : float | None, default None
        The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals.
        Adaptive conformal inference.
    local_intervals : bool, default False
        Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.

    Notes
    -----
    MKNLMS-CS: multikernel normalised least mean squares with coherence-based sparsification (Yukawa 2012).

    With `K_ip = k_p(d_i, x)`, `f(x) = Σ_ip A_ip K_ip` and `e = y − f(x)`: `x` joins with coefficients 0 when no `K_ip` exceeds `δ`, as the first
    point always does; then, over the dictionary that may have grown, `A ← A + η ω e K/(ε + ΣK²)`, `ω` being the weight of the example. Kernel
    values are compared with `δ` as they are, so `δ` below 1 means a coherence for normalised kernels only. Once the dictionary is
    full no point joins and the steps go on. `P(Jd + 4J)` multiply-adds a round, `Jd + PJ` numbers of memory.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.MknlmsCs()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] - x['b'])
    >>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)
    True
    """

    _name = 'mknlms-cs'
    _keys = (
        ('kernels', 'kernels', 'auto'),
        ('eta', 'eta', 0.1),
        ('delta', 'delta', 0.995),
        ('eps', 'eps', 1.0),
        ('max_dictionary', 'max_dictionary', 500),
    )
    _poor_score = True

    def __init__(
        self,
        *,
        kernels: str | Sequence[str] = 'auto',
        eta: float | str = 0.1,
        delta: float | str = 0.995,
        eps: float | str = 1.0,
        max_dictionary: int | str | None = 500,
        kernel: str = 'auto',
        seed: int = 0,
        intervals: float | None = None,
        local_intervals: bool = False,
    ) -> None:
        self.kernels = kernels
        self.eta = eta
        self.delta = delta
        self.eps = eps
        self.max_dictionary = max_dictionary
        self.kernel = kernel
        self.seed = seed
        self.intervals = intervals
        self.local_intervals = local_intervals


class MknlmsCsClassifier(KernelClassifier):
    r"""Normalised least mean squares with several kernels on one coherent dictionary.

    When to take it: cheap steps without a width to choose.

    Classes: two.

    Cost: `P(Jd + 4J)` multiply-adds a row, `Jd + PJ` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Yukawa 2012.

    Parameters
    ----------
    kernels : str | Sequence[str], default 'auto'
        `P`, the P kernels, such as gaussian:0.3,gaussian:0.6 or polynomial:3,1;linear; kernels separated by commas
        (by ; where one has a comma of its own), or auto. "auto": the Gaussian of --kernel at ¼, ½, 1, 2 and 4 times
        its width; another kernel alone (ours: the papers choose by hand).
    eta : float | str, default 0.1
        `η`, step size, below 2; a number > 0.
    delta : float | str, default 0.995
        `δ`, a point is kept if no kernel value with a kept one exceeds this; a number ≥ 0.
    eps : float | str, default 1.0
        `ε`, added to the squared norm; a number ≥ 0.
    max_dictionary : int | str | None, default 500
        most points kept; a whole number ≥ 1, or none. None: the rule alone decides how many points are kept.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    MKNLMS-CS: multikernel normalised least mean squares with coherence-based sparsification (Yukawa 2012).

    With `K_ip = k_p(d_i, x)`, `f(x) = Σ_ip A_ip K_ip` and `e = y − f(x)`: `x` joins with coefficients 0 when no `K_ip` exceeds `δ`, as the first
    point always does; then, over the dictionary that may have grown, `A ← A + η ω e K/(ε + ΣK²)`, `ω` being the weight of the example. Kernel
    values are compared with `δ` as they are, so `δ` below 1 means a coherence for normalised kernels only. Once the dictionary is
    full no point joins and the steps go on. `P(Jd + 4J)` multiply-adds a round, `Jd + PJ` numbers of memory.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.MknlmsCsClassifier()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'mknlms-cs'
    _keys = (
        ('kernels', 'kernels', 'auto'),
        ('eta', 'eta', 0.1),
        ('delta', 'delta', 0.995),
        ('eps', 'eps', 1.0),
        ('max_dictionary', 'max_dictionary', 500),
    )
    _many = False
    _losses = ('squared',)

    def __init__(
        self,
        *,
        kernels: str | Sequence[str] = 'auto',
        eta: float | str = 0.1,
        delta: float | str = 0.995,
        eps: float | str = 1.0,
        max_dictionary: int | str | None = 500,
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.kernels = kernels
        self.eta = eta
        self.delta = delta
        self.eps = eps
        self.max_dictionary = max_dictionary
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class Mxklms(KernelRegressor):
    r"""Mixture of kernels, each with least mean squares, on one dictionary of the first points.

    When to take it: short streams of which no good width is known.

    Targets: one number.

    Cost: `P(Jd + J)` multiply-adds a row, `Jd + PJ` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Pokharel et al. 2013.

    Parameters
    ----------
    kernels : str | Sequence[str], default 'auto'
        `P`, the P kernels, such as gaussian:0.3,gaussian:0.6 or polynomial:3,1;linear; kernels separated by commas
        (by ; where one has a comma of its own), or auto. "auto": the Gaussian of --kernel at ¼, ½, 1, 2 and 4 times
        its width; another kernel alone (ours: the papers choose by hand).
    eta : float | str, default 0.2
        `η`, step size, below 2/k(x,x); a number > 0.
    mu : float | str, default 1.0
        `μ`, step size of the kernels' weights; a number ≥ 0.
    max_dictionary : int | str | None, default 1000
        most points kept; a whole number ≥ 1, or none. None: the rule alone decides how many points are kept.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    intervals : float | None, default None
        The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals.
        Adaptive conformal inference.
    local_intervals : bool, default False
        Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.

    Notes
    -----
    MXKLMS: mixture kernel least mean squares (Pokharel, Seth and Príncipe 2013).

    With `y_p(x) = Σ_i A_ip k_p(d_i, x)`, `ψ = softmax(v)`, `f(x) = Σ_p ψ_p y_p(x)` and `e = y − f(x)`: first `v_p ← v_p + 2μ ω e ψ_p (y_p − f)`, `ω` being
    the weight of the example and `v = 0` at the start; then `x` joins with the coefficients `A_p = η ω e ψ_p` of the new `ψ`. Once the dictionary is
    full nothing is learnt any more. `P(Jd + J)` multiply-adds a round, `Jd + PJ` numbers of memory.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.Mxklms()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] - x['b'])
    >>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)
    True
    """

    _name = 'mxklms'
    _keys = (
        ('kernels', 'kernels', 'auto'),
        ('eta', 'eta', 0.2),
        ('mu', 'mu', 1.0),
        ('max_dictionary', 'max_dictionary', 1000),
    )
    _poor_score = True

    def __init__(
        self,
        *,
        kernels: str | Sequence[str] = 'auto',
        eta: float | str = 0.2,
        mu: float | str = 1.0,
        max_dictionary: int | str | None = 1000,
        kernel: str = 'auto',
        seed: int = 0,
        intervals: float | None = None,
        local_intervals: bool = False,
    ) -> None:
        self.kernels = kernels
        self.eta = eta
        self.mu = mu
        self.max_dictionary = max_dictionary
        self.kernel = kernel
        self.seed = seed
        self.intervals = intervals
        self.local_intervals = local_intervals


class MxklmsClassifier(KernelClassifier):
    r"""Mixture of kernels, each with least mean squares, on one dictionary of the first points.

    When to take it: short streams of which no good width is known.

    Classes: two.

    Cost: `P(Jd + J)` multiply-adds a row, `Jd + PJ` numbers of memory (`t` the row, `d` the features, `J` the points
    kept, other letters the symbols below).

    Source: Pokharel et al. 2013.

    Parameters
    ----------
    kernels : str | Sequence[str], default 'auto'
        `P`, the P kernels, such as gaussian:0.3,gaussian:0.6 or polynomial:3,1;linear; kernels separated by commas
        (by ; where one has a comma of its own), or auto. "auto": the Gaussian of --kernel at ¼, ½, 1, 2 and 4 times
        its width; another kernel alone (ours: the papers choose by hand).
    eta : float | str, default 0.2
        `η`, step size, below 2/k(x,x); a number > 0.
    mu : float | str, default 1.0
        `μ`, step size of the kernels' weights; a number ≥ 0.
    max_dictionary : int | str | None, default 1000
        most points kept; a whole number ≥ 1, or none. None: the rule alone decides how many points are kept.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    MXKLMS: mixture kernel least mean squares (Pokharel, Seth and Príncipe 2013).

    With `y_p(x) = Σ_i A_ip k_p(d_i, x)`, `ψ = softmax(v)`, `f(x) = Σ_p ψ_p y_p(x)` and `e = y − f(x)`: first `v_p ← v_p + 2μ ω e ψ_p (y_p − f)`, `ω` being
    the weight of the example and `v = 0` at the start; then `x` joins with the coefficients `A_p = η ω e ψ_p` of the new `ψ`. Once the dictionary is
    full nothing is learnt any more. `P(Jd + J)` multiply-adds a round, `Jd + PJ` numbers of memory.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.MxklmsClassifier()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'mxklms'
    _keys = (
        ('kernels', 'kernels', 'auto'),
        ('eta', 'eta', 0.2),
        ('mu', 'mu', 1.0),
        ('max_dictionary', 'max_dictionary', 1000),
    )
    _many = False
    _losses = ('squared',)

    def __init__(
        self,
        *,
        kernels: str | Sequence[str] = 'auto',
        eta: float | str = 0.2,
        mu: float | str = 1.0,
        max_dictionary: int | str | None = 1000,
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.kernels = kernels
        self.eta = eta
        self.mu = mu
        self.max_dictionary = max_dictionary
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


class Restart(KernelRegressor):
    r"""A learner that starts anew when its loss has risen.

    When to take it: sudden changes; as a member of `experts`.

    Targets: one number, or several at once.

    Cost: `the members'` multiply-adds a row, `the members'` numbers of memory (`t` the row, `d` the features, `J` the
    points kept, other letters the symbols below). Memory grows: as its learner's does.

    Source: Page 1954; Bifet and Gavaldà 2007.

    Parameters
    ----------
    learner : str | Learner, default 'krls'
        the learner; it is watched by the loss that it minimises; NAME KEY=VALUE …, with kernel=SPEC among the
        settings; in parentheses where it is a setting of a member.
    detector : str, default 'page-hinkley'
        what watches the loss: a cumulative sum, or a window that is cut where its mean changed; page-hinkley or
        adwin. One of page-hinkley, adwin.
    threshold : float | str, default 50.0
        `λ`, of page-hinkley: deviations above the mean, in sum, that are an alarm; a number > 0.
    tolerance : float | str, default 0.5
        `α`, of page-hinkley: deviations above the mean that do not count, in a round; a number ≥ 0.
    delta : float | str, default 0.002
        `δ`, of adwin: bound on the probability of a false alarm in a round; a number above 0, below 1.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    intervals : float | None, default None
        The share of targets that intervals around the predictions are to hold, such as 0.9; None: no intervals.
        Adaptive conformal inference.
    local_intervals : bool, default False
        Whether intervals are scaled by the learner's own standard deviations; for least-squares learners.

    Notes
    -----
    Learners that start anew when their loss tells that the target has changed.

    `Restarting` is any learner with a `ChangeDetector` on its loss. After each round the loss of the round's prediction, `ℓ(ŷ_t, y_t)`, whatever
    the weight of the example, goes to the detector. When that alarms, because the loss has risen, the learner is replaced by what it was
    before it learnt anything, and the detector begins anew, for the losses of another learner are no continuation. The first 30 losses
    after a start are not shown to it: they are those of a learner that knows nothing yet.

    The new learner knows nothing of the rows between the change and the alarm. (Starting a second learner in the background at a warning would
    save those, at the price of two learners a row; in a `Mixture` members that forget cover the gap for less.)

    | detector | alarm | memory of the past |
    |---|---|---|
    | `Adwin` | the mean of a newer part of a window is above that of the older by more than chance allows | a window that drops what has changed |
    | `PageHinkley` | losses were above their mean for too long, in sum | all since the start |

    Both are told nothing of the unit of the loss, and neither takes a single wild value for a change. When the mean of squared normal losses rises
    30 times after 5000 rounds, Page–Hinkley alarms after 10 rounds in the mean and ADWIN after 17; for 4 times, after 38 and 66; for
    twice, after 314 and 224 (`tests/change`). Neither gave a false alarm in 2·10⁶ rounds.

    Cost: that of the learner, the learner's untrained state once more in memory, and the detector's `O(log t)` or `O(1)` a round. Blocks are
    learnt as the learner learns them; the rest of a block is learnt again after an alarm in it.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.Restart()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] - x['b'])
    >>> isinstance(model.predict_one({'a': 0.9, 'b': 0.1}), float)
    True
    """

    _name = 'restart'
    _keys = (
        ('learner', 'learner', 'krls'),
        ('detector', 'detector', 'page-hinkley'),
        ('threshold', 'threshold', 50.0),
        ('tolerance', 'tolerance', 0.5),
        ('delta', 'delta', 0.002),
    )
    _vectors = True

    def __init__(
        self,
        *,
        learner: str | Learner = 'krls',
        detector: str = 'page-hinkley',
        threshold: float | str = 50.0,
        tolerance: float | str = 0.5,
        delta: float | str = 0.002,
        kernel: str = 'auto',
        seed: int = 0,
        intervals: float | None = None,
        local_intervals: bool = False,
    ) -> None:
        self.learner = learner
        self.detector = detector
        self.threshold = threshold
        self.tolerance = tolerance
        self.delta = delta
        self.kernel = kernel
        self.seed = seed
        self.intervals = intervals
        self.local_intervals = local_intervals


class RestartClassifier(KernelClassifier):
    r"""A learner that starts anew when its loss has risen.

    When to take it: sudden changes; as a member of `experts`.

    Classes: any number.

    Cost: `the members'` multiply-adds a row, `the members'` numbers of memory (`t` the row, `d` the features, `J` the
    points kept, other letters the symbols below). Memory grows: as its learner's does.

    Source: Page 1954; Bifet and Gavaldà 2007.

    Parameters
    ----------
    learner : str | Learner, default 'krls'
        the learner; it is watched by the loss that it minimises; NAME KEY=VALUE …, with kernel=SPEC among the
        settings; in parentheses where it is a setting of a member.
    detector : str, default 'page-hinkley'
        what watches the loss: a cumulative sum, or a window that is cut where its mean changed; page-hinkley or
        adwin. One of page-hinkley, adwin.
    threshold : float | str, default 50.0
        `λ`, of page-hinkley: deviations above the mean, in sum, that are an alarm; a number > 0.
    tolerance : float | str, default 0.5
        `α`, of page-hinkley: deviations above the mean that do not count, in a round; a number ≥ 0.
    delta : float | str, default 0.002
        `δ`, of adwin: bound on the probability of a false alarm in a round; a number above 0, below 1.
    kernel : str, default 'auto'
        gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear, mix:…, or a
        rule for the width of a Gaussian: "auto" takes the usual distance of standardised inputs, `√(2d)`; "median"
        takes the median distance of the first 200 rows of the first batch.
    seed : int, default 0
        Seed of what the learner draws. The same seed gives the same numbers.
    calibrated : bool, default False
        Whether probabilities are learnt from the scores, by online Newton steps on a logistic model.

    Notes
    -----
    Learners that start anew when their loss tells that the target has changed.

    `Restarting` is any learner with a `ChangeDetector` on its loss. After each round the loss of the round's prediction, `ℓ(ŷ_t, y_t)`, whatever
    the weight of the example, goes to the detector. When that alarms, because the loss has risen, the learner is replaced by what it was
    before it learnt anything, and the detector begins anew, for the losses of another learner are no continuation. The first 30 losses
    after a start are not shown to it: they are those of a learner that knows nothing yet.

    The new learner knows nothing of the rows between the change and the alarm. (Starting a second learner in the background at a warning would
    save those, at the price of two learners a row; in a `Mixture` members that forget cover the gap for less.)

    | detector | alarm | memory of the past |
    |---|---|---|
    | `Adwin` | the mean of a newer part of a window is above that of the older by more than chance allows | a window that drops what has changed |
    | `PageHinkley` | losses were above their mean for too long, in sum | all since the start |

    Both are told nothing of the unit of the loss, and neither takes a single wild value for a change. When the mean of squared normal losses rises
    30 times after 5000 rounds, Page–Hinkley alarms after 10 rounds in the mean and ADWIN after 17; for 4 times, after 38 and 66; for
    twice, after 314 and 224 (`tests/change`). Neither gave a false alarm in 2·10⁶ rounds.

    Cost: that of the learner, the learner's untrained state once more in memory, and the detector's `O(log t)` or `O(1)` a round. Blocks are
    learnt as the learner learns them; the rest of a block is learnt again after an alarm in it.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.RestartClassifier()
    >>> for t in range(60):
    ...     x = {'a': t % 7 / 7, 'b': t % 5 / 5}
    ...     model.learn_one(x, x['a'] > x['b'])
    >>> model.predict_one({'a': 0.9, 'b': 0.1}) in (False, True)
    True
    """

    _name = 'restart'
    _keys = (
        ('learner', 'learner', 'krls'),
        ('detector', 'detector', 'page-hinkley'),
        ('threshold', 'threshold', 50.0),
        ('tolerance', 'tolerance', 0.5),
        ('delta', 'delta', 0.002),
    )
    _many = True
    _losses = ('squared',)

    def __init__(
        self,
        *,
        learner: str | Learner = 'krls',
        detector: str = 'page-hinkley',
        threshold: float | str = 50.0,
        tolerance: float | str = 0.5,
        delta: float | str = 0.002,
        kernel: str = 'auto',
        seed: int = 0,
        calibrated: bool = False,
    ) -> None:
        self.learner = learner
        self.detector = detector
        self.threshold = threshold
        self.tolerance = tolerance
        self.delta = delta
        self.kernel = kernel
        self.seed = seed
        self.calibrated = calibrated


__all__ = [
    'Kogd',
    'KogdClassifier',
    'AogdAld',
    'AogdAldClassifier',
    'Kons',
    'KonsClassifier',
    'SketchedKons',
    'SketchedKonsClassifier',
    'NonsAld',
    'NonsAldClassifier',
    'ProsNKons',
    'ProsNKonsClassifier',
    'ConKons',
    'ConKonsClassifier',
    'Fogd',
    'FogdClassifier',
    'Nogd',
    'NogdClassifier',
    'Krls',
    'KrlsClassifier',
    'AldKrls',
    'AldKrlsClassifier',
    'KernelAwv',
    'KernelAwvClassifier',
    'KernelKrr',
    'KernelKrrClassifier',
    'PkawvTaylor',
    'PkawvTaylorClassifier',
    'PkrrTaylor',
    'PkrrTaylorClassifier',
    'PkawvNystrom',
    'PkawvNystromClassifier',
    'PkrrNystrom',
    'PkrrNystromClassifier',
    'Experts',
    'ExpertsClassifier',
    'Auto',
    'AutoClassifier',
    'Knlms',
    'KnlmsClassifier',
    'Qklms',
    'QklmsClassifier',
    'Klms',
    'KlmsClassifier',
    'Kap',
    'KapClassifier',
    'Norma',
    'NormaClassifier',
    'FbKlms',
    'FbKlmsClassifier',
    'Lkapa',
    'LkapaClassifier',
    'Nlkapa',
    'NlkapaClassifier',
    'KlmsCsl1',
    'KlmsCsl1Classifier',
    'KlmsCsal1',
    'KlmsCsal1Classifier',
    'KapSm',
    'KapSmClassifier',
    'QklmsFb',
    'QklmsFbClassifier',
    'Perceptron',
    'Rbp',
    'Forgetron',
    'Projectron',
    'ProjectronPlus',
    'BpaS',
    'Pa',
    'Bogd',
    'Pegasos',
    'SwKrls',
    'SwKrlsClassifier',
    'FbKrls',
    'FbKrlsClassifier',
    'KrlsT',
    'KrlsTClassifier',
    'ExKrls',
    'ExKrlsClassifier',
    'MknlmsCs',
    'MknlmsCsClassifier',
    'Mxklms',
    'MxklmsClassifier',
    'Restart',
    'RestartClassifier',
]
