# %% [markdown]
# # A table as it is
#
# Categories, dates, gaps and numbers of any unit: `mercer.Pipeline` makes inputs of them, row by row, with the statistics of the rows before.
#
# Two tables come with river: the weights of chicks on four diets, and the flow of water in a pipe, hour by hour.

# %%
import numpy as np
from river import datasets

import mercer

rows, weights = zip(*datasets.ChickWeights())
rows = [{"day": row["time"], "diet": f"diet {row['diet']}", "chick": row["chick"]} for row in rows]
order = np.random.default_rng(0).permutation(len(rows))
rows, weights = [rows[place] for place in order], np.array(weights, dtype=float)[order]
print(rows[0], weights[0])
model = mercer.Pipeline(mercer.Krls(kernel="median", intervals=0.9))
made = model.predict_then_fit(rows, weights)
for column in model.columns_:
    print(*column.values(), sep=", ")
print("mean absolute error of the second half:", round(np.abs(made - weights)[len(made) // 2 :].mean(), 1), "gram")
chick = {"day": 15, "diet": "diet 3", "chick": 33}
print("chick 33 on day 15:", model.predict_interval([chick])[0].round(0), "gram")

# %% [markdown]
# A column that is missing in a row counts as a gap, and the model says so once, as a warning. Dates become the hour, the weekday, the season and the years
# that have passed.

# %%
hours, flow = zip(*datasets.WaterFlow())
model = mercer.Pipeline(mercer.Krls(kernel="median", lambda_=1.0))
made = model.predict_then_fit([{"when": row["Time"]} for row in hours], flow)
late = slice(len(made) // 2, None)
naive = np.roll(flow, 24)
for name, guess in {"the pipeline": made, "the same hour yesterday": naive, "the mean": np.mean(flow)}.items():
    print(f"{name}: {np.abs(guess - np.array(flow))[late].mean():.2f}")

# %% [markdown]
# The file of a pipeline is read by the `mercer` command, which takes the columns of a CSV or Parquet file by their names, and predicts the same bits.
