"""Spark: one state a partition by mapInArrow, merged on the driver. python spark.py OUT.mercer 'ROWS/*.parquet' OPTIONS…"""

import glob
import os
import sys

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import SparkSession
from pyspark.sql.functions import input_file_name

from sums import fit, merge


def model(paths, options):
    # Workers run the interpreter of the driver, which has the packages.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()

    def partition(batches):
        batches = list(batches)
        if batches:
            part = f"partition {TaskContext.get().partitionId()}"
            for state in fit(pa.Table.from_batches(batches), options, part):
                yield pa.RecordBatch.from_pydict({"state": pa.array([state], pa.binary())})

    rows = spark.read.parquet(*paths).repartition(len(paths), input_file_name())
    states = rows.mapInArrow(partition, "state binary").collect()
    return merge([bytes(row.state) for row in states])


if __name__ == "__main__":
    out, pattern, options = sys.argv[1], sys.argv[2], sys.argv[3:]
    with open(out, "wb") as file:
        file.write(model(sorted(glob.glob(pattern)), options))
