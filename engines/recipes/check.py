"""Fits each table by one process and by an engine, and compares what they predict: python check.py WORK ENGINE

ENGINE is mercer (one process), dask_bag, duck, ray_tasks, spark or datafusion; what comes of it is printed, and written to WORK/ENGINE.json.
`python check.py WORK table` prints all that came as the table of docs/scale.md.
"""

import glob
import importlib
import json
import os
import sys
import tempfile
import time

import pyarrow.parquet as pq

from sums import predict, run

# What an engine may differ by, and what a single row makes at least.
MOST, LEAST = 1e-9, 1e-7
TABLES = ("numbers", "uneven", "mixed", "classes")
NAMES = {
    "mercer": "one process",
    "datafusion": "DataFusion",
    "dask_bag": "Dask",
    "duck": "DuckDB",
    "ray_tasks": "Ray",
    "spark": "Spark",
}


def differs(ours, theirs):
    """The largest difference of two lists of predictions: without end where names differ."""
    assert len(ours) == len(theirs) == 300
    furthest = 0.0
    for one, other in zip(ours, theirs):
        assert len(one) == len(other)
        for a, b in zip(one, other):
            try:
                furthest = max(furthest, abs(float(a) - float(b)))
            except ValueError:
                furthest = furthest if a == b else float("inf")
    return furthest


def one_process(folder, rows, options):
    """The model that one process makes of a file beside the partitions, and its seconds."""
    out, begun = os.path.join(folder, f"{rows}.mercer"), time.perf_counter()
    run("fit", os.path.join(folder, f"{rows}.parquet"), *options, "--quiet", "--out", out)
    return read(out), time.perf_counter() - begun


def read(path):
    with open(path, "rb") as file:
        return file.read()


def fitted(engine, folder, options, columns):
    """The model that an engine makes of the partitions; None where it says that it takes no such table."""
    module, parts = importlib.import_module(engine), os.path.join(folder, "parts")
    if engine != "datafusion":
        return module.model(sorted(glob.glob(os.path.join(parts, "*.parquet"))), options)
    target = options[options.index("--target") + 1]
    try:
        return module.model(parts, target, columns, "learner=pkrr-taylor kernel=gaussian:2 degree=2 lambda=0.1")
    except RuntimeError as refusal:
        assert "--scale-from" in options and "a number is needed" in str(refusal), refusal
        return None


def compared(folder, engine):
    """What a cell of the table says of an engine: what it differs by from one process, and seconds."""
    options = json.loads(read(os.path.join(folder, "options.json")))
    new = pq.read_table(os.path.join(folder, "new.parquet"))
    new = new.drop_columns([name for name in new.column_names if name in ("y", "kind", "w")])
    if engine == "mercer":
        whole, seconds = one_process(folder, "whole", options)
        short, _ = one_process(folder, "short", options)
        control = differs(predict(whole, new), predict(short, new))
        assert control > LEAST, f"{folder}: a row less makes {control}"
        return f"a row less makes {control:.0e}, {seconds:.1f} s"
    begun = time.perf_counter()
    model = fitted(engine, folder, options, new.column_names)
    seconds = time.perf_counter() - begun
    if model is None:
        return "refused in words"
    whole = read(os.path.join(folder, "whole.mercer"))
    check_states(folder, engine, whole, model)
    furthest = differs(predict(whole, new), predict(model, new))
    assert furthest < MOST, f"{engine}, {folder}: {furthest}"
    return f"{furthest:.0e}, {seconds:.1f} s"


def inspected(model):
    """What `mercer inspect` tells of a model."""
    with tempfile.NamedTemporaryFile(suffix=".mercer") as file:
        file.write(model)
        file.flush()
        return json.loads(run("inspect", file.name, "--json"))


def check_states(folder, engine, whole, model):
    """An engine has met all rows, and has summed them up in partitions: of which Spark, by the hashes of names, leaves a third empty."""
    whole, model = inspected(whole), inspected(model)
    assert model["rows"] == whole["rows"], f"{engine}, {folder}: {model['rows']} rows"
    partitions = len(glob.glob(os.path.join(folder, "parts", "*.parquet")))
    states = len(model["shards"])
    assert engine == "datafusion" or states > partitions / 2 - 2, f"{engine}, {folder}: {states} states"


def print_table(work):
    """What came of all engines that ran, a line each."""
    print("| engine |", " | ".join(f"`{table}`" for table in TABLES), "|")
    print("|" + "---|" * (1 + len(TABLES)))
    for engine, name in NAMES.items():
        path = os.path.join(work, f"{engine}.json")
        if os.path.exists(path):
            print(f"| {name} |", " | ".join(json.loads(read(path))), "|")


def main(work, engine):
    if engine == "table":
        print_table(work)
        return
    cells = []
    for table in TABLES:
        cells.append(compared(os.path.join(work, table), engine))
        print(f"{NAMES[engine]}, {table}: {cells[-1]}", flush=True)
    with open(os.path.join(work, f"{engine}.json"), "w") as file:
        json.dump(cells, file)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
