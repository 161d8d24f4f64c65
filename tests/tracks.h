#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "formats/tracks/track_reader.h"

// What tests of readers of tracks share.
namespace springtime {

constexpr double kGap = std::numeric_limits<double>::quiet_NaN();

// The bytes of a number, whatever the order of this machine.
inline std::string bits(std::uint64_t value, int bytes, bool big)
{
    std::string text;
    for (int i = 0; i < bytes; ++i) {
        const int place = big ? bytes - 1 - i : i;
        text += char(value >> (8 * place) & 0xff);
    }
    return text;
}
inline std::string bits(float value, bool big)
{
    return bits(std::bit_cast<std::uint32_t>(value), 4, big);
}
inline std::string bits(double value, bool big)
{
    return bits(std::bit_cast<std::uint64_t>(value), 8, big);
}

// n different numbers that a float holds exactly.
inline std::vector<double> ramp(std::size_t n)
{
    std::vector<double> values;
    for (std::size_t i = 0; i < n; ++i) values.push_back(double(i) / 8 - 2);
    return values;
}
template <class Real>
std::string array_bits(const std::vector<double>& values, bool big)
{
    std::string text;
    for (const double value : values) text += bits(Real(value), big);
    return text;
}

inline std::vector<TrackFrame> all_frames(TrackReader& reader)
{
    std::vector<TrackFrame> frames;
    TrackFrame frame;
    while (reader.next(frame)) frames.push_back(frame);
    return frames;
}
// The positions of all frames, one after the other.
inline std::vector<double> all_positions(TrackReader& reader)
{
    std::vector<double> all;
    for (const TrackFrame& frame : all_frames(reader)) {
        all.insert(all.end(), frame.position.begin(), frame.position.end());
    }
    return all;
}

}  // namespace springtime
