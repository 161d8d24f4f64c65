"""Numbers by the names of parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray


class Parameters(Dict[str, "NDArray[float64]"]):
    """Arrays by the names of parameters, which are attributes as well: errors.stiffness."""

    def __getattr__(self, name: str) -> NDArray[float64]:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no {name}; there are {', '.join(self)}") from None

    def __repr__(self) -> str:
        lines = [f"{name}: {values.size} values, {spread(values)}" for name, values in self.items()]
        return "\n".join(lines) or "no parameters"

    def _repr_html_(self) -> str:
        rows = [f"<tr><th>{name}</th><td>{values.size}</td><td>{spread(values)}</td></tr>"
                for name, values in self.items()]
        return "<table><tr><th></th><th>values</th><th>range</th></tr>" + "".join(rows) + "</table>"


def spread(values: NDArray[float64]) -> str:
    return f"{values.min():.4g} to {values.max():.4g}" if values.size else "none"
