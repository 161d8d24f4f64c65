"""The verbs report and render as a person uses them; part of cli_test.py."""

import json
import os
import signal
import subprocess

MARKER = '<script type="application/octet-stream" id="springtime-data">'


class Reporting:
    def learned(self):
        self.generate("m.h5", "--rollouts", "4")
        self.run_it("train", "m.h5", "--grid", "8x8", "--method", "linear", "--out", "run", "--quiet")

    def test_report_of_a_run(self):
        self.learned()
        page = (self.folder / "run/report.html").read_text()
        self.assertEqual(page.count(MARKER), 1)
        self.assertNotIn(MARKER + "</script>", page)
        seen = json.loads(self.run_it("report", "run", "--json").stdout)
        self.assertEqual(seen["out"], "report.html")
        self.assertEqual(seen["bytes"], (self.folder / "report.html").stat().st_size)
        self.assertLess(seen["bytes"], 8 << 20)
        # Everything is in the file.
        text = (self.folder / "report.html").read_text()
        for address in ('src="http', "src='http", 'href="http', "import(", '@import'):
            self.assertNotIn(address, text.replace(MARKER, ""))

    def test_report_is_left_out_where_asked(self):
        self.generate("m.h5", "--rollouts", "4")
        result = self.run_it("train", "m.h5", "--grid", "8x8", "--method", "linear", "--out", "run", "--no-report")
        self.assertNotIn("report.html", result.stdout)
        self.assertFalse((self.folder / "run/report.html").exists())
        self.run_it("evaluate", "run/cloth.json", "m.h5", "--out", "e.json", "--no-report")
        self.assertFalse((self.folder / "e.report.html").exists())
        self.run_it("evaluate", "run/cloth.json", "m.h5", "--out", "f.json")
        self.assertTrue((self.folder / "f.report.html").is_file())

    def test_report_errors(self):
        self.learned()
        (self.folder / "empty").mkdir()
        (self.folder / "text.json").write_text("{}")
        before = sorted(self.folder.rglob("*"))
        for arguments, message in (
            (["none"], "none: is not there"),
            (["empty"], "empty: holds no cloth.json"),
            (["text.json"], "text.json"),
            (["run", "--out", "none/r.html"], "there is no directory none"),
            (["run", "--out", "-"], "standard output"),
            (["run", "--motion", "none.h5"], "none.h5: no such file"),
            (["run", "--truth", "m.h5"], "m.h5"),
            (["run", "--rollouts", "0"], "--rollouts"),
            (["run/cloth.json", "--out", "run/cloth.json", "--overwrite"], "is read as well"),
            ([], "runs"),
        ):
            result = self.run_it("report", *arguments, code=2)
            self.assertIn(message, result.stderr)
            self.assertEqual(result.stdout, "")
        self.assertEqual(sorted(self.folder.rglob("*")), before)

    def test_report_never_overwrites_unasked(self):
        self.learned()
        (self.folder / "report.html").write_text("mine")
        result = self.run_it("report", "run", code=2)
        self.assertIn("report.html: exists already; replace it with --overwrite", result.stderr)
        self.assertEqual((self.folder / "report.html").read_text(), "mine")
        self.run_it("report", "run", "--overwrite")
        self.assertIn(MARKER, (self.folder / "report.html").read_text())

    def test_report_without_its_motion(self):
        self.learned()
        (self.folder / "m.h5").unlink()
        result = self.run_it("report", "run")
        self.assertIn("is not there any more", result.stderr)
        self.assertIn(MARKER, (self.folder / "report.html").read_text())

    def test_render_a_picture(self):
        self.generate("m.h5", "--rollouts", "2")
        self.run_it("render", "m.h5", "--out", "a.png", "--rollout", "1", "--time", "0.2", "--size", "320x200")
        picture = (self.folder / "a.png").read_bytes()
        self.assertEqual(picture[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual((int.from_bytes(picture[16:20], "big"), int.from_bytes(picture[20:24], "big")), (320, 200))
        # 0.2 s is frame 10: the same picture.
        self.run_it("render", "m.h5", "--out", "b.png", "--rollout", "1", "--frame", "10", "--size", "320x200")
        self.assertEqual((self.folder / "b.png").read_bytes(), picture)

    def test_render_errors(self):
        self.generate("m.h5", "--rollouts", "1")
        before = sorted(self.folder.iterdir())
        for arguments, message in (
            (["none.h5", "--out", "a.png"], "none.h5: no such file"),
            (["m.h5"], "--out is required"),
            (["m.h5", "--out", "a.gif"], "a.gif: ends in neither .png"),
            (["m.h5", "--out", "a.png", "--rollout", "1"], "--rollout: 1: the motion has 1"),
            (["m.h5", "--out", "a.png", "--frame", "21"], "--frame: 21: rollout 0 has 21"),
            (["m.h5", "--out", "a.png", "--frame", "-1"], "--frame: -1"),
            (["m.h5", "--out", "a.png", "--time", "9"], "--frame: 450"),
            (["m.h5", "--out", "a.png", "--frame", "1", "--time", "0"], "--time"),
            (["m.h5", "--out", "a.png", "--size", "3x9"], "--size: 3 x 9"),
            (["m.h5", "--out", "a.png", "--size", "big"], "--size"),
            (["m.h5", "--out", "a.png", "--fps", "10"], "--fps: is for films"),
            (["m.h5", "--out", "a.mp4", "--frame", "1"], "--frame: is for pictures"),
            (["m.h5", "--out", "a.mp4", "--size", "321x200"], "even"),
            (["m.h5", "--out", "a.mp4", "--fps", "0"], "--fps: 0"),
            (["m.h5", "--out", "a.mp4", "--speed", "0"], "--speed: 0"),
            (["m.h5", "--out", "none/a.png"], "there is no directory none"),
            (["m.h5", "--out", "m.h5", "--overwrite"], "ends in neither"),
        ):
            result = self.run_it("render", *arguments, code=2)
            self.assertIn(message, result.stderr)
            self.assertEqual(result.stdout, "")
        self.assertEqual(sorted(self.folder.iterdir()), before)

    def test_render_a_film(self):
        self.generate("m.h5", "--rollouts", "1")
        self.run_it("render", "m.h5", "--out", "a.mp4", "--size", "160x90", "--fps", "10")
        self.assertEqual((self.folder / "a.mp4").read_bytes()[4:8], b"ftyp")
        # 0.4 s at 10 pictures per second, both ends included.
        probe = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-select_streams", "v", "-show_entries",
                                "stream=nb_read_frames,width,height", "-of", "json", "a.mp4"],
                               cwd=self.folder, text=True, capture_output=True, check=True)
        stream = json.loads(probe.stdout)["streams"][0]
        self.assertEqual((stream["nb_read_frames"], stream["width"], stream["height"]), ("5", 160, 90))
        before = (self.folder / "a.mp4").read_bytes()
        self.run_it("render", "m.h5", "--out", "a.mp4", code=2)
        self.assertEqual((self.folder / "a.mp4").read_bytes(), before)

    def test_render_without_ffmpeg(self):
        self.generate("m.h5", "--rollouts", "1")
        before = sorted(self.folder.iterdir())
        result = subprocess.run([self.program(), "render", "m.h5", "--out", "a.mp4"], cwd=self.folder, text=True,
                                capture_output=True, env={**os.environ, "PATH": str(self.folder)})
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("apt-get install ffmpeg", result.stderr)
        self.assertEqual(sorted(self.folder.iterdir()), before)

    def test_render_when_ffmpeg_fails(self):
        self.generate("m.h5", "--rollouts", "1")
        fake = self.folder / "bin"
        fake.mkdir()
        (fake / "ffmpeg").write_text("#!/bin/sh\nexit 3\n")
        (fake / "ffmpeg").chmod(0o755)
        before = sorted(self.folder.iterdir())
        result = subprocess.run([self.program(), "render", "m.h5", "--out", "a.mp4"], cwd=self.folder, text=True,
                                capture_output=True, env={**os.environ, "PATH": f"{fake}:{os.environ['PATH']}"})
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("ffmpeg could not make it", result.stderr)
        self.assertEqual(sorted(self.folder.iterdir()), before)

    def test_render_is_interrupted(self):
        self.generate("m.h5", "--rollouts", "1")
        before = sorted(self.folder.iterdir())
        running = subprocess.Popen([self.program(), "render", "m.h5", "--out", "a.mp4", "--speed", "0.001",
                                    "--fps", "240", "--size", "1280x720"], cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        while not (self.folder / "a.mp4.part").exists():
            self.assertIsNone(running.poll())
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=600)
        self.assertEqual(running.returncode, 1, errors)
        self.assertEqual(sorted(self.folder.iterdir()), before)
