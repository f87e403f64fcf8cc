//! The files that the process may open, and who may have how many of them.
//!
//! Why it exists: logs that take the last file leave no connection to be accepted, and connections that take it leave
//! no segment to be rolled.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Standard streams, the event loop, the ports, and what else is open for a moment.
const OUR_OWN: usize = 100;
/// With fewer, what the process opens for itself leaves too little.
const FEWEST: u64 = 64;
/// Below this, an operator should know what the limit means.
const FEW: usize = 4096;

/// How many files logs, Kafka connections and HTTP connections may have open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpenFiles {
    pub(crate) logs: usize,
    pub(crate) connections: usize,
    pub(crate) http_connections: usize,
}

impl OpenFiles {
    /// Raises the soft limit, which is small in a login shell, to the hard one, which is what the operator allows, and shares it
    /// out.
    ///
    /// # Errors
    /// It is too small to serve anybody.
    pub(crate) fn raise() -> anyhow::Result<Self> {
        let limit = raise_limit();
        if let Some(few) = limit.filter(|limit| *limit < FEWEST) {
            anyhow::bail!(
                "only {few} files may be open at once, which is less than {FEWEST}; raise the limit (ulimit -Hn)"
            );
        }
        let files = Self::of_limit(limit);
        if let Some(warning) = files.warning() {
            tracing::warn!("{warning}");
        }
        Ok(files)
    }

    fn of_limit(limit: Option<u64>) -> Self {
        let Some(limit) = limit else {
            return Self {
                logs: usize::MAX,
                connections: usize::MAX,
                http_connections: usize::MAX,
            };
        };
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let shared = limit - OUR_OWN.min(limit / 4);
        let (logs, web) = (shared / 2, shared / 8);
        Self {
            logs,
            connections: shared - logs - web,
            http_connections: web,
        }
    }

    fn warning(self) -> Option<String> {
        let Self {
            logs,
            connections,
            http_connections,
        } = self;
        (logs < FEW / 2).then(|| {
            format!(
                "few files may be open at once (ulimit -n): there is room for {connections} connections, for \
                 {http_connections} over HTTP, and for {logs} files of logs, which are closed and opened again where there are more partitions in use; raise the limit"
            )
        })
    }
}

fn raise_limit() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => limit.maximum,
        Err(error) => {
            tracing::warn!(
                "the limit of open files stays at {:?}: {error}",
                limit.current
            );
            limit.current
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_leaves_files_for_logs_for_connections_and_for_us() {
        for limit in [FEWEST, 1024, 1_000_000] {
            let OpenFiles {
                logs,
                connections,
                http_connections,
            } = OpenFiles::of_limit(Some(limit));
            let limit = usize::try_from(limit).unwrap();
            assert!(logs > 0 && connections > 0 && http_connections > 0);
            let all = logs + connections + http_connections;
            assert!(all + OUR_OWN.min(limit / 4) <= limit);
        }
        assert_eq!(OpenFiles::of_limit(None).logs, usize::MAX);
    }

    #[test]
    fn a_small_limit_is_worth_a_warning_and_a_large_one_is_not() {
        let small = OpenFiles::of_limit(Some(64)).warning().unwrap();
        assert!(
            small.contains("18 connections, for 6 over HTTP, and for 24 files"),
            "{small}"
        );
        assert_eq!(OpenFiles::of_limit(Some(500_000)).warning(), None);
        assert_eq!(OpenFiles::of_limit(None).warning(), None);
    }
}
