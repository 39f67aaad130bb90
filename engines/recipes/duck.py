"""DuckDB: any queries, batch by batch through Arrow. python duck.py OUT.mercer 'ROWS/*.parquet' OPTIONS…"""

import glob
import os
import sys
from collections import deque
from concurrent.futures import ThreadPoolExecutor

import duckdb
import pyarrow as pa

from sums import fit, merge


def batches(paths):
    """The rows in pieces, and what each is called."""
    for path in paths:
        reader = duckdb.sql(f"SELECT * FROM read_parquet('{path}')").to_arrow_reader(100_000)
        for place, batch in enumerate(reader):
            yield pa.Table.from_batches([batch]), f"{path} {place}"


def model(paths, options):
    states, waiting, workers = [], deque(), os.cpu_count() or 1
    with ThreadPoolExecutor(workers) as pool:
        for rows, part in batches(paths):
            waiting.append(pool.submit(fit, rows, options, part))
            # A batch is in memory until it is summed up.
            if len(waiting) > 2 * workers:
                states += waiting.popleft().result()
        states += [state for one in waiting for state in one.result()]
    return merge(states)


if __name__ == "__main__":
    out, pattern, options = sys.argv[1], sys.argv[2], sys.argv[3:]
    with open(out, "wb") as file:
        file.write(model(sorted(glob.glob(pattern)), options))
