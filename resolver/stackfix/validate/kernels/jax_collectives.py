"""Sums and gathers through jax over all local devices; every value has to be exact."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stackfix.validate.kernels.cuda_libraries import default_sites, installed, mapped
    from stackfix.validate.kernels.jax_device import load_jax
    from stackfix.validate.kernels.libraries import examine
    from stackfix.validate.kernels.reporting import CheckFailed, Reporter, arguments, reporting
else:
    from cuda_libraries import default_sites, installed, mapped
    from jax_device import load_jax
    from libraries import examine
    from reporting import CheckFailed, Reporter, arguments, reporting

COUNTS = (1, 256 << 10, 8 << 20)
"""Numbers of float32 on each device: 4 B to 32 MiB."""


def main() -> int:
    options = arguments(__doc__ or "", device=True).parse_args()
    with reporting(options) as report:
        jax, devices = load_jax(report, options.device)
        if jax is not None:
            run(jax, devices, report, quick=options.quick)
            if options.device == "cuda" and len(devices) > 1:
                # NCCL comes with the first collective.
                examine(report, mapped(), installed(default_sites()), {})
        return report.end()


def run(jax: Any, devices: Any, report: Reporter, *, quick: bool) -> None:
    numpy: Any = import_module("numpy")
    many = len(devices)
    report.fact("devices", many)
    if many == 1:
        report.skip("between cards", "jax sees one device: nothing crosses between cards")
    for count in COUNTS[:2] if quick else COUNTS:
        counting = (numpy.arange(count) % 251).astype("float32")
        given = numpy.stack([counting + rank for rank in range(many)])
        with report.check(f"psum, {count * 4:,} bytes"):
            total = over(jax, numpy, devices, lambda x: jax.lax.psum(x, "d"))(given)
            require_equal(numpy, total, given.sum(0))
        with report.check(f"all_gather, {count * 4:,} bytes"):
            gathered = over(jax, numpy, devices, lambda x: jax.lax.all_gather(x, "d"))(given)
            require_equal(numpy, gathered, given)


def over(
    jax: Any, numpy: Any, devices: Any, function: Callable[[Any], Any]
) -> Callable[[Any], Any]:
    """The function on a row for each device. Newer jaxes keep pmap as a shell of shard_map."""
    if not hasattr(jax, "shard_map"):
        mapped_over: Callable[[Any], Any] = jax.pmap(function, axis_name="d", devices=devices)
        return mapped_over
    mesh = jax.sharding.Mesh(numpy.array(devices), ("d",))
    rows = jax.sharding.PartitionSpec("d")
    compiled: Callable[[Any], Any] = jax.jit(
        jax.shard_map(function, mesh=mesh, in_specs=rows, out_specs=rows)
    )
    return compiled


def require_equal(numpy: Any, found: Any, expected: Any) -> None:
    """Every device has the expected numbers. One after the other: all at once is much memory."""
    wrong = 0
    for shard in found.addressable_shards:
        part = numpy.asarray(shard.data)
        if part.size != expected.size:
            raise CheckFailed(
                f"{shard.device} has {part.size:,} values, expected {expected.size:,}"
            )
        wrong += int((part.reshape(expected.shape) != expected).sum())
    if wrong:
        raise CheckFailed(f"{wrong:,} values are wrong, each device should have {expected.size:,}")


if __name__ == "__main__":
    sys.exit(main())
