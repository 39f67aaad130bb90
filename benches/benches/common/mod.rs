//! A topic of the catalogue as a criterion group: ids `operation/size`, throughput in bytes.

use criterion::{BenchmarkId, Criterion, Throughput};
use mercer_benches::Operation;

/// Runs `operations` under criterion, whose command-line arguments apply.
pub(crate) fn bench(topic: &str, operations: Vec<Operation>) {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group(topic);
    for mut operation in operations {
        group.throughput(Throughput::Bytes(operation.work.bytes() as u64));
        let id = BenchmarkId::new(&operation.name, operation.size);
        group.bench_function(id, |bencher| bencher.iter_custom(|runs| operation.time(runs)));
    }
    group.finish();
    criterion.final_summary();
}
