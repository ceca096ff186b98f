"""Finding the files to ingest."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

from engine.base.errors import InvalidInputError, NotFoundError
from engine.files.ingest.documents import PassedOver, Skipped, SourceFile
from engine.files.ingest.folder_walk import find_files


def _tree(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    return root


def _sources(*paths: str | Path, name: str | None = None) -> list[str]:
    return [item.source for item in find_files(paths, name=name) if isinstance(item, SourceFile)]


def _skipped(*paths: str | Path) -> list[tuple[str, str]]:
    return [(item.source, item.reason) for item in find_files(paths) if isinstance(item, Skipped)]


def test_files_come_in_the_order_of_their_paths(tmp_path: Path) -> None:
    """Files are in byte order of their relative paths."""
    names = ["a.md", "a/x.md", "a/b/y.txt", "a-b.md", "B.MD", "é.jsonl", "z.ndjson", "a/.x.md"]
    root = _tree(tmp_path / "notes", *names)
    expected = sorted((name for name in names if "/." not in name), key=os.fsencode)
    assert _sources(root) == [f"notes/{name}" for name in expected]


def test_hidden_and_other_files_are_passed_over(tmp_path: Path) -> None:
    """Hidden entries, files with other suffixes and lock files are passed over, each with its kind."""
    root = _tree(tmp_path / "n", ".git/a.md", ".a.md", "b.PNG", "c", "d.md.bak", "e. F G", "~$x.txt")
    (root / "g").symlink_to("b.PNG")
    assert list(find_files([root])) == [
        PassedOver("n/.a.md", "hidden"),
        PassedOver("n/.git", "hidden", is_folder=True),
        PassedOver("n/b.PNG", ".png"),
        PassedOver("n/c", "without a suffix"),
        PassedOver("n/d.md.bak", ".bak"),
        PassedOver("n/e. F G", "other names"),
        PassedOver("n/g", "symbolic link"),
        PassedOver("n/~$x.txt", "lock file"),
    ]


def test_formats_follow_the_suffix(tmp_path: Path) -> None:
    """The six suffixes are recognised in upper and lower case."""
    root = _tree(tmp_path / "n", "a.md", "b.Markdown", "c.txt", "d.text", "e.jsonl", "f.NDJSON")
    formats = [item.format for item in find_files([root]) if isinstance(item, SourceFile)]
    assert formats == ["markdown", "markdown", "text", "text", "jsonl", "jsonl"]


def test_a_single_file_has_its_folder_in_its_source(tmp_path: Path) -> None:
    """The source of a single file is the same as when its folder is ingested."""
    root = _tree(tmp_path / "notes", "a.md")
    assert _sources(root / "a.md") == _sources(root) == ["notes/a.md"]


def test_the_first_component_can_be_chosen(tmp_path: Path) -> None:
    """A given name replaces the name of the folder."""
    root = _tree(tmp_path / "notes", "a.md")
    assert _sources(root, name="other") == ["other/a.md"]


def test_a_folder_given_by_a_dot_has_its_own_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The source does not depend on the current folder."""
    root = _tree(tmp_path / "notes", "a.md")
    monkeypatch.chdir(root)
    assert _sources(".") == _sources("../notes") == _sources("a.md") == ["notes/a.md"]


@pytest.mark.parametrize("name", ["", "a/b", "..", "a\nb"])
def test_a_name_that_is_no_component_is_refused(tmp_path: Path, name: str) -> None:
    """An invalid name is refused before anything is read."""
    with pytest.raises(InvalidInputError):
        find_files([tmp_path], name=name)


def test_a_path_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """A missing path is an error, and no other path is read."""
    with pytest.raises(NotFoundError):
        find_files([tmp_path, tmp_path / "missing"])


def test_a_named_file_of_another_kind_is_reported(tmp_path: Path) -> None:
    """A single file with an unsupported suffix is reported."""
    ((source, reason),) = _skipped(_tree(tmp_path / "n", "a.png") / "a.png")
    assert (source, "unknown kind" in reason) == ("n/a.png", True)


def test_links_are_not_followed(tmp_path: Path) -> None:
    """Links inside a folder are not followed, and each is reported with its reason."""
    root = _tree(tmp_path / "n", "real.md", "sub/x.md")
    _tree(tmp_path, "secret.md", "out/y.md")
    for link, target in [
        ("a.md", "../secret.md"),
        ("b", "../out"),
        ("c.md", "real.md"),
        ("d", "sub"),
        ("e", "nowhere"),
        ("f", "f"),
        ("g", "/"),
        ("h.png", "/dev/null"),
    ]:
        (root / link).symlink_to(target)
    assert _sources(root) == ["n/real.md", "n/sub/x.md"]
    assert [(source, reason.split()[-1]) for source, reason in _skipped(root)] == [
        ("n/a.md", "folder"),
        ("n/b", "folder"),
        ("n/c.md", "target"),
        ("n/d", "target"),
        ("n/e", "link"),
        ("n/f", "loop"),
        ("n/g", "folder"),
    ]


def test_a_named_link_is_followed(tmp_path: Path) -> None:
    """A link given as a path is followed, and keeps its name in the source."""
    _tree(tmp_path / "n", "a.md")
    (tmp_path / "alias").symlink_to("n")
    assert _sources(tmp_path / "alias", tmp_path / "n") == ["alias/a.md", "n/a.md"]


def test_pipes_sockets_and_folders_named_like_files_are_not_read(tmp_path: Path) -> None:
    """Only regular files are read, and nothing else is opened."""
    root = _tree(tmp_path / "n", "folder.md/x.txt")
    os.mkfifo(root / "pipe.md")
    with socket.socket(socket.AF_UNIX) as server:
        short = os.open(root, os.O_RDONLY)
        server.bind(f"/proc/self/fd/{short}/s.txt")
        os.close(short)
    assert _sources(root) == ["n/folder.md/x.txt"]
    assert _skipped(root) == [("n/pipe.md", "not a regular file"), ("n/s.txt", "not a regular file")]


def test_a_name_that_is_not_text_is_reported(tmp_path: Path) -> None:
    """A file name that is not UTF-8 or has a line break is reported."""
    root = _tree(tmp_path / "n", "b\n.md")
    Path(os.fsdecode(os.fsencode(root) + b"/a\xff.md")).write_text("x")
    assert [source for source, _ in _skipped(root)] == ["n/a\\xff.md", "n/b\n.md"]


def test_two_files_of_one_source_are_not_mixed(tmp_path: Path) -> None:
    """Files with the same source, by NFC or by the folder's name, are reported instead of mixed."""
    root = _tree(tmp_path / "n", "\u00e9.md", "e\u0301.md", "a.md")
    other = _tree(tmp_path / "o" / "n", "a.md")
    assert _sources(root, other) == ["n/a.md", "n/\u00e9.md"]
    assert [source for source, _ in _skipped(root, other)] == ["n/\u00e9.md", "n/a.md"]


def test_a_source_over_the_limit_is_reported(tmp_path: Path) -> None:
    """A source over the limit is reported."""
    root = _tree(tmp_path / "n", "/".join(["d" * 200] * 3) + "/a.md")
    ((_, reason),) = _skipped(root)
    assert "source" in reason


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() == 0, reason="root reads every folder")
def test_a_folder_that_cannot_be_listed_is_reported(tmp_path: Path) -> None:
    """A folder that cannot be listed is reported, and the others are read."""
    root = _tree(tmp_path / "n", "a.md", "closed/x.md")
    (root / "closed").chmod(0)
    try:
        assert (_sources(root), len(_skipped(root))) == (["n/a.md"], 1)
    finally:
        (root / "closed").chmod(0o700)


def test_folders_may_nest_deeply(tmp_path: Path) -> None:
    """Deeply nested folders do not overflow the stack, and a path that is too long is reported."""
    here = os.open(tmp_path, os.O_RDONLY)
    depth = 900
    for _ in range(depth):
        os.mkdir("dddd", dir_fd=here)
        below = os.open("dddd", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    found = list(find_files([tmp_path]))
    for _ in range(depth):  # what cleans up after tests may not be able to
        above = os.open("..", os.O_RDONLY, dir_fd=here)
        os.rmdir("dddd", dir_fd=above)
        os.close(here)
        here = above
    os.close(here)
    assert all(isinstance(item, Skipped) for item in found)
    assert len(found) == 1


def test_a_mirror_is_not_read_back(tmp_path: Path) -> None:
    """A folder with a mirror's manifest is passed over, and the files beside it are read."""
    (tmp_path / "notes" / "shown" / "@inbox").mkdir(parents=True)
    (tmp_path / "notes" / "tea.md").write_text("Green tea.")
    (tmp_path / "notes" / "shown" / ".engine-mirror.json").write_text("{}")
    (tmp_path / "notes" / "shown" / "@inbox" / "page.md").write_text("Green tea.")
    mirror, tea = find_files([tmp_path / "notes"])
    assert mirror == PassedOver("notes/shown", "mirror", is_folder=True)
    assert tea.source == "notes/tea.md"
