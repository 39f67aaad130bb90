"""DuckDB: any query, batch by batch through Arrow. python duck.py ROWS.parquet OUT.mercer OPTIONS…"""

import sys

import duckdb
import pyarrow as pa

from sums import fit, merge

path, out, options = sys.argv[1], sys.argv[2], sys.argv[3:]
batches = duckdb.sql(f"SELECT * FROM read_parquet('{path}')").to_arrow_reader(100_000)
states = [state for batch in batches for state in fit(pa.Table.from_batches([batch]), options)]
with open(out, "wb") as file:
    file.write(merge(states))
