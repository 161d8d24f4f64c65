#pragma once

#include <cmath>

namespace springtime::bench {

// A number that counts the operations of the formulas it goes through: sums, products, quotients,
// roots and comparisons, one each.
struct Counted {
    float value = 0;

    Counted() = default;
    explicit Counted(float v) : value(v) {}

    inline static long operations = 0;
    static Counted of(float v)
    {
        ++operations;
        return Counted(v);
    }
    friend Counted operator+(Counted a, Counted b) { return of(a.value + b.value); }
    friend Counted operator-(Counted a, Counted b) { return of(a.value - b.value); }
    friend Counted operator*(Counted a, Counted b) { return of(a.value * b.value); }
    friend Counted operator/(Counted a, Counted b) { return of(a.value / b.value); }
    friend Counted operator-(Counted a) { return of(-a.value); }
    Counted& operator+=(Counted b) { return *this = *this + b; }
    Counted& operator-=(Counted b) { return *this = *this - b; }
    friend bool operator<(Counted a, Counted b) { return a.value < b.value; }
    friend Counted choose(bool condition, Counted yes, Counted no)
    {
        return of(condition ? yes.value : no.value);
    }
    friend Counted sqrt(Counted a) { return of(std::sqrt(a.value)); }
    friend Counted max(Counted a, Counted b) { return of(std::max(a.value, b.value)); }
    friend Counted min(Counted a, Counted b) { return of(std::min(a.value, b.value)); }
};

}  // namespace springtime::bench
