#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace springtime {

// SplitMix64 (Steele, Lea, Flood 2014). Written out because the standard distributions differ
// between libraries, and a seed must give the same motion everywhere.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    // Independent stream `index` of a seed: rollouts do not depend on who makes them, or when.
    static Random stream(std::uint64_t seed, std::uint64_t index)
    {
        Random outer(seed);
        Random inner(outer.next() ^ (index * 0xD1B54A32D192ED03ull));
        return Random(inner.next());
    }

    std::uint64_t next()
    {
        std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ull);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
        return z ^ (z >> 31);
    }

    double uniform() { return double(next() >> 11) * 0x1.0p-53; }  // [0, 1)
    int below(int count) { return static_cast<int>(uniform() * count); }
    double normal()  // Box and Muller
    {
        const double radius = std::sqrt(-2 * std::log(1 - uniform()));
        return radius * std::cos(2 * std::numbers::pi * uniform());
    }

  private:
    std::uint64_t state_;
};

}  // namespace springtime
