"""How far two numbers may lie apart and still be the same: declared in one file, `tolerances.yaml`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field, Strict, create_model

from virtperf.core.model import Model, NotNegative, load_model
from virtperf.verify.items import KINDS

NOISE = 1e-9  # what another order of additions, or another linear algebra library, may change


_Share = Annotated[float, Strict(), Field(ge=0, le=1)]


class Tolerance(Model):
    """How far two numbers may lie apart.

    Attributes
    ----------
    relative : float
        Of the larger of the two magnitudes.
    absolute : float
        In the numbers' own unit, for numbers near zero.
    exported_digits : int
        Numbers were rounded to so many significant digits when they were written, and a difference of one unit of the
        last of them may be rounding; 0 where they are kept in full.
    widths : float
        Of the width of its interval, for a value between two limits: what the solver that places it leaves open.
    """

    relative: _Share
    absolute: NotNegative
    exported_digits: Annotated[int, Strict(), Field(ge=0, le=15)] = 0
    widths: _Share = 0.0

    def same(self, a: float, b: float, width: float = math.nan) -> bool:
        """Whether two numbers agree; NaN agrees with NaN, and an absent limit with an absent one.

        Parameters
        ----------
        width : float
            Of the interval that the numbers lie in; NaN where there is none.
        """
        if a == b or (math.isnan(a) and math.isnan(b)):
            return True
        if not math.isfinite(a - b):
            return False
        least = max(self.absolute, self.relative * max(abs(a), abs(b)), self._last_digit(a, b))
        return abs(a - b) <= (least if math.isnan(width) else max(least, self.widths * width))

    def _last_digit(self, a: float, b: float) -> float:
        size = max(abs(a), abs(b))
        if not self.exported_digits or size == 0:
            return 0.0
        unit = 10.0 ** (math.floor(math.log10(size)) + 1 - self.exported_digits)
        return unit * (1 + 1e-6)  # two decimal numbers one unit apart are, in binary, a little more or less


Tolerances = Mapping[str, Tolerance]

DEFAULTS: Tolerances = {
    "limits": Tolerance(relative=NOISE, absolute=NOISE, exported_digits=7, widths=1e-6),
    "means": Tolerance(relative=NOISE, absolute=NOISE),
    "verdicts": Tolerance(relative=NOISE, absolute=NOISE, exported_digits=7),
    "estimates": Tolerance(relative=NOISE, absolute=NOISE, exported_digits=6),
    "tables": Tolerance(relative=0.0, absolute=0.0),
    "registers": Tolerance(relative=NOISE, absolute=NOISE, exported_digits=4),
    "drawings": Tolerance(relative=0.0, absolute=0.01),
}
"""Of each kind of item; what `tolerances.yaml` of the repository declares, too."""

_File = create_model("_File", __base__=Model, **dict.fromkeys(KINDS, (Tolerance | None, None)))  # type: ignore[call-overload]


def load_tolerances(path: Path) -> Tolerances:
    """Read a file of tolerances; a kind that it does not name has its default.

    Raises
    ------
    StudyError
        The file is missing or against its model, with the line.
    """
    file, _ = load_model(path, _File)
    return {kind: getattr(file, kind) or DEFAULTS[kind] for kind in KINDS}


def described(tolerances: Tolerances) -> dict[str, dict[str, float]]:
    """Tolerances as JSON holds them."""
    return {kind: tolerances[kind].model_dump() for kind in KINDS}
