//! Work on several cores.
//!
//! Threads are started for one call and joined before it returns. A pool would be quicker to use, but a process
//! that forks would leave its child with a pool whose threads do not exist.

use std::num::NonZero;
use std::sync::LazyLock;
use std::thread;

// Asked once, because on Linux the answer is read from files, which takes 50 µs (measured).
static CORES: LazyLock<usize> = LazyLock::new(|| thread::available_parallelism().map_or(1, NonZero::get));

/// Return the number of cores that this process may use.
pub fn cores() -> usize {
    *CORES
}

/// Apply `work` to each of `items`, in order, on as many cores as there are chunks of `least` items.
pub fn map_chunks<T: Sync, R: Send>(items: &[T], least: usize, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let parts = (items.len() / least.max(1)).clamp(1, cores());
    if parts == 1 {
        return items.iter().map(work).collect();
    }
    let size = items.len().div_ceil(parts);
    thread::scope(|scope| {
        let work = &work;
        let running: Vec<_> = items
            .chunks(size)
            .map(|chunk| scope.spawn(move || chunk.iter().map(work).collect::<Vec<R>>()))
            .collect();
        running.into_iter().flat_map(|thread| thread.join().expect("a thread of a kernel panicked")).collect()
    })
}
