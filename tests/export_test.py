"""Exports a motion and a cloth, and reads them with programs that know nothing of us: NumPy, assimp,
and a few lines of Python for what Debian has no reader of.

usage: export_test.py SPRINGTIME
"""

import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

import h5py
import numpy as np

PROGRAM = ""
ROWS, COLS = 6, 9


def floats(text):
    return [float(x) for x in re.findall(r"[-+0-9.e]+", text)]


def read_glb(path):
    data = path.read_bytes()
    magic, version, length = struct.unpack_from("<4sII", data)
    assert (magic, version, length) == (b"glTF", 2, len(data))
    size, kind = struct.unpack_from("<I4s", data, 12)
    assert kind == b"JSON" and size % 4 == 0
    gltf = json.loads(data[20:20 + size])
    binary, kind = struct.unpack_from("<I4s", data, 20 + size)
    assert kind == b"BIN\0" and binary % 4 == 0 and 28 + size + binary == len(data)
    return gltf, data[28 + size:]


def accessor(gltf, binary, index):
    """The array, after checks of its place and of its bounds."""
    found = gltf["accessors"][index]
    view = gltf["bufferViews"][found["bufferView"]]
    width = {"SCALAR": 1, "VEC2": 2, "VEC3": 3}[found["type"]]
    kind = {5126: "<f4", 5125: "<u4"}[found["componentType"]]
    assert view["byteOffset"] % 4 == 0 and view["byteOffset"] + view["byteLength"] <= len(binary)
    values = np.frombuffer(binary, kind, found["count"] * width, view["byteOffset"])
    values = values.reshape(-1, width)
    for name, extreme in (("min", values.min(0)), ("max", values.max(0))):
        if name in found:
            np.testing.assert_array_equal(np.array(found[name], kind), extreme)
    return values


def read_png(path):
    """Samples of a grey-scale PNG of 16 bits, and its texts."""
    data, at, packed, texts = path.read_bytes(), 8, b"", []
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    while at < len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8:at + 8 + size]
        assert struct.unpack_from(">I", data, at + 8 + size)[0] == zlib.crc32(kind + body)
        if kind == b"IHDR":
            width, height, depth, color, _, _, interlace = struct.unpack(">IIBBBBB", body)
            assert (depth, color, interlace) == (16, 0, 0)
        packed += body if kind == b"IDAT" else b""
        if kind == b"tEXt":
            texts.append(body.decode("latin1"))
        at += 12 + size
    raw = np.frombuffer(zlib.decompress(packed), "u1").reshape(height, 1 + 2 * width).astype(int)
    rows, before = [], np.zeros(2 * width, int)
    for line in raw:
        row = np.zeros(2 * width, int)
        for i in range(2 * width):
            left = row[i - 2] if i >= 2 else 0
            corner = before[i - 2] if i >= 2 else 0
            guess = left + before[i] - corner
            paeth = min((abs(guess - v), n, v) for n, v in enumerate((left, before[i], corner)))[2]
            row[i] = (line[i + 1] + (0, left, before[i], (left + before[i]) // 2, paeth)[line[0]]) % 256
        rows.append(row)
        before = row
    pairs = np.array(rows).reshape(height, width, 2)
    return pairs[:, :, 0] * 256 + pairs[:, :, 1], texts


class Export(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        cls.run_it("generate", "--grid", f"{ROWS}x{COLS}", "--mass", "5", "--length", "4", "--width",
                   "2.5", "--seconds", "0.4", "--stride", "20", "--rollouts", "1", "--out", "m.h5")
        with h5py.File(cls.folder / "m.h5") as file:
            cls.position = file["rollouts/000000/position"][:]
            cls.velocity = file["rollouts/000000/velocity"][:]
            cls.rest = file["rest"][:]
            cls.handles = file["rollouts/000000/handles"][:]

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def run_it(cls, *arguments):
        return subprocess.run([PROGRAM, *arguments, "--quiet"], cwd=cls.folder, check=True,
                              capture_output=True, text=True).stdout

    def export(self, source, out, *more):
        self.run_it("export", source, "--to", out.rsplit(".", 1)[-1], "--out", out, *more)
        return self.folder / out

    def assimp(self, path):
        """Points and triangles as assimp sees them, from the ASCII PLY it makes."""
        info = subprocess.run(["assimp", "info", path], check=True, capture_output=True, text=True)
        self.assertNotIn("ERROR", info.stdout)
        out = self.folder / "seen.ply"
        subprocess.run(["assimp", "export", path, out, "-f", "ply"], check=True,
                       capture_output=True, text=True)
        head, _, body = out.read_text().partition("end_header\n")
        points = int(re.search(r"element vertex (\d+)", head).group(1))
        faces = int(re.search(r"element face (\d+)", head).group(1))
        lines = body.splitlines()
        return (np.array([floats(line)[:3] for line in lines[:points]]),
                [[int(x) for x in line.split()][1:] for line in lines[points:points + faces]])

    def check_mesh(self, path, position):
        points, faces = self.assimp(path)
        triangles = sum(len(face) - 2 for face in faces)
        self.assertEqual(triangles, 2 * (ROWS - 1) * (COLS - 1))
        # assimp may give the faces at a point copies of it, and writes six digits.
        seen = {tuple(np.round(p, 3)) for p in points}
        self.assertEqual(len(seen), ROWS * COLS)
        for p in position:
            nearest = np.min(np.linalg.norm(points - p, axis=1))
            self.assertLess(nearest, 1e-5 * np.abs(position).max())

    def test_npz_by_numpy(self):
        with np.load(self.export("m.h5", "m.npz")) as found:
            np.testing.assert_array_equal(found["position"], self.position)
            np.testing.assert_array_equal(found["velocity"], self.velocity)
            np.testing.assert_array_equal(found["rest"], self.rest)
            np.testing.assert_array_equal(found["handles"], self.handles)
            np.testing.assert_allclose(found["time"], 0.02 * np.arange(21), rtol=1e-15, atol=1e-15)
            self.assertEqual(found["triangles"].shape, (2 * (ROWS - 1) * (COLS - 1), 3))
            self.assertEqual(set(found["triangles"].ravel()), set(range(ROWS * COLS)))
            types = {name: found[name].dtype.str for name in found}
        self.assertEqual(types, {"position": "<f4", "velocity": "<f4", "rest": "<f8", "time": "<f8",
                                 "handles": "<i4", "triangles": "<i4"})

    def test_csv_by_numpy(self):
        path = self.export("m.h5", "m.csv")
        table = np.loadtxt(path, delimiter=",", skiprows=1)
        np.testing.assert_array_equal(table[:, 0], np.arange(21))
        np.testing.assert_allclose(table[:, 1], 0.02 * np.arange(21), atol=1e-12)
        np.testing.assert_array_equal(table[:, 2:].astype("f4").reshape(self.position.shape),
                                      self.position)

    def test_obj_and_ply_by_assimp(self):
        for kind in ("obj", "ply"):
            folder = self.folder / f"frames-{kind}"
            self.run_it("export", "m.h5", "--to", kind, "--out", folder.name)
            names = sorted(path.name for path in folder.iterdir())
            self.assertEqual(names, [f"frame_{f:06}.{kind}" for f in range(21)])
            for frame in (0, 20):
                self.check_mesh(folder / names[frame], self.position[frame])

    def test_glb_by_assimp_and_by_its_structure(self):
        path = self.export("m.h5", "m.glb", "--maps", "m.cloth.json")
        self.check_mesh(path, self.position[0])
        gltf, binary = read_glb(path)
        self.assertEqual(gltf["buffers"][0]["byteLength"], len(binary))
        arrays = [accessor(gltf, binary, i) for i in range(len(gltf["accessors"]))]
        primitive = gltf["meshes"][0]["primitives"][0]
        count = {len(arrays[i]) for i in primitive["attributes"].values()}
        self.assertEqual(count, {ROWS * COLS})
        self.assertLess(arrays[primitive["indices"]].max(), ROWS * COLS)
        sampler = gltf["animations"][0]["samplers"][0]
        np.testing.assert_allclose(arrays[sampler["input"]][:, 0], 0.02 * np.arange(21), rtol=1e-6)
        targets = np.array([arrays[t["POSITION"]] for t in primitive["targets"]])
        weights = arrays[sampler["output"]].reshape(21, len(targets))
        self.assertEqual(len(gltf["meshes"][0]["weights"]), len(targets))
        moved = arrays[primitive["attributes"]["POSITION"]] + np.einsum("ft,tpx->fpx", weights, targets)
        # Displacements from the first frame are rounded to float.
        np.testing.assert_allclose(moved, self.position, atol=1e-6)
        self.assertIn("_STRETCH_WARP", primitive["attributes"])
        self.assertIn("COLOR_0", primitive["attributes"])

    def test_usda_by_its_structure(self):
        text = self.export("m.h5", "m.usda").read_text()
        self.assertTrue(text.startswith("#usda 1.0\n"))
        open_brackets = []
        for c in text:
            if c in "([{":
                open_brackets.append(c)
            elif c in ")]}":
                self.assertEqual(open_brackets.pop() + c, {")": "()", "]": "[]", "}": "{}"}[c])
        self.assertEqual(open_brackets, [])
        counts = floats(re.search(r"faceVertexCounts = \[(.*)\]", text).group(1))
        corners = floats(re.search(r"faceVertexIndices = \[(.*)\]", text).group(1))
        self.assertEqual(sum(counts), len(corners))
        self.assertEqual(set(corners), set(range(ROWS * COLS)))
        samples = re.search(r"points.timeSamples = \{\n(.*?)\n    \}", text, re.S).group(1)
        lines = samples.splitlines()
        self.assertEqual(len(lines), 21)
        for frame, line in enumerate(lines):
            key, _, values = line.partition(":")
            self.assertEqual(int(key), frame)
            found = np.array(floats(values), "f4").reshape(-1, 3)
            np.testing.assert_array_equal(found, self.position[frame])
        self.assertEqual(floats(re.search("endTimeCode = (.*)", text).group(1)), [20])
        self.assertEqual(floats(re.search("timeCodesPerSecond = (.*)", text).group(1)), [50])

    def test_mdd_and_pc2_by_numpy(self):
        data = self.export("m.h5", "m.mdd").read_bytes()
        frames, points = np.frombuffer(data, ">i4", 2)
        self.assertEqual((frames, points), (21, ROWS * COLS))
        found = np.frombuffer(data, ">f4", offset=8 + 4 * frames).reshape(frames, points, 3)
        np.testing.assert_array_equal(found, self.position)
        flat = np.column_stack([self.rest[:, 0] - 2, 0 * self.rest[:, 0], self.rest[:, 1] - 1.25])
        self.check_mesh(self.folder / "m.mdd.rest.obj", flat)
        data = self.export("m.h5", "n.pc2").read_bytes()
        self.assertEqual(struct.unpack_from("<12siiffi", data),
                         (b"POINTCACHE2\0", 1, ROWS * COLS, 0, 1, 21))
        np.testing.assert_array_equal(np.frombuffer(data, "<f4", offset=32), self.position.ravel())

    def test_maps_of_a_cloth_agree_in_all_formats(self):
        source = "m.cloth.json"
        with np.load(self.export(source, "c.npz")) as file:
            maps = {name: file[name] for name in file if file[name].ndim == 1}
        ranges = json.loads((self.folder / "c.npz.ranges.json").read_text())["maps"]
        self.assertEqual(set(maps), set(ranges))
        self.assertTrue({"stretch_warp", "stretch_weft", "stretch", "shear", "bend_warp",
                         "bend_weft", "bend", "damping_stretch"} <= set(maps))
        self.assertEqual((ranges["stretch"]["unit"], ranges["stretch"]["low"]), ("N/m", 25))
        table = np.genfromtxt(self.export(source, "d.csv"), delimiter=",", names=True,
                              skip_header=len(maps))
        gltf, binary = read_glb(self.export(source, "e.glb"))
        attributes = gltf["meshes"][0]["primitives"][0]["attributes"]
        self.export(source, "f.png", "--size", "40")
        for name, weights in maps.items():
            self.assertTrue(0 <= weights.min() and weights.max() == 1)
            np.testing.assert_array_equal(table[name].astype("f4"), weights)
            found = accessor(gltf, binary, attributes["_" + name.upper()])
            np.testing.assert_array_equal(found[:, 0], weights)
            samples, texts = read_png(self.folder / "f.png" / f"{name}.png")
            self.assertEqual(samples.shape, (40, 40))
            self.assertIn(name + ":", texts[0])
            # The corners of the image lie within half a pixel of the corners of the sheet: a
            # fraction 0.5 * 5/40 and 0.5 * 8/40 of a cell away.
            grid = weights.reshape(ROWS, COLS).astype(float)
            b, a = 0.5 * (ROWS - 1) / 40, 0.5 * (COLS - 1) / 40
            for sample, cell in ((samples[0, 0], grid[:2, :2]),
                                 (samples[-1, 0], grid[:-3:-1, :2]),
                                 (samples[0, -1], grid[:2, :-3:-1])):
                expected = np.array([1 - b, b]) @ cell @ np.array([1 - a, a])
                self.assertAlmostEqual(sample / 65535, expected, delta=1e-5)  # a step of 16 bits
        self.check_mesh(self.export(source, "g.ply"),
                        np.column_stack([self.rest[:, 0] - 2, 0 * self.rest[:, 0],
                                         self.rest[:, 1] - 1.25]))


if __name__ == "__main__":
    PROGRAM = sys.argv[1]
    unittest.main(argv=sys.argv[:1], verbosity=2)
