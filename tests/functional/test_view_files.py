"""The view as a file system: renames, links, watches, concurrent writers, databases."""
import os

from support.trees import write


def test_renames_of_directories_of_the_host_work(paddock, repo):
    done = paddock.sh(
        "mv src moved && cat moved/main.py && python3 -c \"import shutil; shutil.move('moved', 'again')\" "
        "&& ls again"
    ).ok()
    assert done.out == "print('main')\nmain.py\n"


def test_hard_links_hold_together_or_break_as_in_any_overlay(paddock, repo):
    write(repo, {"one": "1\n"})
    os.link(repo / "one", repo / "two")
    done = paddock.sh(
        "ln one three && stat -c %h three && echo more >> three && cat one three"
    ).ok()
    assert done.out.splitlines()[1:] == ["1", "more", "1", "more"]
    assert (repo / "one").read_text() == "1\n"


def test_ten_thousand_hard_links_across_directories(paddock, repo, untouched):
    script = (
        "import os\nos.makedirs('store'); os.makedirs('a/b')\n"
        "for i in range(10000):\n  open(f'store/{i}', 'w').close(); os.link(f'store/{i}', f'a/b/{i}')\n"
        "print(len(os.listdir('a/b')))"
    )
    assert paddock.run("python3", "-c", script).ok().out == "10000\n"
    paddock("discard").ok()


def test_directories_can_be_synced_and_watched(paddock, repo):
    script = """
import os, ctypes, struct
fd = os.open('src', os.O_RDONLY | os.O_DIRECTORY); os.fsync(fd)
libc = ctypes.CDLL(None, use_errno=True)
watch = libc.inotify_init1(0)
assert libc.inotify_add_watch(watch, b'src/main.py', 0x2) >= 0 and libc.inotify_add_watch(watch, b'src', 0x100) >= 0
open('src/main.py', 'a').write('# more\\n'); open('src/new.py', 'w').close()
events = os.read(watch, 4096)
print(len(events) >= 32)
"""
    assert paddock.run("python3", "-c", script).ok().out == "True\n"


def test_directory_entries_agree_with_stat(paddock, repo):
    write(repo, {f"many/{n}": "x" for n in range(50)})
    script = (
        "import os\nos.remove('many/3'); open('many/new', 'w').close()\n"
        "print(all(e.inode() == e.stat(follow_symlinks=False).st_ino for e in os.scandir('many')))"
    )
    assert paddock.run("python3", "-c", script).ok().out == "True\n"


def test_concurrent_writers_see_no_empty_or_stale_files(paddock, repo):
    script = """
import os, multiprocessing
def work(n):
    os.makedirs(f'w{n}', exist_ok=True)
    for i in range(200):
        with open(f'w{n}/{i}', 'w') as f: f.write('x' * 100)
        assert os.stat(f'w{n}/{i}').st_size == 100
        os.rename(f'w{n}/{i}', f'w{n}/r{i}')
    return len(os.listdir(f'w{n}'))
print(sum(multiprocessing.Pool(8).map(work, range(8))))
"""
    assert paddock.run("python3", "-c", script).ok().out == "1600\n"


def test_sqlite_in_wal_mode_stays_whole(paddock, repo):
    script = """
import sqlite3, threading
def work(n):
    db = sqlite3.connect('x.db', timeout=60)
    for i in range(50):
        with db: db.execute('insert into t values (?)', (n * 1000 + i,))
db = sqlite3.connect('x.db'); db.execute('pragma journal_mode=wal'); db.execute('create table t (a)'); db.commit()
ts = [threading.Thread(target=work, args=(n,)) for n in range(4)]
[t.start() for t in ts]; [t.join() for t in ts]
print(db.execute('select count(*) from t').fetchone()[0], db.execute('pragma integrity_check').fetchone()[0])
"""
    assert paddock.run("python3", "-c", script).ok().out == "200 ok\n"
