"""Asking NVML, in a child process: a wedged driver hangs its callers, some beyond any signal.

The child is `python -m stackfix.host.nvml`; it prints one JSON object and nothing else. The
parent waits a bounded time and goes on without an answer.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from stackfix.host.host import Card, MigInstance

__all__ = ["TIMEOUT", "NvmlAnswer", "NvmlUnavailable", "ask"]

TIMEOUT = 10.0
"""Seconds. A healthy driver without persistence mode takes up to about three on eight cards."""


class NvmlUnavailable(Exception):
    """NVML gave no answer; the text says why in one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NvmlAnswer:
    """What NVML said."""

    cards: tuple[Card, ...]
    driver: str | None
    cuda_driver: str | None
    notes: tuple[str, ...]


def ask(*, env: Mapping[str, str], timeout: float = TIMEOUT) -> NvmlAnswer:
    """All cards as NVML lists them. Raises NvmlUnavailable, after at most `timeout` + 1 seconds."""
    child = subprocess.Popen(
        [sys.executable, "-P", "-m", "stackfix.host.nvml"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(env),
        text=True,
    )
    try:
        output, errors = child.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        _abandon(child)
        raise NvmlUnavailable(
            f"NVML gave no answer within {timeout:g} s: the driver hangs, nvidia-smi would too"
        ) from None
    if child.returncode < 0:
        raise NvmlUnavailable(f"NVML crashed with signal {-child.returncode}")
    try:
        answer = json.loads(output)
    except ValueError:
        last = errors.strip().splitlines()[-1:] or [f"exit code {child.returncode}"]
        raise NvmlUnavailable(f"NVML could not be asked: {last[0]}") from None
    if "error" in answer:
        raise NvmlUnavailable(answer["error"])
    return NvmlAnswer(
        cards=tuple(_card(card) for card in answer["cards"]),
        driver=answer["driver"],
        cuda_driver=answer["cuda_driver"],
        notes=tuple(answer["notes"]),
    )


def _abandon(child: subprocess.Popen[str]) -> None:
    """Kill without waiting for ever: a process inside a hung driver call ignores even SIGKILL."""
    child.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(timeout=1.0)
    for pipe in (child.stdout, child.stderr):
        if pipe is not None:
            pipe.close()
    if child.returncode is None:
        child.returncode = -9  # or Popen's destructor would warn about a process still running


def _card(data: Mapping[str, Any]) -> Card:
    mig = tuple(MigInstance(**instance) for instance in data["mig"])
    peers = None if data["peers"] is None else tuple(data["peers"])
    return Card(**{**data, "mig": mig, "peers": peers})


# --- in the child -------------------------------------------------------------------------


def _read() -> dict[str, Any]:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pynvml warns about its own deprecations
        import pynvml as nvml

        try:
            nvml.nvmlInit()
        except nvml.NVMLError as error:
            return {"error": f"NVML does not start: {error}"}
        try:
            return _cards(nvml)
        except nvml.NVMLError as error:
            return {"error": f"NVML started and then failed: {error}"}
        except AttributeError as error:
            return {"error": f"this nvidia-ml-py lacks a function: {error}"}


def _cards(nvml: Any) -> dict[str, Any]:
    notes: list[str] = []

    def optional(what: str, call: Callable[..., Any], *arguments: Any) -> Any:
        """The call's result, or None with a note: one missing value must not cost the others."""
        try:
            return call(*arguments)
        except nvml.NVMLError as error:
            notes.append(f"NVML does not tell {what}: {error}")
            return None

    cards: list[dict[str, Any]] = []
    handles: dict[int, Any] = {}
    for index in range(nvml.nvmlDeviceGetCount()):
        try:
            handle = nvml.nvmlDeviceGetHandleByIndex(index)
            name = _text(nvml.nvmlDeviceGetName(handle))
        except nvml.NVMLError as error:
            notes.append(f"card {index} does not answer and is left out: {error}")
            continue
        capability = optional(
            f"the compute capability of card {index}",
            nvml.nvmlDeviceGetCudaComputeCapability,
            handle,
        )
        memory = optional(f"the memory of card {index}", nvml.nvmlDeviceGetMemoryInfo, handle)
        pci = optional(f"the PCI address of card {index}", nvml.nvmlDeviceGetPciInfo, handle)
        handles[index] = handle
        cards.append(
            {
                "index": index,
                "name": name,
                "capability": f"{capability[0]}.{capability[1]}" if capability else None,
                "memory": memory.total if memory else None,
                "uuid": _text(
                    optional(f"the UUID of card {index}", nvml.nvmlDeviceGetUUID, handle)
                ),
                "pci": _short_pci(_text(pci.busId)) if pci else None,
                "mig": _mig(nvml, handle, index, notes),
                **_ecc(nvml, handle),
            }
        )
    for card in cards:
        card["peers"] = _peers(nvml, handles, card["index"])
    driver = _text(optional("the driver version", nvml.nvmlSystemGetDriverVersion))
    cuda = optional("the driver's CUDA version", _cuda_driver, nvml)
    return {
        "cards": cards,
        "driver": driver,
        "cuda_driver": f"{cuda // 1000}.{cuda % 1000 // 10}" if cuda else None,
        "notes": notes,
    }


def _cuda_driver(nvml: Any) -> int:
    try:
        return int(nvml.nvmlSystemGetCudaDriverVersion_v2())
    except nvml.NVMLError:  # drivers before 2018 lack the second form
        return int(nvml.nvmlSystemGetCudaDriverVersion())


def _ecc(nvml: Any, handle: Any) -> dict[str, Any]:
    """Whether memory errors are corrected and how many could not be; most cards know neither."""
    try:
        current, _pending = nvml.nvmlDeviceGetEccMode(handle)
    except (nvml.NVMLError, AttributeError):
        return {"ecc": None, "ecc_errors": None}
    on = bool(current == nvml.NVML_FEATURE_ENABLED)
    try:
        errors = nvml.nvmlDeviceGetTotalEccErrors(
            handle, nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, nvml.NVML_VOLATILE_ECC
        )
    except (nvml.NVMLError, AttributeError):
        return {"ecc": on, "ecc_errors": None}
    return {"ecc": on, "ecc_errors": int(errors)}


_P2P_READ = 0
"""NVML_P2P_CAPS_INDEX_READ of nvml.h; nvidia-ml-py has it as a tuple in some releases."""


def _peers(nvml: Any, handles: Mapping[int, Any], index: int) -> list[int] | None:
    """The other cards that this one reads directly; None where one pair is not told."""
    found = []
    for other, handle in handles.items():
        if other == index:
            continue
        try:
            status = nvml.nvmlDeviceGetP2PStatus(handles[index], handle, _P2P_READ)
        except (nvml.NVMLError, AttributeError):  # drivers and bindings of before 2017
            return None
        if status == nvml.NVML_P2P_STATUS_OK:
            found.append(other)
        elif status == nvml.NVML_P2P_STATUS_UNKNOWN:
            return None
    return found


def _mig(nvml: Any, handle: Any, index: int, notes: list[str]) -> list[dict[str, Any]]:
    """Instances of a card in MIG mode; empty for the many cards that know no MIG."""
    try:
        current, _pending = nvml.nvmlDeviceGetMigMode(handle)
        if current != nvml.NVML_DEVICE_MIG_ENABLE:
            return []
        most = nvml.nvmlDeviceGetMaxMigDeviceCount(handle)
    except nvml.NVMLError:
        return []
    instances: list[dict[str, Any]] = []
    for position in range(most):
        try:
            instance = nvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, position)
            uuid = _text(nvml.nvmlDeviceGetUUID(instance))
        except nvml.NVMLError:  # an unused position
            continue
        try:
            memory = nvml.nvmlDeviceGetMemoryInfo(instance).total
        except nvml.NVMLError:
            memory = None
        instances.append({"uuid": uuid, "memory": memory})
    if not instances:
        notes.append(f"card {index} is in MIG mode without an instance: CUDA cannot use it")
    return instances


def _text(value: Any) -> Any:
    """Older nvidia-ml-py hands out bytes."""
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _short_pci(bus: str) -> str:
    """NVML writes the domain with eight digits, Linux with four."""
    domain, separator, rest = bus.lower().partition(":")
    return f"{domain[-4:]}:{rest}" if separator else bus.lower()


def _main() -> None:
    ours = os.dup(1)
    os.dup2(2, 1)  # NVML, or a stand-in for it, may write to the standard output itself
    with os.fdopen(ours, "w") as output:
        json.dump(_read(), output)
    # A library that hangs while it is unloaded would cost the answer that is already out.
    os._exit(0)


if __name__ == "__main__":
    _main()
