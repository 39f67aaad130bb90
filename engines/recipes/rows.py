"""Writes rows for measurements: python rows.py FILE ROWS COLUMNS [GROUPS]. Parquet, uniform features, a smooth target with noise."""

import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

path, rows, columns = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
groups = int(sys.argv[4]) if len(sys.argv) > 4 else 0
random = np.random.default_rng(1)
weights = random.normal(size=columns) / np.sqrt(columns)
names = [f"x{i + 1}" for i in range(columns)]
writer = None
for start in range(0, rows, 100_000):
    count = min(100_000, rows - start)
    x = random.uniform(-1, 1, size=(count, columns))
    y = np.sin(2 * x @ weights) + 0.1 * random.normal(size=count)
    data = {name: x[:, i] for i, name in enumerate(names)} | {"y": y}
    if groups:
        data["g"] = np.arange(start, start + count) % groups
    table = pa.table(data)
    # Spark reads snappy by a library of its own, which fails to load where musl lies beside glibc.
    writer = writer or pq.ParquetWriter(path, table.schema, compression="zstd")
    writer.write_table(table)
writer.close()
