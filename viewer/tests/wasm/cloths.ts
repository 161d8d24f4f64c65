// Small cloths as cloth files, for tests.

interface Spring {
    ends: [number, number];
    restLength: number;
    stiffness: number;
    damping: number;
}

interface Grid {
    rows: number;
    cols: number;
}

export function clothJson(rest: [number, number][], springs: Spring[], mass: number, grid?: Grid): string {
    const size = (axis: 0 | 1) => Math.max(...rest.map((point) => point[axis])) || 1;
    return JSON.stringify({
        format: "springtime-cloth",
        version: 1,
        units: "m, kg, s, N",
        sheet: { length: size(0), width: size(1), mass: mass * rest.length },
        ...(grid ? { grid } : {}),
        particles: { count: rest.length, rest, mass },
        springs: {
            count: springs.length,
            family_names: ["structural", "diagonal", "antidiagonal", "bending"],
            family: springs.map(() => 0),
            ends: springs.map(({ ends }) => ends),
            rest_length: springs.map(({ restLength }) => restLength),
            stiffness: springs.map(({ stiffness }) => stiffness),
            damping: springs.map(({ damping }) => damping),
        },
    });
}

// A square sheet of n x n particles, 1 m wide, whose neighbours are joined. 0.1 kg a particle.
export function gridJson(n: number, stiffness: number, damping: number): string {
    const step = 1 / (n - 1);
    const rest: [number, number][] = [];
    const springs: Spring[] = [];
    for (let row = 0; row < n; ++row) {
        for (let col = 0; col < n; ++col) {
            rest.push([col * step, row * step]);
            const here = row * n + col;
            if (col > 0) springs.push({ ends: [here - 1, here], restLength: step, stiffness, damping });
            if (row > 0) springs.push({ ends: [here - n, here], restLength: step, stiffness, damping });
        }
    }
    return clothJson(rest, springs, 0.1, { rows: n, cols: n });
}
