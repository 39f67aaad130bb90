"""Dask: one state a row group, folded two by two. python dask_bag.py ROWS.parquet OUT.mercer OPTIONS…"""

import sys

import dask.bag
import pyarrow.parquet as pq

from sums import fit, merge

path, out, options = sys.argv[1], sys.argv[2], sys.argv[3:]


def state(group):
    return fit(pq.ParquetFile(path).read_row_group(group), options)


def both(one, other):
    states = one + other
    return [merge(states)] if len(states) > 1 else states


if __name__ == "__main__":
    groups = dask.bag.from_sequence(range(pq.ParquetFile(path).num_row_groups), npartitions=4)
    [model] = groups.map(state).fold(both, initial=[]).compute(scheduler="threads")
    with open(out, "wb") as file:
        file.write(model)
