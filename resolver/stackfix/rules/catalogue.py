"""All rules, in the order of their codes."""

from __future__ import annotations

from stackfix.rules.cudas_library import LibraryOfCuda
from stackfix.rules.interface import IntegrityRule, LockRule, PieceRule, StackRule, TargetRule
from stackfix.rules.sf101_no_code import NoCode
from stackfix.rules.sf102_jit_only import JitOnly
from stackfix.rules.sf103_partial import PartialCode
from stackfix.rules.sf104_outside_matrix import OutsideMatrix
from stackfix.rules.sf105_cpu_only import CpuOnly
from stackfix.rules.sf106_ptxas import Assembler, AssemblerForDriver, AssemblerOfTriton
from stackfix.rules.sf109_unmeasured import Unmeasured
from stackfix.rules.sf201_driver_for_cuda import DriverForCuda
from stackfix.rules.sf202_driver_for_card import DriverForCard
from stackfix.rules.sf203_forward_compatibility import ForwardCompatibility
from stackfix.rules.sf301_older_runtime import OlderRuntime
from stackfix.rules.sf302_same_file import SameFile
from stackfix.rules.sf303_coupling import OtherCuda, UnstatedCoupling
from stackfix.rules.sf304_missing_library import MissingLibrary
from stackfix.rules.sf401_known_bug import KnownBug, KnownBugTogether
from stackfix.rules.sf500_not_judged import NotJudged
from stackfix.rules.sf501_no_wheel import NoWheel
from stackfix.rules.sf502_disagrees import Disagrees
from stackfix.rules.sf503_override import Override
from stackfix.rules.sf504_superseded import Superseded
from stackfix.rules.sf505_other_index import OtherIndex
from stackfix.rules.sf506_clash import Clashing
from stackfix.rules.sf507_older_lock import OlderLock

__all__ = [
    "INTEGRITY_RULES",
    "LOCK_RULES",
    "PIECE_RULES",
    "STACK_RULES",
    "TARGET_RULES",
    "explain",
    "titles",
]

PIECE_RULES: tuple[PieceRule, ...] = (
    NoCode(),
    JitOnly(),
    PartialCode(),
    OutsideMatrix(),
    CpuOnly(),
    Assembler(),
    Unmeasured(),
    DriverForCuda(),
    KnownBug(),
    NoWheel(),
)
TARGET_RULES: tuple[TargetRule, ...] = (DriverForCard(), ForwardCompatibility())
STACK_RULES: tuple[StackRule, ...] = (
    OlderRuntime(),
    SameFile(),
    UnstatedCoupling(),
    OtherCuda(),
    LibraryOfCuda(),
    MissingLibrary(),
    KnownBugTogether(),
    AssemblerOfTriton(),
    AssemblerForDriver(),
)
LOCK_RULES: tuple[LockRule, ...] = (Superseded(),)
INTEGRITY_RULES: tuple[IntegrityRule, ...] = (
    NotJudged(),
    Disagrees(),
    Override(),
    OtherIndex(),
    Clashing(),
    OlderLock(),
)
"""They judge a lock as it was written, not a stack: `stackfix check` asks them."""


def titles() -> dict[str, str]:
    """What each rule finds, by its code in ascending order."""
    found: dict[str, str] = {}
    for rule in sorted(_all(), key=lambda rule: rule.code):
        found.setdefault(rule.code, rule.title)
    return found


def explain(code: str) -> str | None:
    """The docstring of the rule with this code; None when there is no such rule."""
    import inspect
    import sys

    for rule in _all():
        if rule.code == code.upper():
            return inspect.getdoc(sys.modules[type(rule).__module__])
    return None


def _all() -> tuple[PieceRule | TargetRule | StackRule | LockRule | IntegrityRule, ...]:
    return (*PIECE_RULES, *TARGET_RULES, *STACK_RULES, *LOCK_RULES, *INTEGRITY_RULES)
