"""The part of cli_test.py about the linear solve: the first experiment that people try, and stopping it."""

import json
import signal
import subprocess
import sys


class Solver:
    def test_the_natural_first_experiment_is_exact(self):
        self.run_it("generate", "--grid", "12x12", "--rollouts", "8", "--seconds", "2", "--out", "m.h5",
                    "--quiet")
        told = json.loads(self.run_it("train", "m.h5", "--out", "run", "--json", "--quiet").stdout)
        # The grid is that of the landmarks, so the cloth is the source to rounding.
        self.assertEqual(self.inspect("run/cloth.json")["grid"], [12, 12])
        self.assertLess(told["validation_rmse"], 1e-3)

    def test_a_solve_is_stopped_by_any_signal(self):
        """A surrogate that is finer than the landmarks is hard to solve for; the solve has begun with its
        first line of progress."""
        self.run_it("generate", "--grid", "12x12", "--rollouts", "8", "--seconds", "2", "--out", "m.h5",
                    "--quiet")
        for how in (signal.SIGTERM, signal.SIGHUP):
            process = subprocess.Popen([sys.argv[1], "train", "m.h5", "--grid", "40x40", "--out", how.name],
                                       cwd=self.folder, text=True, stderr=subprocess.PIPE)
            first = process.stderr.readline()
            self.assertIn("solve [", first)
            process.send_signal(how)
            stderr = process.communicate()[1]
            self.assertEqual(process.returncode, 1, stderr)
            self.assertIn("interrupted in the midst of: solve", stderr)
