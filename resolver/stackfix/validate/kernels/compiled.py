"""A small function through torch.compile: proves that triton and its ptxas know the card."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stackfix.validate.kernels.telling import NotPossible, Telling, arguments, telling
    from stackfix.validate.kernels.torch_device import compare, load_torch
else:
    from telling import NotPossible, Telling, arguments, telling
    from torch_device import compare, load_torch


def main() -> int:
    options = arguments(__doc__ or "", device=True).parse_args()
    with telling(options) as tell:
        torch = load_torch(tell, options.device)
        if torch is not None:
            run(torch, tell, options.device)
        return tell.end()


def run(torch: Any, tell: Telling, device: str) -> None:
    torch.manual_seed(0)
    x = torch.randn(256, 256)
    with tell.check("a pointwise function and a sum, float32") as told:
        if not any(map(shutil.which, (os.environ.get("CC") or "gcc", "cc", "clang"))):
            raise NotPossible("there is no C compiler, which torch.compile needs")
        actual = torch.compile(function)(torch, x.to(device))
        told.detail = f"error {compare(actual, function(torch, x.double()), 'float32'):.1e}"


def function(torch: Any, x: Any) -> Any:
    """Fuses into one generated kernel."""
    return (torch.sin(x) * x + torch.exp(-x * x)).sum(-1)


if __name__ == "__main__":
    sys.exit(main())
