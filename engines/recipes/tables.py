"""Tables on which recipes are compared with one process: as files of partitions, as one file, and rows to be predicted.

python tables.py WORK [PARTITIONS]
"""

import json
import os
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ENCODED = ["--scale", "standard", "--scale-from", "SAMPLE", "--weight", "w"]
TAYLOR = ["--learner", "pkrr-taylor", "--kernel", "gaussian:2", "--set", "degree=2", "--set", "lambda=0.1", "--target", "y"]

# Rows of the file that tells an encoding.
SAMPLE = 500


def even(rows, parts):
    return [rows // parts] * parts


def uneven(rows, parts):
    """Sizes of some rows on the whole: many small ones, some large ones, one in twenty empty."""
    random = np.random.default_rng(7)
    sizes = random.pareto(1.2, parts) + 0.05
    sizes[::20] = 0
    sizes = np.floor(sizes / sizes.sum() * rows).astype(int)
    return [int(size) for size in sizes]


def numbers(rows):
    random = np.random.default_rng(1)
    x = random.uniform(-1, 1, size=(rows, 6))
    y = np.sin(2 * x @ random.normal(size=6) / np.sqrt(6)) + 0.1 * random.normal(size=rows)
    return pa.table({f"x{i + 1}": x[:, i] for i in range(6)} | {"y": y})


def mixed(rows):
    """A date, a category, a number with gaps, a number, weights, and a target of numbers and one of classes.

    Some rows have categories that the sample, which tells the encoding, does not hold.
    """
    random = np.random.default_rng(2)
    day = random.integers(19_000, 20_000, rows)
    city = random.integers(0, 9, rows)
    cities = [f"city {one}" for one in city]
    cities[SAMPLE::499] = [f"town {place % 50}" for place in range(SAMPLE, rows, 499)]
    gap, x = random.normal(size=rows), random.normal(size=rows)
    y = np.sin(day / 58) + city % 3 + 0.5 * gap + x * x + 0.1 * random.normal(size=rows)
    kind = np.digitize(y + 0.3 * random.normal(size=rows), [1.0, 2.5])
    return pa.table(
        {
            "day": pa.array(day.astype("int32"), pa.date32()),
            "city": pa.array(cities),
            "gap": pa.array(gap, mask=random.uniform(size=rows) < 0.1),
            "x": x,
            "w": random.uniform(0.5, 2, rows),
            "y": y,
            "kind": pa.array([["low", "middle", "high"][one] for one in kind]),
        }
    )


def write(work, name, table, sizes, options):
    """The rows of a table in partitions of these sizes, and 300 more to be predicted."""
    folder = os.path.join(work, name)
    os.makedirs(os.path.join(folder, "parts"))
    begin = 0
    for number, size in enumerate(sizes):
        # Spark reads snappy by a library of its own, which fails to load where musl lies beside glibc.
        pq.write_table(table.slice(begin, size), os.path.join(folder, "parts", f"{number:04}.parquet"), compression="zstd")
        begin += size
    paths = {key: os.path.join(folder, f"{key}.parquet") for key in ("whole", "short", "new", "sample")}
    pq.write_table(table.slice(0, begin), paths["whole"], compression="zstd")
    pq.write_table(table.slice(1, begin - 1), paths["short"], compression="zstd")
    pq.write_table(table.slice(table.num_rows - 300), paths["new"])
    pq.write_table(table.slice(0, SAMPLE), paths["sample"])
    with open(os.path.join(folder, "options.json"), "w") as file:
        json.dump([paths["sample"] if one == "SAMPLE" else one for one in options], file)


def main(work, parts):
    rows = numbers(100_300)
    write(work, "numbers", rows, even(100_000, 8), TAYLOR)
    write(work, "uneven", rows, uneven(30_000, parts), TAYLOR)
    rows = mixed(30_300)
    ridge = ["--learner", "ridge", "--set", "lambda=0.1", *ENCODED, "--target", "y"]
    write(work, "mixed", rows.drop_columns(["kind"]), uneven(30_000, parts), ridge)
    fourier = ["--learner", "pkrr-fourier", "--kernel", "gaussian:3", "--set", "features=60", "--set", "lambda=0.1"]
    write(work, "classes", rows.drop_columns(["y"]), uneven(30_000, parts), [*fourier, *ENCODED, "--target", "kind"])


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1000)
