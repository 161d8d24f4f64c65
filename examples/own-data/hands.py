"""Paths of two hands that swing a cloth, or (camera) a CSV in metres, y up, as one in mm, z up."""

import csv
import math
import random
import sys


def paths(seed, seconds):
    draw = random.Random(seed)
    pace, phase = [draw.uniform(2, 5) for _ in range(6)], [draw.uniform(0, 6.28) for _ in range(6)]
    reach = [draw.uniform(0.03, 0.06) for _ in range(6)]
    print("time,handle,x,y,z")
    for step in range(round(seconds / 0.05) + 1):
        time = 0.05 * step
        ramp = 1 - math.exp(-((time / 0.7) ** 2))
        a = [ramp * reach[i] * math.sin(pace[i] * time + phase[i]) for i in range(6)]
        print(f"{time:.2f},corner-nw,{a[0]:.5f},{a[1]:.5f},{a[2]:.5f}")
        b = [a[i] + 0.2 * a[3 + i] for i in range(3)]  # the hands keep their distance, or it would fold
        print(f"{time:.2f},corner-ne,{b[0]:.5f},{b[1]:.5f},{b[2]:.5f}")


def camera():
    rows = csv.reader(sys.stdin)
    print(",".join(next(rows)))
    for row in rows:
        cells = [row[0], f"{float(row[1]):.4f}"]
        for x, y, z in zip(row[2::3], row[3::3], row[4::3]):
            there = (x, f"{-float(z)}", y) if x else ("", "", "")
            cells += [f"{1000 * float(value):.1f}" if value else "" for value in there]
        print(",".join(cells))


if sys.argv[1] == "camera":
    camera()
else:
    paths(int(sys.argv[1]), float(sys.argv[2]))
