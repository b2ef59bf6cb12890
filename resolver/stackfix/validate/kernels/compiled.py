"""A small function through torch.compile: proves that triton and its ptxas know the card."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stackfix.validate.kernels.numerics import COMPILED
    from stackfix.validate.kernels.reporting import CheckSkipped, Reporter, arguments, reporting
    from stackfix.validate.kernels.torch_device import compare, load_torch, places
else:
    from numerics import COMPILED
    from reporting import CheckSkipped, Reporter, arguments, reporting
    from torch_device import compare, load_torch, places

_OFF = ("TORCH_COMPILE_DISABLE", "TORCHDYNAMO_DISABLE")
_CANNOT = (
    "is not supported on Python",  # this torch on this Python
    "too old to be supported by the triton",  # this card
)
"""What torch says where it has no compiler for what is here, whatever the pins are."""


def main() -> int:
    options = arguments(__doc__ or "", device=True).parse_args()
    with reporting(options) as report:
        torch = load_torch(report, options.device)
        if torch is not None:
            for device, where in places(torch, options.device):
                run(torch, report, device, where)
        return report.end()


def run(torch: Any, report: Reporter, device: str, where: str) -> None:
    torch.manual_seed(0)
    x = torch.randn(256, 256)

    def function(x: Any) -> Any:
        """Fuses into one generated kernel."""
        return (torch.sin(x) * x + torch.exp(-x * x)).sum(-1)

    with report.check(f"a pointwise function and a sum, float32{where}") as check:
        require_compilers(device)
        try:
            # The whole graph or nothing: what torch could not compile it would run as it is.
            actual = torch.compile(function, fullgraph=True)(x.to(device))
        except Exception as error:
            if any(words in str(error) for words in _CANNOT):
                raise CheckSkipped(str(error).strip().splitlines()[0]) from None
            raise
        check.detail = f"error {compare(actual, function(x.double()), COMPILED):.1e}"


def require_compilers(device: str) -> None:
    """What torch.compile takes from the machine. Raises CheckSkipped with what is missing."""
    for name in _OFF:
        if os.environ.get(name) == "1":
            raise CheckSkipped(f"{name}=1 switches torch.compile off")
    if device == "cpu":
        return
    if find_spec("triton") is None:
        raise CheckSkipped("triton is not installed")
    compilers = (os.environ["CC"],) if os.environ.get("CC") else ("gcc", "clang")
    if not any(map(shutil.which, compilers)):
        raise CheckSkipped(f"there is no C compiler ({', '.join(compilers)}), which triton needs")
    # The scheme that triton takes: Debian's own has another folder.
    headers = sysconfig.get_paths(scheme="posix_prefix")["include"]
    if not os.path.exists(os.path.join(headers, "Python.h")):
        raise CheckSkipped(f"there is no {headers}/Python.h, which triton compiles against")


if __name__ == "__main__":
    sys.exit(main())
