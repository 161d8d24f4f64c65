"""The part of cli_test.py about sheets of triangles: any outline, from motion to a fabric card."""

import json
import math


def obj_of(points, triangles):
    lines = [f"v {x} 0 {z}" for x, z in points]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in triangles]
    return "\n".join(lines) + "\n"


def l_shape(cells):
    """A square of cells without its north-east quarter."""
    number, points, triangles = {}, [], []
    inside = lambda r, c: r >= cells // 2 or c < cells // 2
    for r in range(cells):
        for c in range(cells):
            if not inside(r, c):
                continue
            for corner in ((r, c), (r, c + 1), (r + 1, c), (r + 1, c + 1)):
                if corner not in number:
                    number[corner] = len(points)
                    points.append((corner[1] / cells, corner[0] / cells))
            nw, ne, sw, se = (number[p] for p in ((r, c), (r, c + 1), (r + 1, c), (r + 1, c + 1)))
            triangles += [(nw, sw, se), (nw, se, ne)]
    return obj_of(points, triangles)


def round_sheet(rings):
    """Rings of 6, 12, 18 ... points about a centre."""
    points, rows = [(0.5, 0.5)], [[0]]
    for ring in range(1, rings + 1):
        row = []
        for i in range(6 * ring):
            angle = -2 * math.pi * i / (6 * ring)
            row.append(len(points))
            points.append((0.5 + 0.5 * ring / rings * math.cos(angle),
                           0.5 + 0.5 * ring / rings * math.sin(angle)))
        rows.append(row)
    triangles = []
    for ring in range(1, rings + 1):
        inner, outer = rows[ring - 1], rows[ring]
        for side in range(6):
            for i in range(ring):
                a, b = outer[side * ring + i], outer[(side * ring + i + 1) % len(outer)]
                c = inner[(side * (ring - 1) + i) % len(inner)]
                triangles.append((a, b, c))
                if i + 1 < ring:
                    triangles.append((c, b, inner[(side * (ring - 1) + i + 1) % len(inner)]))
    return obj_of(points, triangles)


class Fabric:
    SOURCE = ["--source", "fem", "--density", "0.2", "--anchor-radius", "0.15", "--seconds", "1.5",
              "--stride", "5", "--shear-stiffness", "30; columns 0.5-1 = 60", "--area-stiffness", "50",
              "--triangle-damping", "0.05", "--bending", "0.0005", "--quiet"]

    def fabric_motion(self, name, *more):
        self.run_it("generate", "--out", name, *self.SOURCE, *more)

    def check_outline(self, obj):
        (self.folder / "sheet.obj").write_text(obj)
        self.fabric_motion("m.h5", "--mesh", "sheet.obj", "--rollouts", "4")
        self.fabric_motion("t.h5", "--mesh", "sheet.obj", "--rollouts", "1", "--seed", "9")
        self.run_it("train", "m.h5", "--elements", "triangles", "--method", "linear", "--mesh",
                    "sheet.obj", "--out", "run", "--quiet")
        seen = json.loads(self.run_it("evaluate", "run/cloth.json", "t.h5", "--truth",
                                      "m.cloth.json", "--json", "--quiet").stdout)
        for kind in ("shear_stiffness", "area_stiffness"):
            self.assertLess(seen["triangles"][kind]["relative"], 0.02)
        self.assertLess(seen["motion_rmse"]["mean"], 0.1 * seen["baselines"]["static"]["mean"])
        card = json.loads(self.run_it("inspect", "run", "--json", "--quiet").stdout)["fabric"]
        # Half of the sheet or so is stiff: the range is that of both halves.
        self.assertAlmostEqual(card["numbers"]["shear"]["low"], 30, delta=1)
        self.assertAlmostEqual(card["numbers"]["shear"]["high"], 60, delta=2)
        self.run_it("simulate", "run/cloth.json", "--pin", "particle:0", "--seconds", "0.2",
                    "--out", "r.h5", "--quiet")
        for to in ("ply", "newton", "arcsim", "blender"):
            self.run_it("export", "run", "--to", to, "--quiet")
        exported = json.loads((self.folder / "run/cloth.newton.json").read_text())
        self.assertEqual(len(exported["semi_implicit"]["tri_ke"]), len(exported["tri_indices"]))

    def test_fabric_of_an_l_shape(self):
        self.check_outline(l_shape(6))

    def test_fabric_of_a_round_sheet(self):
        self.check_outline(round_sheet(4))

    def test_fabric_card_of_a_woven_sheet_and_its_regions(self):
        self.fabric_motion("m.h5", "--mesh", "7x7", "--length", "1", "--width", "1", "--rollouts",
                           "3", "--warp-stiffness", "200", "--weft-stiffness", "90")
        self.run_it("train", "m.h5", "--elements", "triangles", "--method", "linear",
                    "--orthotropic", "--regions", "2", "--out", "run", "--quiet")
        card = json.loads(self.run_it("inspect", "run", "--json", "--quiet").stdout)["fabric"]
        self.assertTrue(card["orthotropic"])
        regions = sorted(card["regions"], key=lambda region: region["shear"])
        self.assertEqual(len(regions), 2)
        for region, mu in zip(regions, (30, 60)):
            c11, c22, c12 = mu + 50 + 200, mu + 50 + 90, 50 - mu
            self.assertAlmostEqual(region["shear"], mu, delta=0.02 * mu)
            self.assertAlmostEqual(region["young_warp"], c11 - c12**2 / c22, delta=0.02 * c11)
            self.assertAlmostEqual(region["young_weft"], c22 - c12**2 / c11, delta=0.02 * c22)
        text = self.run_it("inspect", "run", "--quiet").stdout
        self.assertIn("Young's modulus, warp", text)

    def test_springs_and_triangles_side_by_side(self):
        self.fabric_motion("m.h5", "--mesh", "6x6", "--length", "1", "--width", "1", "--rollouts", "3")
        seen = json.loads(self.run_it("train", "m.h5", "--elements", "both", "--method", "linear",
                                      "--out", "run", "--quiet", "--json").stdout)
        self.assertEqual(set(seen["elements"]), {"springs", "triangles"})
        self.assertLess(seen["elements"]["triangles"]["validation_rmse"],
                        seen["elements"]["springs"]["validation_rmse"])
        self.assertGreater(seen["step_ratio"], 0)
        for elements in ("springs", "triangles"):
            self.assertTrue((self.folder / "run" / elements / "cloth.json").exists())
        again = json.loads(self.run_it("train", "--resume", "run", "--quiet", "--json").stdout)
        for elements in ("springs", "triangles"):
            self.assertEqual(again["elements"][elements]["validation_rmse"],
                             seen["elements"][elements]["validation_rmse"])

    def test_flags_of_triangles_need_triangles(self):
        self.fabric_motion("m.h5", "--mesh", "4x4", "--length", "1", "--width", "1", "--rollouts", "2")
        for more, word in ((["--orthotropic"], "--elements triangles"),
                           (["--elements", "triangles", "--law", "full"], "law"),
                           (["--elements", "triangles", "--regions", "none.csv"], "none.csv"),
                           (["--elements", "triangles", "--regions", "0"], "--regions")):
            result = self.run_it("train", "m.h5", "--out", "run", *more, code=2)
            self.assertIn(word, result.stderr)
            self.assertFalse((self.folder / "run").exists())
