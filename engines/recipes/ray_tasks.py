"""Ray: a task a row group, merged by the driver. python ray_tasks.py ROWS.parquet OUT.mercer OPTIONS…"""

import os
import sys

import pyarrow.parquet as pq
import ray

path, out, options = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3:]
here = os.path.dirname(os.path.abspath(__file__))


@ray.remote
def state(group):
    from sums import fit

    return fit(pq.ParquetFile(path).read_row_group(group), options)


if __name__ == "__main__":
    environment = {"env_vars": {"PYTHONPATH": here, "MERCER": os.environ.get("MERCER", "mercer")}}
    ray.init(num_cpus=2, include_dashboard=False, runtime_env=environment)
    states = ray.get([state.remote(group) for group in range(pq.ParquetFile(path).num_row_groups)])
    from sums import merge

    with open(out, "wb") as file:
        file.write(merge([one for some in states for one in some]))
