# SPDX-License-Identifier: Apache-2.0
"""xstage: measures, predicts and plans GPU stores to peer memory.

    import xstage
    machine = xstage.calibrate()                                    # rows and profile; without a GPU the recorded pair
    xstage.predict(machine.profile, 132, 32768, gap_us=[0, 4, 8])   # what a burst costs
    xstage.audit(xstage.AttentionShape.preset("flux1"))             # does the design hold, what to change
    xstage.plan(xstage.MoeShape.preset("qwen3-30b"))                # what to launch
    xstage.simulate(xstage.AttentionShape.preset("flux1", ranks=4)) # tile by tile, without a GPU

NumPy and libxstage are all it needs.
"""

from . import errors
from ._library import version
from ._version import __version__
from .audit import Audit, audit
from .calibrate import Calibration, calibrate, fit
from .errors import (
    DeviceError,
    ExistsError,
    FileError,
    InterruptedCallError,
    NoDataError,
    OutOfMemoryError,
    ParseError,
    RangeError,
    SchemaError,
    UnavailableError,
    UsageError,
    WaitTimeoutError,
    XstageError,
)
from .model import Prediction, predict
from .planner import Plan, experts_of, moe_order, plan, routing
from .profile import Profile, stored
from .samples import Samples
from .shapes import (
    AttentionShape,
    AttentionTiles,
    MoeOrder,
    MoeShape,
    MoeTiles,
    Traffic,
    attention_presets,
    moe_presets,
)
from .simulate import Simulation, knee, simulate

__all__ = [
    "AttentionShape",
    "AttentionTiles",
    "Audit",
    "Calibration",
    "DeviceError",
    "ExistsError",
    "FileError",
    "InterruptedCallError",
    "MoeOrder",
    "MoeShape",
    "MoeTiles",
    "NoDataError",
    "OutOfMemoryError",
    "ParseError",
    "Plan",
    "Prediction",
    "Profile",
    "RangeError",
    "Samples",
    "SchemaError",
    "Simulation",
    "Traffic",
    "UnavailableError",
    "UsageError",
    "WaitTimeoutError",
    "XstageError",
    "__version__",
    "attention_presets",
    "audit",
    "calibrate",
    "errors",
    "experts_of",
    "fit",
    "knee",
    "moe_order",
    "moe_presets",
    "plan",
    "predict",
    "routing",
    "simulate",
    "stored",
    "version",
]
