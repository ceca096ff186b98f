# The public names, one import per name. `engine/__init__.py` and type checkers read this file.
from .base import __version__ as __version__
from .base.errors import (
    BatchLimitError as BatchLimitError,
)
from .base.errors import (
    BusyError as BusyError,
)
from .base.errors import (
    ClosedError as ClosedError,
)
from .base.errors import (
    ConflictError as ConflictError,
)
from .base.errors import (
    CorruptionError as CorruptionError,
)
from .base.errors import (
    EngineError as EngineError,
)
from .base.errors import (
    ForbiddenError as ForbiddenError,
)
from .base.errors import (
    InconsistentError as InconsistentError,
)
from .base.errors import (
    InDoubtError as InDoubtError,
)
from .base.errors import (
    InvalidInputError as InvalidInputError,
)
from .base.errors import (
    LimitError as LimitError,
)
from .base.errors import (
    LockedError as LockedError,
)
from .base.errors import (
    NotFoundError as NotFoundError,
)
from .base.errors import (
    RefusedError as RefusedError,
)
from .base.errors import (
    SystemFailureError as SystemFailureError,
)
from .base.errors import (
    TooManyRequestsError as TooManyRequestsError,
)
from .base.errors import (
    UnauthorizedError as UnauthorizedError,
)
from .base.errors import (
    VerificationError as VerificationError,
)
from .base.model import (
    Atom as Atom,
)
from .base.model import (
    Checkpoint as Checkpoint,
)
from .base.model import (
    Direction as Direction,
)
from .base.model import (
    Edge as Edge,
)
from .base.model import (
    EdgeType as EdgeType,
)
from .base.model import (
    EventKind as EventKind,
)
from .base.model import (
    EventRef as EventRef,
)
from .base.model import (
    HistoryItem as HistoryItem,
)
from .base.model import (
    Receipt as Receipt,
)
from .base.model import (
    Scalar as Scalar,
)
from .base.model import (
    State as State,
)
from .clients.asynchronous.async_engine import AsyncEngine as AsyncEngine
from .clients.remote_engine import RemoteEngine as RemoteEngine
from .commands import (
    Add as Add,
)
from .commands import (
    Command as Command,
)
from .commands import (
    Link as Link,
)
from .commands import (
    Merge as Merge,
)
from .commands import (
    RegisterType as RegisterType,
)
from .commands import (
    Relate as Relate,
)
from .commands import (
    Revise as Revise,
)
from .commands import (
    Revive as Revive,
)
from .commands import (
    Supersede as Supersede,
)
from .commands import (
    Tag as Tag,
)
from .commands import (
    Tombstone as Tombstone,
)
from .commands import (
    Unlink as Unlink,
)
from .commands import (
    Unmerge as Unmerge,
)
from .commands import (
    Unrelate as Unrelate,
)
from .commands import (
    Untag as Untag,
)
from .commands.conflicts import Conflict as Conflict
from .commands.secrets.policy import SecretsPolicy as SecretsPolicy
from .engine import Engine as Engine
from .erase.erasure import Erasable as Erasable
from .erase.erasure import Erasure as Erasure
from .exchange.rescue.rescue_run import Rescued as Rescued
from .exchange.rescue.rescue_run import rescue as rescue
from .files.ingest.import_run import IngestReport as IngestReport
from .files.mirror.mirror_report import MirrorCheck as MirrorCheck
from .files.mirror.mirror_report import MirrorReport as MirrorReport
from .index.copies.duplicates import Duplicate as Duplicate
from .index.copies.duplicates import DuplicateGroup as DuplicateGroup
from .knowledge.dreaming.cycle import DreamReport as DreamReport
from .knowledge.dreaming.dream_config import DreamConfig as DreamConfig
from .memory.memory_protocol import Memory as Memory
from .memory.named_memories import memories as memories
from .query.context.passages import Window as Window
from .query.context.windows import Context as Context
from .query.explore.explore_actions import Action as Action
from .query.explore.explore_actions import Verb as Verb
from .query.explore.explore_policy import LanguagePolicy as LanguagePolicy
from .query.explore.explore_policy import Policy as Policy
from .query.explore.explorer import Explorer as Explorer
from .query.explore.state import Exploration as Exploration
from .query.filters import Filters as Filters
from .query.graph.bright import BrightGraph as BrightGraph
from .query.graph.bright import BrightNode as BrightNode
from .query.graph.bright import Relation as Relation
from .query.graph.domain_paths import AcrossGraph as AcrossGraph
from .query.graph.domain_paths import AcrossPath as AcrossPath
from .query.graph.domain_paths import DomainNode as DomainNode
from .query.graph.domain_paths import Evidence as Evidence
from .query.graph.domain_paths import PathStep as PathStep
from .query.graph.domains import Domain as Domain
from .query.graph.find import Follow as Follow
from .query.graph.find import Form as Form
from .query.graph.find import Found as Found
from .query.graph.find import every as every
from .query.history.diff import Diff as Diff
from .query.history.diff import Revertible as Revertible
from .query.history.recent import Added as Added
from .query.history.why import Origin as Origin
from .query.recall.recall_answer import (
    Bridge as Bridge,
)
from .query.recall.recall_answer import (
    Hit as Hit,
)
from .query.recall.recall_answer import (
    Recall as Recall,
)
from .query.recall.recall_answer import (
    Role as Role,
)
from .query.recall.recall_config import Bm25Config as Bm25Config
from .query.recall.recall_config import Protocol as Protocol
from .query.recall.recall_config import RecallConfig as RecallConfig
from .query.recall.recall_config import Signals as Signals
from .store.maintenance import copy as copy
from .store.past import AsOf as AsOf
from .store.revert import Undone as Undone
from .store.status import Status as Status
from .text.language.categories import Category as Category
from .trust.audit.verify import Report as Report
from .trust.audit.verify import verify as verify
from .trust.notes.issue import CheckpointNote as CheckpointNote
from .trust.proving.prove import Proof as Proof
