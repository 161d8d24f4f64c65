#pragma once

namespace springtime {

// The flat rest shape: a rectangle. u runs along the length (west to east, columns of a grid),
// v along the width (north to south, rows of a grid); the origin is the north-west corner.
struct Sheet {
    double length = 15.5;  // [m]
    double width = 15.5;   // [m]
    double mass = 102.4;   // [kg]; 0.1 kg for each of 32 x 32 particles
};

// Throws Error unless all three are finite and positive.
void check_sheet(const Sheet& sheet);

// A point of the flat sheet [m].
struct SheetPoint {
    double u = 0, v = 0;
};

}  // namespace springtime
