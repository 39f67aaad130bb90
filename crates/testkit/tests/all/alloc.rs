//! The counting allocator counts what it should, on the thread that asks, and nothing else.

use std::hint::black_box;

use mercer_testkit::alloc::allocations_during;

#[test]
fn boxes_zeroed_vectors_and_growth_are_counted() {
    assert_eq!(allocations_during(|| drop(black_box(Box::new(1.0_f64)))), 1);
    assert_eq!(allocations_during(|| drop(black_box(vec![0.0_f64; 100]))), 1);
    let mut values: Vec<f64> = Vec::with_capacity(4);
    assert_eq!(allocations_during(|| values.extend([1.0; 4])), 0);
    assert_eq!(allocations_during(|| values.push(black_box(1.0))), 1);
}

#[test]
fn arithmetic_is_free() {
    let values = vec![1.0_f64; 1000];
    let mut sum = 0.0;
    assert_eq!(allocations_during(|| sum = black_box(&values).iter().sum()), 0);
    assert!(sum == 1000.0);
}

#[test]
fn other_threads_do_not_count() {
    let (start, started) = std::sync::mpsc::sync_channel::<()>(0);
    let (finish, finished) = std::sync::mpsc::sync_channel::<()>(0);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            started.recv().unwrap();
            for size in 1..100 {
                drop(black_box(vec![0_u8; size]));
            }
            finish.send(()).unwrap();
        });
        // One warm-up of the channels' own thread data, then the thread allocates while this one
        // only waits.
        let own = allocations_during(|| {
            start.send(()).unwrap();
            finished.recv().unwrap();
        });
        assert!(own < 99, "{own} allocations, though all 99 were made elsewhere");
    });
}
