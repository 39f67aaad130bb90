# %% [markdown]
# # The next values of a series
#
# Forecasters need no features and no kernel: they predict each row from the rows before it, with intervals, and observe it.
#
# The series comes with river: airline passengers, month by month for twelve years. It grows and its season grows, so its logarithm is learnt.

# %%
import numpy as np
from matplotlib import pyplot
from river import datasets

from mercer import forecasting

passengers = np.array([y for _, y in datasets.AirlinePassengers()], dtype=float)
series = np.log(passengers)
series = series - series[0]

model = forecasting.Experts(t_init=24)
made = model.predict_then_fit(series[:120])
late = slice(60, 120)
naive = np.abs(np.diff(series[:120]))[late.start - 1 :].mean()
print(f"one month ahead: {np.abs(made - series[:120])[late].mean():.3f}, and {naive:.3f} for the value of the month before")

# %% [markdown]
# The next 24 months, from the first ten years alone:

# %%
ahead = model.predict(24)
ratio = np.exp(ahead - series[120:]) - 1
print("mean error of the forecast:", f"{np.abs(ratio).mean():.1%}")
pyplot.plot(passengers, label="passengers")
pyplot.plot(np.arange(120, 144), np.exp(ahead + np.log(passengers[0])), label="forecast from month 120")
pyplot.xlabel("month")
pyplot.legend();

# %% [markdown]
# Several outputs at once are rows of numbers, a NaN is a missing value, and intervals hold their share. Here two series of which the second lags behind the
# first:

# %%
rng = np.random.default_rng(1)
wave = np.sin(0.2 * np.arange(1003)) + 0.1 * rng.normal(size=1003)
pair = np.column_stack([wave[3:], wave[:-3]])
pair[rng.integers(0, 1000, size=50), 0] = np.nan
model = forecasting.Opf(gamma=0.998, intervals=0.9)
made = model.fit(pair)
print("mean squared error:", round(model.mse_, 4), "coverage:", np.round(model.coverage_, 2))
print("next three rows:", model.predict(3).round(2).tolist())

# %% [markdown]
# `Season` also says why. Sales of a week's rhythm, with promotions that are known beforehand and one odd day: each row is told by its parts, and flagged where it
# lies outside of the band that was made before it was seen. The band holds 99 % of ordinary rows, so that one in a hundred of these is flagged, too.

# %%
days = np.arange(190)
promotion = (rng.uniform(size=190) < 0.2).astype(float)
sales = 60 + 0.1 * days + 8 * np.sin(2 * np.pi * days / 7) + 15 * promotion + rng.normal(size=190)
sales[130] += 40
model = forecasting.Season(season=7)
table = model.explain_then_fit(sales[:183], promotion[:183])
print("odd rows:", table["k"][table["anomaly"]].tolist())
effect = model.input_effects_[0]
print(f"a promotion adds {effect['per_unit']:.1f} ± {effect['standard_error']:.1f}")

# %% [markdown]
# The next week without promotions, and with one each day, as parts and as scenarios:

# %%
week = model.explain(7, np.zeros(7))
for name in ("trend", "season", "effect_x0", "rest"):
    pyplot.plot(week["k"], week[name], label=name)
pyplot.xlabel("day")
pyplot.legend()
made = model.predict_scenarios({"none": np.zeros(7), "daily": np.ones(7)})
print({name: rows.round(1).tolist() for name, rows in made.items()})
