#pragma once

#include <vector>

namespace springtime {

// A smooth bump phi(t) = (1 - (t/T)^2)^8 of half width T, zero outside, sampled at frames; its
// square integrates to one. Derivatives are those of the integrator with step h, so that summing by
// parts is exact for its v[n] = (x[n] - x[n-1])/h and a[n] = (v[n+1] - v[n])/h.
struct TestFunction {
    TestFunction(int half_width, double frame_interval, double step);

    int half_width;              // [frames]
    std::vector<double> value;   // phi(t), offsets -half_width to half_width
    std::vector<double> first;   // (phi(t+h) - phi(t))/h: sum phi v = -sum first x
    std::vector<double> second;  // (phi(t+h) - 2 phi(t) + phi(t-h))/h^2: sum phi a = sum second x
    // For products with velocities: phi and phi' half a step later, where the velocity of now is
    // the derivative of the positions.
    std::vector<double> later, later_slope;
    double integral = 0;  // of phi [s^(1/2)]
};

}  // namespace springtime
