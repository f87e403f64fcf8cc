//! The same work on several threads at once.

/// Runs `work` with the numbers below `count`, each on a thread of its own; what they found, in that order.
///
/// # Errors
/// The first error in that order; all have ended then.
pub(crate) fn run<T: Send>(
    count: usize,
    work: impl Fn(usize) -> anyhow::Result<T> + Sync,
) -> anyhow::Result<Vec<T>> {
    let work = &work;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..count)
            .map(|number| scope.spawn(move || work(number)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("a panic ends the program"))
            .collect()
    })
}
