//! Partitions, waiting fetches and the coordinator runtime: the one API that every listener calls.
