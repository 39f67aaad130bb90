"""Fits each table by one process and by an engine, and compares what they predict: python check.py WORK ENGINE

ENGINE is mercer (one process), dask_bag, duck, ray_tasks, spark or datafusion. Prints lines of the table in docs/scale.md.
"""

import glob
import importlib
import json
import os
import sys
import time

import pyarrow.parquet as pq

from sums import predict, run

# What an engine may differ by, and what a hundred rows make at least.
MOST, LEAST = 1e-9, 1e-7


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


def main(work, engine):
    for table in ("numbers", "uneven", "mixed", "classes"):
        folder = os.path.join(work, table)
        options = json.loads(read(os.path.join(folder, "options.json")))
        new = pq.read_table(os.path.join(folder, "new.parquet"))
        new = new.drop_columns([name for name in new.column_names if name in ("y", "kind", "w")])
        if engine == "mercer":
            whole, seconds = one_process(folder, "whole", options)
            short, _ = one_process(folder, "short", options)
            control = differs(predict(whole, new), predict(short, new))
            assert control > LEAST, f"{table}: a hundred rows less make {control}"
            print(f"| one process | {table} | | {seconds:.1f} |")
            continue
        begun = time.perf_counter()
        model = fitted(engine, folder, options, new.column_names)
        seconds = time.perf_counter() - begun
        if model is None:
            print(f"| {engine} | {table} | refused in words | |")
            continue
        furthest = differs(predict(read(os.path.join(folder, "whole.mercer")), new), predict(model, new))
        assert furthest < MOST, f"{engine}, {table}: {furthest}"
        print(f"| {engine} | {table} | {furthest:.0e} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
