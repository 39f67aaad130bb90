//! Independent pieces of work on several threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;

/// The results of `work(0)`, …, `work(count − 1)` in that order, made on `threads` threads, this
/// one among them.
///
/// A thread takes the next piece when it is done with one. Memory: the results, and what `work`
/// needs on each thread.
pub fn in_parallel<T: Send>(threads: usize, count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let (next, (done, made)) = (AtomicUsize::new(0), channel());
    let (next, work) = (&next, &work);
    let run = move |done: std::sync::mpsc::Sender<(usize, T)>| {
        while let Some(piece) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|piece| *piece < count) {
            // The receiver outlives all senders.
            drop(done.send((piece, work(piece))));
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.min(count) {
            let done = done.clone();
            scope.spawn(move || run(done));
        }
        run(done);
    });
    let mut made: Vec<(usize, T)> = made.into_iter().collect();
    made.sort_by_key(|(piece, _)| *piece);
    made.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_the_order_of_the_pieces() {
        for threads in [0, 1, 3, 20] {
            for count in [0, 1, 2, 17] {
                assert_eq!(
                    in_parallel(threads, count, |piece| piece * piece),
                    (0..count).map(|i| i * i).collect::<Vec<_>>()
                );
            }
        }
    }
}
