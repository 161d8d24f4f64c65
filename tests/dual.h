#pragma once

#include <cmath>

namespace springtime {

// A dual number: a value and its derivative along one direction, by the rules of calculus and with
// nothing but rounding in it.
struct Dual {
    double value = 0, slope = 0;

    Dual() = default;
    explicit Dual(double constant) : value(constant) {}
    Dual(double value_at, double slope_at) : value(value_at), slope(slope_at) {}
};

inline Dual operator+(const Dual& a, const Dual& b)
{
    return {a.value + b.value, a.slope + b.slope};
}
inline Dual operator-(const Dual& a, const Dual& b)
{
    return {a.value - b.value, a.slope - b.slope};
}
inline Dual operator-(const Dual& a)
{
    return {-a.value, -a.slope};
}
inline Dual operator*(const Dual& a, const Dual& b)
{
    return {a.value * b.value, a.slope * b.value + a.value * b.slope};
}
inline Dual operator/(const Dual& a, const Dual& b)
{
    const double quotient = a.value / b.value;
    return {quotient, (a.slope - quotient * b.slope) / b.value};
}
inline Dual sqrt(const Dual& a)
{
    const double root = std::sqrt(a.value);
    return {root, a.slope / (2 * root)};
}
inline Dual atan2(const Dual& y, const Dual& x)
{
    const double square = x.value * x.value + y.value * y.value;
    return {std::atan2(y.value, x.value), (x.value * y.slope - y.value * x.slope) / square};
}
inline Dual min(const Dual& a, const Dual& b)
{
    return b.value < a.value ? b : a;
}
inline Dual max(const Dual& a, const Dual& b)
{
    return a.value < b.value ? b : a;
}

}  // namespace springtime
