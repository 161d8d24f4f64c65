"""Are two fabrics different? Both are filmed, identified with standard errors, and compared.

usage: two_fabrics.py [--quick]

The films are simulated here, with a tenth of a millimetre of noise, so that the answer is known: the
second fabric is a third stiffer in shear and twice as stiff against folding.
"""

import sys

import numpy as np

import springtime_cloth as st

SHEET = {"length": 1.0, "width": 1.0, "mass": 0.2}  # [m], [kg]
FABRICS = {"plain": {"shear_stiffness": 30.0, "area_stiffness": 50.0, "bending": 5e-4},
           "twill": {"shear_stiffness": 40.0, "area_stiffness": 50.0, "bending": 1e-3}}


def film(fabric, quick):
    mesh, seconds = ((5, 5), 0.8) if quick else ((9, 9), 1.5)
    cloth = st.mesh_cloth(mesh, **SHEET, **fabric)
    return st.generate(cloth, rollouts=3, seconds=seconds, fps=240, noise=1e-4, anchor_radius=0.1)


def learn(motion):
    return st.learn(motion, elements="triangles", region_count=1, method="linear").cloth


def main(quick):
    plain, twill = (learn(film(fabric, quick)) for fabric in FABRICS.values())
    print(f"{'':16} {'plain':>18} {'twill':>18}   difference")
    for name in ("shear_stiffness", "area_stiffness", "hinge_stiffness"):
        # One region: all triangles of a fabric share one number, all hinges one per bending.
        values = [np.median(getattr(cloth, name)) for cloth in (plain, twill)]
        errors = [np.median(cloth.errors[name]) for cloth in (plain, twill)]
        shown = [f"{value:.4g} +- {error:.2g}" for value, error in zip(values, errors)]
        sigmas = abs(values[1] - values[0]) / np.hypot(*errors)
        print(f"{name:16} {shown[0]:>18} {shown[1]:>18}   {sigmas:.1f} standard errors")
    print("The fabric card of the twill:")
    print(twill.fabric())


if __name__ == "__main__":
    main("--quick" in sys.argv[1:])
