from stackfix_lockfiles.diff import ChangeKind, DriftKind, diff, drift
from stackfix_lockfiles.lock import Lock
from tests.lockfiles.samples import HEAD, OPENPI, REGISTRY, lock, package, root

PYTORCH = '{ registry = "https://download.pytorch.org/whl/cu128" }'


def kinds(old: Lock, new: Lock) -> dict[str, ChangeKind]:
    return {change.name: change.kind for change in diff(old, new)}


def test_a_lock_does_not_differ_from_itself() -> None:
    read = Lock.read(OPENPI / "uv.lock")
    again = Lock.read(OPENPI / "uv.lock")
    assert diff(read, again) == ()
    assert drift(read, again) == ()


def test_names_moves_by_direction() -> None:
    old = lock(package("up", "1.9"), package("down", "2.0"), package("gone"), package("same"))
    new = lock(package("up", "1.10"), package("down", "1.0"), package("come"), package("same"))
    assert kinds(old, new) == {
        "up": ChangeKind.UP,
        "down": ChangeKind.DOWN,
        "gone": ChangeKind.REMOVED,
        "come": ChangeKind.ADDED,
    }
    assert str(diff(old, new)[3]) == "up 1.9 → 1.10"


def test_another_index_is_a_change_of_its_own() -> None:
    old, new = lock(package("torch", "2.7.1")), lock(package("torch", "2.7.1", PYTORCH))
    (change,) = diff(old, new)
    assert change.kind is ChangeKind.SOURCE
    assert change.index_changed
    local = lock(package("torch", "2.7.1+cu128", PYTORCH))
    (change,) = diff(old, local)
    assert change.kind is ChangeKind.UP
    assert change.index_changed


def test_a_slash_at_the_end_of_an_index_is_no_other_index() -> None:
    slashed = REGISTRY.replace("simple", "simple/")
    assert diff(lock(package("a")), lock(package("a", source=slashed))) == ()
    assert drift(lock(package("a")), lock(package("a", source=slashed)))


def test_forks_are_told_apart() -> None:
    older = package("numpy", "1.26.4", resolution_markers="[\"python_full_version < '3.12'\"]")
    newer = package("numpy", "2.2.6", resolution_markers="[\"python_full_version >= '3.12'\"]")
    newest = newer.replace("2.2.6", "2.3.0")
    (moved,) = diff(lock(older, newer), lock(older, newest))
    assert moved.kind is ChangeKind.UP
    assert [fork.version for fork in moved.removed] == ["2.2.6"]
    assert [fork.version for fork in moved.added] == ["2.3.0"]
    assert [fork.version for fork in moved.kept] == ["1.26.4"]
    assert moved.added[0].markers == ("python_full_version >= '3.12'",)
    (closed,) = diff(lock(older, newer), lock(newer))
    assert closed.kind is ChangeKind.MIXED
    assert [fork.version for fork in closed.removed] == ["1.26.4"]


def test_dynamic_versions_are_compared_too() -> None:
    old = lock(package("robot", "", '{ editable = "." }'))
    new = lock(package("robot", "1.0", '{ editable = "." }'))
    assert kinds(old, new) == {"robot": ChangeKind.MIXED}


def test_drift_is_what_changes_without_a_version() -> None:
    posix = """[{ name = "b", marker = "os_name == 'posix'" }]"""
    not_nt = """[{ name = "b", marker = "os_name != 'nt'" }]"""
    wheel = '{ url = "https://files.index.example/a-1.0-py3-none-any.whl", hash = "sha256:00" }'
    late = wheel.replace("py3", "cp313")
    old = lock(
        package("a", dependencies=posix, wheels=f"[{wheel}]"),
        package("b", dependencies='[{ name = "a" }]'),
        package("c"),
        root(),
    )
    new = lock(
        package("a", dependencies=not_nt, wheels=f"[{wheel}, {late}]"),
        package("b", dependencies='[{ name = "a", extra = ["x"] }]'),
        package("c", novelty="1"),
        root(metadata='{ requires-dist = [{ name = "a" }] }'),
        head=HEAD.replace("3\n", "5\n", 1) + '[manifest]\nexcludes = ["z"]\n',
    )
    assert diff(old, new) == ()
    assert [(one.kind, one.package, one.detail) for one in drift(old, new)] == [
        (DriftKind.REVISION, None, "revision 3 → 5"),
        (DriftKind.MANIFEST, None, "manifest"),
        (DriftKind.MARKERS, "a==1.0", "dependencies"),
        (DriftKind.WHEELS, "a==1.0", "files: 1 added"),
        (DriftKind.EDGES, "b==1.0", "dependencies"),
        (DriftKind.FIELDS, "c==1.0", "novelty"),
        (DriftKind.METADATA, "robot==0.1.0", "metadata"),
    ]


def test_edges_that_follow_a_move_are_no_drift() -> None:
    def fork(version: str) -> Lock:
        edge = f'[{{ name = "b", version = "{version}", source = {REGISTRY} }}]'
        return lock(package("a", dependencies=edge), package("b", version), package("b", "9"))

    assert drift(fork("1.0"), fork("2.0")) == ()
    assert kinds(fork("1.0"), fork("2.0")) == {"b": ChangeKind.UP}
