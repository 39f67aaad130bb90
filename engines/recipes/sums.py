"""The sums of one partition, and of all: through the `mercer` command, which must be on the PATH or named by $MERCER.

A state is the file that `mercer fit` writes, as bytes: a Spark, Dask or Ray task returns it like any other value, and `mercer predict` takes it.
"""

import csv
import os
import subprocess
import tempfile

import pyarrow as pa
import pyarrow.parquet as pq

MERCER = os.environ.get("MERCER", "mercer")


def run(*arguments):
    """The command; what it says on stderr is the exception."""
    done = subprocess.run([MERCER, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return done.stdout


def fit(table: pa.Table, options: list[str], part: str) -> list[bytes]:
    """The state of some rows, in a list; an empty partition has none. `part` names the rows: a state that comes twice is refused."""
    if table.num_rows == 0:
        return []
    with tempfile.TemporaryDirectory() as folder:
        rows, out = os.path.join(folder, "rows.parquet"), os.path.join(folder, "state.mercer")
        pq.write_table(table, rows)
        run("fit", rows, *options, "--part", part, "--quiet", "--out", out)
        with open(out, "rb") as file:
            return [file.read()]


def merge(states: list[bytes]) -> bytes:
    """The state of all rows."""
    with tempfile.TemporaryDirectory() as folder:
        for index, state in enumerate(states):
            with open(os.path.join(folder, f"{index}.mercer"), "wb") as file:
                file.write(state)
        out = os.path.join(folder, "all")
        run("merge", folder, "--quiet", "--out", out)
        with open(out, "rb") as file:
            return file.read()


def predict(state: bytes, table: pa.Table) -> list[list[str]]:
    """The lines of `mercer predict` for rows, whose columns are found by name."""
    with tempfile.TemporaryDirectory() as folder:
        rows, model = os.path.join(folder, "rows.parquet"), os.path.join(folder, "model.mercer")
        pq.write_table(table, rows)
        with open(model, "wb") as file:
            file.write(state)
        return list(csv.reader(run("predict", rows, "--model", model).splitlines()))[1:]
