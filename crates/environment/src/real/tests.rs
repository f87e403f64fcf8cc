use super::*;
use crate::{read_bounded, write_atomically};
use std::io::IoSlice;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicUsize, Ordering};

fn disk() -> (tempfile::TempDir, RealDisk) {
    let dir = tempfile::tempdir().unwrap();
    let disk = RealDisk::open(dir.path()).unwrap();
    (dir, disk)
}

#[test]
fn a_directory_in_use_is_refused_with_the_holders_id_until_it_is_let_go() {
    let (dir, disk) = disk();
    let refused = RealDisk::open(dir.path()).unwrap_err();
    let DataDirError::InUse { path, pid } = &refused else {
        panic!("{refused}")
    };
    assert_eq!(
        (path.as_path(), *pid),
        (dir.path(), Some(std::process::id()))
    );
    assert!(refused.to_string().contains("is in use by process"));
    drop(disk);
    RealDisk::open(dir.path()).unwrap();
}

#[test]
fn a_missing_directory_is_made_with_those_above_it_and_closed_to_others() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a/b/c");
    let disk = RealDisk::open(&path).unwrap();
    let file = disk.open(Path::new("f"), OpenMode::CreateNew).unwrap();
    file.write_all_at(b"x", 0).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o007;
    assert_eq!((mode(&path), mode(&path.join("f"))), (0, 0));
}

#[test]
fn a_file_in_the_directorys_place_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    fs::write(&path, "mine").unwrap();
    for path in [path.clone(), path.join("below")] {
        let refused = RealDisk::open(&path).unwrap_err();
        assert!(
            matches!(refused, DataDirError::NotADirectory { .. }),
            "{refused}"
        );
    }
    assert_eq!(fs::read(&path).unwrap(), b"mine");
}

#[test]
fn a_foreign_directory_is_refused_and_left_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let open = || RealDisk::open_identified(dir.path(), "identity");
    fs::create_dir(dir.path().join("lost+found")).unwrap();
    drop(open().unwrap());
    fs::remove_file(dir.path().join(LOCK_FILE)).unwrap();
    fs::write(dir.path().join("photo.jpg"), "x").unwrap();
    let refused = open().unwrap_err();
    let DataDirError::Foreign { found, .. } = &refused else {
        panic!("{refused}")
    };
    assert_eq!(found, "photo.jpg");
    assert!(!dir.path().join(LOCK_FILE).exists());
    fs::write(dir.path().join("identity"), "x").unwrap();
    open().unwrap();
}

#[test]
fn reads_and_writes_go_where_they_are_sent() {
    let (_dir, disk) = disk();
    let path = Path::new("t-0/log");
    disk.create_dir_all(Path::new("t-0")).unwrap();
    let file = disk.open(path, OpenMode::CreateNew).unwrap();
    let many: Vec<Vec<u8>> = (0..3_000_u32)
        .map(|n| vec![n as u8; (n % 7) as usize])
        .collect();
    let slices: Vec<IoSlice<'_>> = many.iter().map(|part| IoSlice::new(part)).collect();
    file.write_all_vectored_at(&slices, 5).unwrap();
    let expected = [vec![0; 5], many.concat()].concat();
    assert_eq!(read_bounded(&disk, path, expected.len()).unwrap(), expected);
    assert!(read_bounded(&disk, path, expected.len() - 1).is_err());
    file.set_len(7).unwrap();
    file.allocate(1 << 16).unwrap();
    assert_eq!(file.len().unwrap(), 7);
    let mut buf = [9; 4];
    assert_eq!(file.read_at(&mut buf, 7).unwrap(), 0);
    let cut_short = file.read_exact_at(&mut buf, 5).unwrap_err();
    assert_eq!(cut_short.kind(), io::ErrorKind::UnexpectedEof);
    file.sync_data().unwrap();
    file.sync_all().unwrap();
    disk.drop_page_cache(path).unwrap();
    assert_eq!(read_bounded(&disk, path, 7).unwrap(), expected[..7]);
    assert!(disk.available_bytes().unwrap() > 0);
    assert!(disk.total_bytes().unwrap() >= disk.available_bytes().unwrap());
}

#[test]
fn names_are_created_listed_renamed_and_removed() {
    let (_dir, disk) = disk();
    let path = Path::new;
    disk.create_dir_all(path("b/c")).unwrap();
    disk.open(path("b/x"), OpenMode::CreateNew).unwrap();
    let again = disk.open(path("b/x"), OpenMode::CreateNew).unwrap_err();
    assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
    let missing = disk.open(path("b/y"), OpenMode::ReadWrite).unwrap_err();
    assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    disk.rename(path("b/x"), path("b/a")).unwrap();
    let names = disk.read_dir(path("b")).unwrap();
    let entry = |name: &str, is_dir| DirEntry {
        name: name.into(),
        is_dir,
    };
    assert_eq!(names, [entry("a", false), entry("c", true)]);
    disk.sync_dir(path("b")).unwrap();
    disk.sync_dir(path("")).unwrap();
    disk.remove_file(path("b/a")).unwrap();
    disk.remove_dir_all(path("b")).unwrap();
    assert!(!disk.exists(path("b")).unwrap());
}

#[test]
fn a_path_out_of_the_data_directory_is_refused() {
    let (_dir, disk) = disk();
    for path in ["/etc/passwd", "../x", "a/../../x"] {
        let refused = disk.open(Path::new(path), OpenMode::Read).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::InvalidInput, "{path}");
    }
}

#[test]
fn a_file_replaced_atomically_leaves_no_temporary_behind() {
    let (_dir, disk) = disk();
    let path = Path::new("checkpoint");
    for bytes in [b"longer than the next".as_slice(), b"short"] {
        write_atomically(&disk, path, bytes).unwrap();
        assert_eq!(read_bounded(&disk, path, 100).unwrap(), bytes);
    }
    assert!(!disk.exists(Path::new("checkpoint.tmp")).unwrap());
}

#[test]
fn files_beyond_the_share_are_refused_until_others_are_closed() {
    let folder = tempfile::tempdir().unwrap();
    let disk = RealDisk::open(folder.path()).unwrap().with_files_max(4);
    let open = |name: &str| disk.open(Path::new(name), OpenMode::CreateOrOpen);
    let held = ["a", "b", "c", "d"].map(|name| open(name).unwrap());
    assert_eq!(open("e").unwrap_err().raw_os_error(), Some(24));
    assert!(!disk.exists(Path::new("e")).unwrap());
    drop(held);
    open("e").unwrap();
}

#[test]
fn files_that_are_kept_open_give_way_unless_they_are_pinned_or_were_just_used() {
    let folder = tempfile::tempdir().unwrap();
    let disk = RealDisk::open(folder.path()).unwrap().with_files_max(8);
    let kept: Vec<Arc<KeptFile>> = (0..20).map(|_| Arc::default()).collect();
    let opened = AtomicUsize::new(0);
    let get = |n: usize| {
        let open = || {
            opened.fetch_add(1, Ordering::Relaxed);
            disk.open(Path::new(&format!("f{n}")), OpenMode::CreateOrOpen)
        };
        kept[n].get(&disk, open)
    };
    get(0).unwrap();
    kept[0].pin();
    let held = get(1).unwrap();
    for n in 1..20 {
        get(n).unwrap();
        assert!(disk.files.count.load(Ordering::Relaxed) <= 8);
    }
    assert_eq!(opened.load(Ordering::Relaxed), 20);
    get(0).unwrap();
    get(19).unwrap();
    assert_eq!(opened.load(Ordering::Relaxed), 20);
    // What somebody still has stays readable, whatever became of its place.
    held.write_all_at(b"x", 0).unwrap();
    get(1).unwrap().read_exact_at(&mut [0], 0).unwrap();
    drop(held);
}

#[test]
fn where_all_files_are_pinned_one_is_synced_and_closed_unless_somebody_has_it_in_hand() {
    let folder = tempfile::tempdir().unwrap();
    let disk = RealDisk::open(folder.path()).unwrap().with_files_max(8);
    let kept: Vec<Arc<KeptFile>> = (0..10).map(|_| Arc::default()).collect();
    let get = |n: usize| {
        let name = format!("f{n}");
        kept[n].pin();
        kept[n].get(&disk, || {
            disk.open(Path::new(&name), OpenMode::CreateOrOpen)
        })
    };
    let in_hand: Vec<_> = (0..8).map(|n| get(n).unwrap()).collect();
    assert_eq!(get(8).unwrap_err().raw_os_error(), Some(24));
    let released = 3;
    let still_in_hand = in_hand.into_iter().enumerate();
    let still_in_hand: Vec<_> = still_in_hand.filter(|(n, _)| *n != released).collect();
    get(8).unwrap();
    assert!(!kept[released].is_open());
    assert!(still_in_hand.iter().all(|(n, _)| kept[*n].is_open()));
}
