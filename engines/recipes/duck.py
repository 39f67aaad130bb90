"""DuckDB: any queries, batch by batch through Arrow. python duck.py OUT.mercer 'ROWS/*.parquet' OPTIONS…"""

import glob
import sys

import duckdb
import pyarrow as pa

from sums import fit, merge


def model(paths, options):
    states = []
    for path in paths:
        batches = duckdb.sql(f"SELECT * FROM read_parquet('{path}')").to_arrow_reader(100_000)
        for place, batch in enumerate(batches):
            states += fit(pa.Table.from_batches([batch]), options, f"{path} {place}")
    return merge(states)


if __name__ == "__main__":
    out, pattern, options = sys.argv[1], sys.argv[2], sys.argv[3:]
    with open(out, "wb") as file:
        file.write(model(sorted(glob.glob(pattern)), options))
