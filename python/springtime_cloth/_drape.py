"""Letting a cloth come to rest on something."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

from ._core import Cloth, Obstacle, Simulation, obstacles

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray


class Drape(NamedTuple):
    """A cloth at rest."""

    positions: NDArray[float64]  # particles x 3 [m]
    settled: bool  # False if it still moved when the time was over
    seconds: float  # that it took [s]
    simulation: Simulation  # in that state

    def _repr_html_(self) -> str:
        state = "at rest" if self.settled else "still moving"
        return f"<p>{state} after {self.seconds:.4g} s</p>"


def drape(cloth: Cloth, on: str | Sequence[Obstacle], *, pins: Any = None, seconds: float = 20.0,
          dt: float = 0.01, speed: float | None = None, progress: Any = None,
          **options: Any) -> Drape:
    """Lets a flat cloth fall on obstacles, or on what obstacles() names, until it rests.

    seconds: the longest it may take [s]. speed: what counts as rest [m/s]. Other options are those
    of Simulation.
    """
    solids = obstacles(on, cloth) if isinstance(on, str) else list(on)
    simulation = Simulation(cloth, dt, obstacles=solids, **options)
    if pins is not None:
        simulation.hold(pins)
    settled = simulation.settle(seconds, speed=speed, progress=progress)
    return Drape(simulation.state[0], settled, simulation.time, simulation)
