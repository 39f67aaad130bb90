"""Dask: one state a file, joined by a tree. python dask_bag.py OUT.mercer 'ROWS/*.parquet' OPTIONS…"""

import glob
import sys

import dask.bag
import pyarrow.parquet as pq

from sums import fit, merge


def state(path, options):
    return fit(pq.read_table(path), options, path)


def joined(some):
    states = [one for states in some for one in states]
    return [merge(states)] if states else []


def model(paths, options):
    states = dask.bag.from_sequence(paths, npartitions=8).map(state, options)
    return states.reduction(joined, joined, split_every=4).compute(scheduler="threads")[0]


if __name__ == "__main__":
    out, pattern, options = sys.argv[1], sys.argv[2], sys.argv[3:]
    with open(out, "wb") as file:
        file.write(model(sorted(glob.glob(pattern)), options))
