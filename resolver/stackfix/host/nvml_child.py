"""Asks NVML and prints one JSON object, nothing else: the child that `nvml.py` starts.

A function that the driver or nvidia-ml-py lacks leaves its value unknown and costs nothing else.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from stackfix.host.nvml_links import asked, read_fabric, read_links, read_nvlinks


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
                "repairs": _repairs(nvml, handle),
                "nvlinks": read_nvlinks(nvml, handle),
                "fabric": read_fabric(nvml, handle),
            }
        )
    links = read_links(nvml, handles)
    for card in cards:
        card["peers"] = _peers(card["index"], links)
    driver = _text(optional("the driver version", nvml.nvmlSystemGetDriverVersion))
    cuda = optional("the driver's CUDA version", _cuda_driver, nvml)
    return {
        "cards": cards,
        "driver": driver,
        "links": links,
        "cuda_driver": f"{cuda // 1000}.{cuda % 1000 // 10}" if cuda else None,
        "notes": notes,
    }


def _cuda_driver(nvml: Any) -> int:
    try:
        return int(nvml.nvmlSystemGetCudaDriverVersion_v2())
    except nvml.NVMLError:  # drivers before 2018 lack the second form
        return int(nvml.nvmlSystemGetCudaDriverVersion())


def _ecc(nvml: Any, handle: Any) -> dict[str, Any]:
    """Whether memory errors are corrected, and how many were and were not since the driver loaded.

    Most cards know neither.
    """
    mode = asked(nvml, "nvmlDeviceGetEccMode", handle)
    if mode is None:
        return {"ecc": None, "ecc_errors": None, "ecc_corrected": None}
    counts = {
        key: asked(nvml, "nvmlDeviceGetTotalEccErrors", handle, kind, nvml.NVML_VOLATILE_ECC)
        for key, kind in (
            ("ecc_errors", nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED),
            ("ecc_corrected", nvml.NVML_MEMORY_ERROR_TYPE_CORRECTED),
        )
    }
    return {"ecc": bool(mode[0] == nvml.NVML_FEATURE_ENABLED), **counts}


def _repairs(nvml: Any, handle: Any) -> dict[str, Any] | None:
    """Rows remapped, on cards that do so; on those before, pages retired."""
    rows = asked(nvml, "nvmlDeviceGetRemappedRows", handle)
    if rows is not None:
        corrected, uncorrected, pending, failed = rows
        return {
            "unit": "rows",
            "corrected": corrected,
            "uncorrected": uncorrected,
            "pending": bool(pending),
            "failed": bool(failed),
        }
    single, double = (
        asked(nvml, "nvmlDeviceGetRetiredPages", handle, cause)
        for cause in (
            nvml.NVML_PAGE_RETIREMENT_CAUSE_MULTIPLE_SINGLE_BIT_ECC_ERRORS,
            nvml.NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR,
        )
    )
    if single is None or double is None:
        return None
    pending = asked(nvml, "nvmlDeviceGetRetiredPagesPendingStatus", handle)
    return {
        "unit": "pages",
        "corrected": len(single),
        "uncorrected": len(double),
        "pending": None if pending is None else bool(pending),
        "failed": None,
    }


def _peers(index: int, links: Sequence[Mapping[str, Any]]) -> list[int] | None:
    """The other cards that this one reads directly; None where one pair is not told."""
    found = []
    for link in links:
        if index in (link["one"], link["other"]):
            if link["access"] is None:
                return None
            if link["access"] == "ok":
                found.append(link["other"] if link["one"] == index else link["one"])
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
