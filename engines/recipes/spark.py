"""Spark: one state a partition by mapInArrow, merged on the driver. python spark.py ROWS.parquet OUT.mercer OPTIONS…"""

import os
import sys

import pyarrow as pa
from pyspark.sql import SparkSession

from sums import fit, merge

path, out, options = sys.argv[1], sys.argv[2], sys.argv[3:]


def partition(batches):
    batches = list(batches)
    if batches:
        for state in fit(pa.Table.from_batches(batches), options):
            yield pa.RecordBatch.from_pydict({"state": pa.array([state], pa.binary())})


# Workers run the interpreter of the driver, which has the packages.
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
rows = spark.read.parquet(path).repartition(4).mapInArrow(partition, "state binary").collect()
with open(out, "wb") as file:
    file.write(merge([bytes(row.state) for row in rows]))
spark.stop()
