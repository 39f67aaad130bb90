"""Runs the lines of docs/scale.md in shells and in DuckDB, each block in a new folder with files of the names that it uses: python page.py PAGE.md

`mercer` and `duckdb` are those of the PATH. The lines for Python and for DataFusion are run by the tests of these.
"""

import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from check import MOST, differs

PARTS, ROWS = 3, 400


def shell(line, folder):
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", line], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, f"{line}\n{done.stderr}"
    return done.stdout


def rows(part):
    random = np.random.default_rng(part)
    x1, x2 = random.normal(size=ROWS), random.normal(size=ROWS)
    return {"x1": x1, "x2": x2, "y": np.sin(x1) + x2 + 0.1 * random.normal(size=ROWS)}


def beginning(kind):
    """A folder with the files of a block."""
    folder = tempfile.mkdtemp()
    for part in range(PARTS):
        table = rows(part)
        if kind == "numbers":
            pq.write_table(pa.table(table), f"{folder}/part-{part}.parquet")
        elif kind == "columns":
            town = [f"town {int(abs(value) * 3) % 4}" for value in table["x1"]]
            priced = pa.table({"town": town, "x": table["x2"], "price": table["y"]})
            pa.csv.write_csv(priced, f"{folder}/part-{part}.csv")
    new = pa.table({name: rows(PARTS)[name][:300] for name in ("x1", "x2")})
    pa.csv.write_csv(new, f"{folder}/new.csv")
    if kind == "columns":
        shutil.copy(f"{folder}/part-0.csv", f"{folder}/sample.csv")
    if kind == "sums":
        for part in range(2):
            pq.write_table(pa.table(rows(part)), f"{folder}/data-{part}.parquet")
            shell(f"mercer fit data-{part}.parquet --learner ridge --target y --out part{part}.mercer", folder)
        shell("mercer merge part1.mercer --out part1.parquet", folder)
    return folder


def predicted(folder, model, new="new.csv"):
    return list(csv.reader(shell(f"mercer predict {new} --model {model}", folder).splitlines()))[1:]


def check_numbers(folder):
    shell("mercer fit 'part-*.parquet' --learner pkrr-taylor --kernel gaussian:4 --target y --out one.mercer", folder)
    printed = list(csv.reader(open(f"{folder}/predictions.csv")))[1:]
    return differs(predicted(folder, "one.mercer"), printed)


def check_columns(folder):
    one = "mercer fit 'part-*.csv' --learner ridge --scale standard --scale-from sample.csv --target price --out one.mercer"
    shell(f"head -301 part-2.csv | cut -d, -f1,2 >new.csv; {one}", folder)
    return differs(predicted(folder, "one.mercer"), predicted(folder, "all.mercer"))


def check_sums(folder):
    shell("mercer fit data-0.parquet data-1.parquet --learner ridge --target y --out one.mercer", folder)
    return differs(predicted(folder, "one.mercer"), predicted(folder, "all.mercer"))


def check_sql(query):
    """The sums that a database makes of a table `t` of the columns x and y."""
    folder = beginning("")
    table = {"x": rows(0)["x1"], "y": rows(0)["y"]}
    pq.write_table(pa.table(table), f"{folder}/t.parquet")
    pa.csv.write_csv(pa.table({name: values[:9] for name, values in table.items()}), f"{folder}/head.csv")
    pa.csv.write_csv(pa.table({"x": rows(1)["x1"][:300]}), f"{folder}/x.csv")
    duckdb.sql(f"CREATE OR REPLACE TABLE t AS FROM '{folder}/t.parquet'")
    duckdb.sql(f"COPY ({query}) TO '{folder}/all.parquet'")
    shell("mercer fit head.csv --learner ridge --target y --out like.mercer", folder)
    shell("mercer merge all.parquet --like like.mercer --out all.mercer", folder)
    shell("mercer fit t.parquet --learner ridge --target y --out one.mercer", folder)
    return differs(predicted(folder, "one.mercer", "x.csv"), predicted(folder, "all.mercer", "x.csv"))


# What tells a block, the files that it begins with, and what it must have come to.
BLOCKS = [
    ("--shard 2/3", "numbers", check_numbers),
    ("--scale-from sample.csv", "columns", check_columns),
    ("duckdb -c", "sums", check_sums),
]


def main(page):
    text = open(page).read()
    shells = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    assert len(shells) == len(BLOCKS), "a block of the page is not run; add it to BLOCKS"
    for block, (word, kind, check) in zip(shells, BLOCKS):
        assert word in block, block
        folder = beginning(kind)
        lines = [line for line in block.replace("\\\n", " ").splitlines() if line and not line.startswith("#")]
        for line in lines:
            shell(line, folder)
        far = check(folder)
        assert far < MOST, f"{block}: {far}"
        print(f"docs/scale.md: {len(lines)} lines of the shell as written; one process within {far:.0e}")
    for query in re.findall(r"```sql\n(.*?)```", text, re.DOTALL):
        if "mercer_fit" not in query:
            far = check_sql(query)
            assert far < MOST, f"{query}: {far}"
            print(f"docs/scale.md: the sums in SQL; one process within {far:.0e}")


if __name__ == "__main__":
    main(sys.argv[1])
