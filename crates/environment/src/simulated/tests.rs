use super::*;
use crate::KeptFile;
use crate::{read_bounded, write_atomically};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn path(name: &str) -> &Path {
    Path::new(name)
}

fn file(disk: &SimulatedDisk, name: &str) -> Arc<dyn DiskFile> {
    disk.open(path(name), OpenMode::CreateOrOpen).unwrap()
}

fn read(disk: &SimulatedDisk, name: &str) -> Vec<u8> {
    read_bounded(disk, path(name), 1 << 20).unwrap()
}

/// A disk with a durable file `f` that holds `bytes`.
fn disk_with(bytes: &[u8]) -> SimulatedDisk {
    let disk = SimulatedDisk::new(1);
    write_atomically(&disk, path("f"), bytes).unwrap();
    disk
}

/// What `look` sees after a crash, over many seeds.
fn outcomes<T: Ord>(disk: &SimulatedDisk, look: impl Fn(&SimulatedDisk) -> T) -> BTreeSet<T> {
    let after = |seed| {
        let disk = disk.fork();
        disk.crash(seed);
        look(&disk)
    };
    (0..400).map(after).collect()
}

fn names(disk: &SimulatedDisk) -> Vec<String> {
    let names = disk.live_files().into_keys();
    names.map(|name| name.display().to_string()).collect()
}

#[test]
fn synced_bytes_under_a_synced_name_survive_every_crash() {
    let disk = disk_with(b"kept");
    assert_eq!(
        outcomes(&disk, |disk| read(disk, "f")),
        [b"kept".to_vec()].into()
    );
}

#[test]
fn unsynced_bytes_survive_wholly_or_not_or_torn_between_sectors() {
    let disk = disk_with(&[1; 3 * SECTOR_BYTES]);
    file(&disk, "f")
        .write_all_at(&[2; 3 * SECTOR_BYTES], 0)
        .unwrap();
    let found = outcomes(&disk, |disk| read(disk, "f"));
    for sectors in [[1, 1, 1], [2, 2, 2], [1, 2, 1], [2, 1, 2], [1, 1, 2]] {
        let bytes: Vec<u8> = sectors
            .iter()
            .flat_map(|byte| [*byte; SECTOR_BYTES])
            .collect();
        assert!(found.contains(&bytes), "{sectors:?}");
    }
    assert_eq!(found.len(), 8);
}

#[test]
fn a_file_may_have_grown_without_its_bytes() {
    let disk = disk_with(b"");
    file(&disk, "f").write_all_at(&[7; 10], 0).unwrap();
    let found = outcomes(&disk, |disk| read(disk, "f"));
    assert_eq!(found, [vec![], vec![0; 10], vec![7; 10]].into());
}

#[test]
fn an_unsynced_cut_may_bring_the_old_end_back() {
    let disk = disk_with(&[1; 2 * SECTOR_BYTES]);
    let log = file(&disk, "f");
    log.set_len(0).unwrap();
    log.write_all_at(&[2; SECTOR_BYTES], 0).unwrap();
    let found = outcomes(&disk, |disk| read(disk, "f"));
    let resurrected = [[2; SECTOR_BYTES], [1; SECTOR_BYTES]].concat();
    assert!(found.contains(&resurrected));
    log.sync_data().unwrap();
    assert_eq!(outcomes(&disk, |disk| read(disk, "f")).len(), 1);
}

#[test]
fn later_files_may_survive_where_earlier_ones_do_not() {
    let disk = SimulatedDisk::new(1);
    for name in ["a", "b"] {
        file(&disk, name).sync_data().unwrap();
    }
    disk.sync_dir(path("")).unwrap();
    file(&disk, "a").write_all_at(b"1", 0).unwrap();
    file(&disk, "b").write_all_at(b"2", 0).unwrap();
    let found = outcomes(&disk, |disk| (read(disk, "a"), read(disk, "b")));
    assert!(found.contains(&(vec![], b"2".to_vec())));
    assert!(found.contains(&(b"1".to_vec(), vec![])));
}

#[test]
fn a_name_survives_for_certain_only_when_its_directory_was_synced() {
    let disk = SimulatedDisk::new(1);
    disk.create_dir_all(path("d/e")).unwrap();
    file(&disk, "d/e/f").sync_data().unwrap();
    for dir in ["d/e", "d"] {
        disk.sync_dir(path(dir)).unwrap();
        let found = outcomes(&disk, names);
        assert_eq!(found, [vec![], vec!["d/e/f".to_owned()]].into());
    }
    disk.sync_dir(path("")).unwrap();
    assert_eq!(outcomes(&disk, names), [vec!["d/e/f".to_owned()]].into());
}

#[test]
fn a_rename_or_removal_that_was_not_synced_happened_or_did_not() {
    let disk = disk_with(b"x");
    disk.rename(path("f"), path("g")).unwrap();
    let expected = |names: &[&[&str]]| -> BTreeSet<Vec<String>> {
        let owned = |names: &&[&str]| names.iter().map(|&name| name.to_owned()).collect();
        names.iter().map(owned).collect()
    };
    assert_eq!(outcomes(&disk, names), expected(&[&["f"], &["g"]]));
    disk.remove_file(path("g")).unwrap();
    assert_eq!(outcomes(&disk, names), expected(&[&["f"], &["g"], &[]]));
    disk.sync_dir(path("")).unwrap();
    assert_eq!(outcomes(&disk, names), expected(&[&[]]));
}

#[test]
fn a_rename_between_directories_is_durable_once_either_was_synced_and_never_doubles_a_name() {
    for synced in ["a", "b"] {
        let disk = SimulatedDisk::new(1);
        disk.create_dir_all(path("a")).unwrap();
        disk.create_dir_all(path("b")).unwrap();
        disk.sync_dir(path("")).unwrap();
        file(&disk, "a/f").sync_data().unwrap();
        disk.rename(path("a/f"), path("b/g")).unwrap();
        disk.sync_dir(path(synced)).unwrap();
        assert_eq!(outcomes(&disk, names), [vec!["b/g".to_owned()]].into());
        disk.sync_dir(path("a")).unwrap();
        assert_eq!(outcomes(&disk, names), [vec!["b/g".to_owned()]].into());
    }
}

#[test]
fn a_directory_is_removed_name_by_name() {
    let disk = SimulatedDisk::new(1);
    disk.create_dir_all(path("d")).unwrap();
    for name in ["d/1", "d/2"] {
        file(&disk, name).sync_data().unwrap();
    }
    disk.sync_dir(path("d")).unwrap();
    disk.sync_dir(path("")).unwrap();
    disk.crash_at(1);
    disk.remove_dir_all(path("d")).unwrap_err();
    disk.restart();
    assert_eq!(names(&disk), ["d/2"]);
    disk.remove_dir_all(path("d")).unwrap();
    assert!(!disk.exists(path("d")).unwrap());
}

#[test]
fn a_killed_process_leaves_what_it_wrote_and_a_power_cut_can_still_take_it() {
    let disk = disk_with(b"");
    let opened = file(&disk, "f");
    opened.write_all_at(b"x", 0).unwrap();
    disk.restart();
    opened.len().unwrap_err();
    assert_eq!(read(&disk, "f"), b"x");
    assert!(outcomes(&disk, |disk| read(disk, "f")).contains(&vec![]));
    file(&disk, "f").sync_data().unwrap();
    assert_eq!(
        outcomes(&disk, |disk| read(disk, "f")),
        [b"x".to_vec()].into()
    );
}

#[test]
fn a_failed_sync_that_dropped_its_pages_lies_until_the_cache_is_dropped() {
    let disk = disk_with(&[1; 2 * SECTOR_BYTES]);
    let log = file(&disk, "f");
    log.write_all_at(&[2; SECTOR_BYTES], SECTOR_BYTES as u64)
        .unwrap();
    disk.fail_sync(0, FailedSync::PagesDropped);
    assert_eq!(log.sync_data().unwrap_err().raw_os_error(), Some(5));
    log.sync_data().unwrap();
    assert_eq!(read(&disk, "f")[SECTOR_BYTES..], [2; SECTOR_BYTES]);
    disk.restart();
    assert_eq!(read(&disk, "f")[SECTOR_BYTES..], [2; SECTOR_BYTES]);
    disk.drop_page_cache(path("f")).unwrap();
    assert_eq!(read(&disk, "f"), [1; 2 * SECTOR_BYTES]);
}

#[test]
fn bytes_lost_to_a_failed_sync_read_as_zeros_where_the_file_had_grown() {
    let disk = disk_with(b"old");
    let log = file(&disk, "f");
    log.write_all_at(b"new", 3).unwrap();
    disk.fail_sync(0, FailedSync::PagesDropped);
    log.sync_data().unwrap_err();
    disk.drop_page_cache(path("f")).unwrap();
    assert_eq!(read(&disk, "f"), b"old\0\0\0");
}

#[test]
fn a_later_write_to_a_sector_takes_with_it_what_a_failed_sync_dropped_there() {
    let disk = disk_with(b"old");
    let log = file(&disk, "f");
    log.write_all_at(&[1; SECTOR_BYTES], 3).unwrap();
    disk.fail_sync(0, FailedSync::PagesDropped);
    log.sync_data().unwrap_err();
    let end = 3 + SECTOR_BYTES;
    log.write_all_at(b"new", end as u64).unwrap();
    log.sync_data().unwrap();
    let durable = disk.durable_files().remove(path("f")).unwrap();
    assert_eq!(durable[..3], *b"old");
    assert_eq!(durable[3..SECTOR_BYTES], [0; SECTOR_BYTES - 3]);
    assert_eq!(durable[SECTOR_BYTES..end], [1; 3]);
    assert_eq!(durable[end..], *b"new");
}

#[test]
fn a_failed_sync_that_kept_its_pages_is_made_good_by_the_next() {
    let disk = disk_with(b"");
    file(&disk, "f").write_all_at(b"x", 0).unwrap();
    disk.fail_sync(1, FailedSync::PagesKept);
    file(&disk, "g").sync_data().unwrap();
    file(&disk, "f").sync_data().unwrap_err();
    assert!(outcomes(&disk, |disk| read(disk, "f")).contains(&vec![]));
    file(&disk, "f").sync_data().unwrap();
    assert_eq!(disk.durable_files()[path("f")], b"x");
}

#[test]
fn a_file_whose_sync_failed_before_it_was_closed_is_refused_from_then_on() {
    let disk = SimulatedDisk::new(1);
    let kept: Arc<KeptFile> = Arc::default();
    let get = || {
        let open = || disk.open(path("f"), OpenMode::CreateOrOpen);
        kept.get(&disk, open)
    };
    get().unwrap().write_all_at(b"x", 0).unwrap();
    kept.pin();
    assert!(kept.sync_and_close());
    get().unwrap().write_all_at(b"y", 0).unwrap();
    disk.fail_sync(0, FailedSync::PagesKept);
    assert!(!kept.sync_and_close());
    assert!(get().is_err());
}

#[test]
fn a_failed_directory_sync_leaves_its_names_undecided() {
    let disk = SimulatedDisk::new(1);
    file(&disk, "f");
    disk.fail_sync(0, FailedSync::Either);
    disk.sync_dir(path("")).unwrap_err();
    assert_eq!(outcomes(&disk, names).len(), 2);
}

#[test]
fn a_full_disk_takes_what_fits_and_recovers_when_space_returns() {
    let disk = disk_with(b"12345");
    disk.set_free_bytes(Some(4));
    let log = file(&disk, "f");
    log.write_all_at(b"abcde", 0).unwrap();
    let full = log.write_all_at(b"ABCDEF", 4).unwrap_err();
    assert_eq!(full.kind(), io::ErrorKind::StorageFull);
    assert_eq!(read(&disk, "f"), b"abcdABCDE");
    assert_eq!(disk.available_bytes().unwrap(), 0);
    assert!(disk.total_bytes().unwrap() < u64::MAX);
    assert!(log.allocate(10).is_err());
    log.set_len(5).unwrap();
    log.allocate(9).unwrap();
    assert!(file(&disk, "g").write_all_at(b"x", 0).is_err());
    log.write_all_at(b"zzzz", 5).unwrap();
    disk.set_free_bytes(None);
    log.write_all_at(b"ABCDEF", 4).unwrap();
}

#[test]
fn failing_reads_fail_until_they_are_repaired() {
    let disk = disk_with(b"x");
    disk.fail_reads(path("f"), true).unwrap();
    let failed = read_bounded(&disk, path("f"), 9).unwrap_err();
    assert_eq!(failed.raw_os_error(), Some(5));
    disk.fail_reads(path("f"), false).unwrap();
    assert_eq!(read(&disk, "f"), b"x");
}

#[test]
fn a_flipped_bit_is_on_the_medium() {
    let disk = disk_with(b"ab");
    disk.corrupt(path("f"), 1, &[0x01]).unwrap();
    assert!(disk.corrupt(path("f"), 2, &[1]).is_err());
    disk.drop_page_cache(path("f")).unwrap();
    assert_eq!(read(&disk, "f"), b"ac");
}

#[test]
fn a_file_opened_for_reading_cannot_be_written() {
    let disk = disk_with(b"x");
    let log = disk.open(path("f"), OpenMode::Read).unwrap();
    let refused = log.write_all_at(b"y", 0).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
}

#[test]
fn wrong_paths_get_the_errors_of_the_real_disk() {
    let disk = disk_with(b"x");
    disk.create_dir_all(path("d")).unwrap();
    file(&disk, "d/f");
    let kind = |done: io::Result<()>| done.unwrap_err().kind();
    let open = |name, mode| kind(disk.open(path(name), mode).map(drop));
    assert_eq!(open("g", OpenMode::ReadWrite), io::ErrorKind::NotFound);
    assert_eq!(open("e/g", OpenMode::CreateNew), io::ErrorKind::NotFound);
    assert_eq!(open("f", OpenMode::CreateNew), io::ErrorKind::AlreadyExists);
    assert_eq!(
        open("f/g", OpenMode::CreateNew),
        io::ErrorKind::NotADirectory
    );
    assert_eq!(open("d", OpenMode::ReadWrite), io::ErrorKind::IsADirectory);
    assert_eq!(open("../f", OpenMode::Read), io::ErrorKind::InvalidInput);
    assert_eq!(kind(disk.remove_file(path("g"))), io::ErrorKind::NotFound);
    assert_eq!(
        kind(disk.remove_file(path("d"))),
        io::ErrorKind::IsADirectory
    );
    assert_eq!(
        kind(disk.remove_dir_all(path("g"))),
        io::ErrorKind::NotFound
    );
    assert_eq!(
        kind(disk.rename(path("f"), path("d"))),
        io::ErrorKind::IsADirectory
    );
    assert_eq!(
        kind(disk.rename(path("d"), path("d/e"))),
        io::ErrorKind::InvalidInput
    );
    assert_eq!(
        kind(disk.create_dir_all(path("f"))),
        io::ErrorKind::AlreadyExists
    );
    assert_eq!(kind(disk.sync_dir(path("f"))), io::ErrorKind::NotADirectory);
}

/// Replaces `f` with the steps given, stopping after each number of operations and cutting the power; says what was
/// found in `f` when the caller had been told that it was done, and when not.
fn found_after_every_crash(
    replace: impl Fn(&SimulatedDisk) -> io::Result<()>,
) -> (BTreeSet<Vec<u8>>, BTreeSet<Vec<u8>>) {
    let (mut done, mut cut_off) = (BTreeSet::new(), BTreeSet::new());
    for operations in 0.. {
        let disk = disk_with(&[1; 2 * SECTOR_BYTES]);
        disk.crash_at(operations);
        let replaced = replace(&disk);
        let was_reached = disk.is_crashed();
        let found = outcomes(&disk, |disk| read(disk, "f"));
        if replaced.is_ok() {
            &mut done
        } else {
            &mut cut_off
        }
        .extend(found);
        if !was_reached {
            return (done, cut_off);
        }
    }
    unreachable!("the steps end")
}

#[test]
fn a_file_replaced_atomically_is_old_or_new_at_every_crash_and_new_once_done() {
    let (old, new) = (vec![1; 2 * SECTOR_BYTES], vec![2; 2 * SECTOR_BYTES]);
    let (done, cut_off) =
        found_after_every_crash(|disk| write_atomically(disk, path("f"), &[2; 2 * SECTOR_BYTES]));
    assert_eq!(done, [new.clone()].into());
    assert_eq!(cut_off, [old, new].into());
}

#[test]
fn every_sync_that_is_left_out_of_an_atomic_replacement_is_found_out() {
    let replace = |disk: &SimulatedDisk, sync_file: bool, sync_dir: bool| {
        let log = disk.open(path("g"), OpenMode::CreateOrOpen)?;
        log.write_all_at(&[2; 2 * SECTOR_BYTES], 0)?;
        if sync_file {
            log.sync_data()?;
        }
        disk.rename(path("g"), path("f"))?;
        if sync_dir {
            disk.sync_dir(path(""))?;
        }
        Ok(())
    };
    let outcomes_when_done = |sync_file, sync_dir| {
        found_after_every_crash(|disk| replace(disk, sync_file, sync_dir))
            .0
            .len()
    };
    assert_eq!(outcomes_when_done(true, true), 1);
    assert_eq!(outcomes_when_done(true, false), 2);
    assert!(outcomes_when_done(false, true) > 1);
}

#[derive(Clone, Debug)]
enum Step {
    Write { at: usize, len: usize },
    SetLen(usize),
    Sync,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..3_000_usize, 0..1_500_usize).prop_map(|(at, len)| Step::Write { at, len }),
        2 => (0..3_000_usize).prop_map(Step::SetLen),
        1 => Just(Step::Sync),
    ]
}

/// Makes the steps, each write with a byte of its own; gives every version of the file since the last sync.
fn run(disk: &SimulatedDisk, steps: &[Step]) -> Vec<Vec<u8>> {
    let log = file(disk, "f");
    let mut versions = vec![read(disk, "f")];
    for (index, step) in steps.iter().enumerate() {
        match step {
            Step::Write { at, len } => {
                let bytes = vec![index as u8 + 1; *len];
                log.write_all_at(&bytes, *at as u64).unwrap();
            }
            Step::SetLen(len) => log.set_len(*len as u64).unwrap(),
            Step::Sync => {
                log.sync_data().unwrap();
                versions.clear();
            }
        }
        versions.push(read(disk, "f"));
    }
    versions
}

fn sector_of(version: &[u8], sector: usize, len: usize) -> Vec<u8> {
    let bytes = version.iter().copied().chain(std::iter::repeat(0));
    bytes.skip(sector * SECTOR_BYTES).take(len).collect()
}

proptest! {
    #[test]
    fn what_survives_is_in_each_sector_a_version_since_the_last_sync(
        steps in prop::collection::vec(step(), 0..20), seed: u64,
    ) {
        let disk = disk_with(&[255; 1_300]);
        let versions = run(&disk, &steps);
        disk.crash(seed);
        let survivor = read(&disk, "f");
        prop_assert!(versions.iter().any(|version| version.len() == survivor.len()));
        for (sector, found) in survivor.chunks(SECTOR_BYTES).enumerate() {
            let known = |version: &Vec<u8>| sector_of(version, sector, found.len()) == found;
            prop_assert!(versions.iter().any(known), "sector {sector}");
        }
        prop_assert_eq!(&disk.durable_files()[path("f")], &survivor);
    }

    #[test]
    fn the_same_steps_and_seeds_leave_the_same_bytes(
        steps in prop::collection::vec(step(), 0..20), seeds: (u64, u64), operations in 0..30_u64,
    ) {
        let after = || {
            let disk = SimulatedDisk::new(seeds.0);
            write_atomically(&disk, path("f"), b"x").unwrap();
            disk.crash_at(operations);
            let log = disk.open(path("f"), OpenMode::ReadWrite);
            for step in &steps {
                let Ok(log) = &log else { break };
                let done = match step {
                    Step::Write { at, len } => log.write_all_at(&vec![3; *len], *at as u64),
                    Step::SetLen(len) => log.set_len(*len as u64),
                    Step::Sync => log.sync_data(),
                };
                if done.is_err() {
                    break;
                }
            }
            disk.crash(seeds.1);
            disk.live_files()
        };
        prop_assert_eq!(after(), after());
    }
}
