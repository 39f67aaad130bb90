"""Linear regression on Parquet, one way a process: python regression.py WAY FOLDER THREADS. Prints the mean squared error on the first file.

WAY is duckdb (sums of products in SQL, then the normal equations), sgd (scikit-learn's SGDRegressor, one pass of partial_fit over batches) or
read (the batches of pyarrow alone).
"""

import glob
import sys

import numpy as np

COLUMNS = [f"x{i + 1}" for i in range(10)]


def batches(folder):
    import pyarrow.parquet as pq

    for path in sorted(glob.glob(f"{folder}/*.parquet")):
        for batch in pq.ParquetFile(path).iter_batches(batch_size=1 << 16, use_threads=False):
            yield np.column_stack([batch.column(name).to_numpy() for name in [*COLUMNS, "y"]])


def first(folder):
    import pyarrow.parquet as pq

    table = pq.read_table(sorted(glob.glob(f"{folder}/*.parquet"))[0])
    return np.column_stack([table[name].to_numpy() for name in COLUMNS]), table["y"].to_numpy()


def duckdb_sums(folder, threads):
    import duckdb

    z = ["1.0", *COLUMNS, "y"]
    pairs = [(i, j) for i in range(len(z)) for j in range(i, len(z))]
    sums = ", ".join(f"sum({z[i]} * {z[j]})" for i, j in pairs)
    duckdb.sql(f"SET threads TO {threads}")
    values = duckdb.sql(f"SELECT {sums} FROM read_parquet('{folder}/*.parquet')").fetchall()[0]
    gram = np.zeros((len(z), len(z)))
    for (i, j), value in zip(pairs, values):
        gram[i, j] = gram[j, i] = value
    return np.linalg.solve(gram[:-1, :-1], gram[:-1, -1])


def sgd(folder, _):
    from sklearn.linear_model import SGDRegressor

    model = SGDRegressor(random_state=1)
    for batch in batches(folder):
        model.partial_fit(batch[:, :-1], batch[:, -1])
    return np.concatenate([model.intercept_, model.coef_])


def main(way, folder, threads):
    if way == "read":
        print(sum(len(batch) for batch in batches(folder)), "rows")
        return
    fitted = {"duckdb": duckdb_sums, "sgd": sgd}[way](folder, threads)
    x, y = first(folder)
    print(f"{np.mean((fitted[0] + x @ fitted[1:] - y) ** 2):.12f}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
