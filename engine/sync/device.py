"""What a device keeps outside its store and the folder: keys, and what it last saw of other devices.

The place is `engine/sync/STORE ID/` in the user's folder of settings. Only the user can read it. It holds
`key`, the signing key of the device, with the last head that it signed, and `state.json` with the phrase of
the family.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path

from backends.files import make_parents
from engine.base.errors import CorruptionError, NotFoundError
from engine.base.json_text import dumped, parse
from engine.base.outside_files import PRIVATE, read_file, replace_file, user_folder
from engine.sync.family_key import FamilyKey
from engine.trust.notes.signing import new_key
from proofs.note import origin_of

_STATE = "state.json"
_STATE_BYTES_MAX = 16 << 20


@dataclass
class KnownDevice:
    """What this device knows about another one."""

    name: str = ""
    public: str = ""
    """The key with which the device signed the first head that was seen here, as hex digits."""
    size: int = 0
    """The number of events in the greatest head that was seen."""
    log_root: str = ""
    file: str = ""
    """The hash of the head file after which nothing was left to do."""


@dataclass
class Device:
    """The settings and keys of one device."""

    store_id: str
    """The id of its store, as 32 hex digits."""
    folder: str
    name: str
    phrases: list[str]
    """The phrase of the family, and its earlier phrases, the newest first."""
    file: str = ""
    """The hash of the own head file as it was last written."""
    size: int = 0
    """The number of events that it covers."""
    packs: list[str] = field(default_factory=list)
    """The names of the packs that it lists."""
    taking: str = ""
    """The store whose texts are still to be added here (`join --take`), or empty."""
    wrapped: list[str] = field(default_factory=list)
    """The newest phrase for each device that stayed when this one removed another, as hex digits."""
    known: dict[str, KnownDevice] = field(default_factory=dict)
    removed: list[str] = field(default_factory=list)
    """The removed devices."""

    @classmethod
    def read(cls, store_id: bytes) -> Device:
        """Return the device of a store.

        Raises:
            NotFoundError: The store is not synchronised.
            CorruptionError: Its state cannot be read.
        """
        path = place_of(store_id) / _STATE
        try:
            values = parse(read_file(path, _STATE_BYTES_MAX))
            known = {name: KnownDevice(**one) for name, one in values.pop("known").items()}
            return cls(**values, known=known)
        except NotFoundError:
            raise NotFoundError(
                "this memory is not synchronised",
                hint="`engine sync init FOLDER` begins, `engine sync join FOLDER` joins other devices",
            ) from None
        except (TypeError, KeyError, AttributeError, ValueError) as error:
            raise CorruptionError(f"{path} cannot be read: {error}") from None

    @property
    def place(self) -> Path:
        """The folder of this state and of the keys."""
        return place_of(bytes.fromhex(self.store_id))

    @property
    def key_file(self) -> Path:
        """The file of the signing key."""
        return self.place / "key"

    @property
    def keys(self) -> list[FamilyKey]:
        """The keys of the family, the newest first."""
        return [FamilyKey.of(phrase) for phrase in self.phrases]

    def create(self) -> None:
        """Make the place and a new signing key, unless there is one already."""
        place, store_id = self.place, bytes.fromhex(self.store_id)
        make_parents(place / _STATE)
        place.chmod(0o700)
        if not self.key_file.exists():
            new_key(self.key_file, origin_of(store_id))
        self.save()

    def save(self) -> None:
        """Write the state durably."""
        replace_file(self.place / _STATE, dumped(asdict(self), indent=1).encode(), PRIVATE)


def place_of(store_id: bytes) -> Path:
    """Return the folder of the keys of the device with this store."""
    return user_folder("XDG_CONFIG_HOME", "~/.config") / "sync" / store_id.hex()
