#include "formats/motion_file.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "springtime/error.h"

namespace springtime::motion_file {

namespace {

// The loops have no early exit and the inner one a fixed length, so that compilers vectorise it.
bool all_finite(std::span<const float> values)
{
    constexpr std::uint32_t kExponent = 0x7f800000;  // all ones for infinities and NaN
    constexpr std::size_t kBlock = 1024;
    std::uint32_t bad = 0;
    const auto look_at = [&](float value) {
        bad |= (std::bit_cast<std::uint32_t>(value) & kExponent) == kExponent ? 1u : 0u;
    };
    std::size_t i = 0;
    for (; i + kBlock <= values.size(); i += kBlock) {
        for (std::size_t j = 0; j < kBlock; ++j) {
            look_at(values[i + j]);
        }
    }
    for (; i < values.size(); ++i) {
        look_at(values[i]);
    }
    return bad == 0;
}

// The first of three numbers that is bad where landmarks may be missing, if any: infinite, or NaN
// beside a number.
std::optional<std::size_t> first_torn(std::span<const float> values)
{
    for (std::size_t i = 0; i < values.size(); i += 3) {
        int missing = 0;
        for (std::size_t j = i; j < i + 3; ++j) {
            if (std::isinf(values[j])) return j;
            missing += std::isnan(values[j]);
        }
        if (missing % 3 != 0) return i;
    }
    return std::nullopt;
}

void check_times(const MotionHeader& header, std::string_view source)
{
    if (!is_time_step(header.dt)) {
        throw Error("{}: dt {} s; {} to {} s is needed", source, header.dt, kLeastTimeStep,
                    kMostTimeStep);
    }
    if (header.stride < 1 || header.stride > kLargestStride) {
        throw Error("{}: stride {}; 1 to {} steps from one frame to the next are needed", source,
                    header.stride, kLargestStride);
    }
    if (!is_time_step(header.frame_interval())) {
        throw Error("{}: {} steps of {} s, so frames {} s apart; {} s at most is needed", source,
                    header.stride, header.dt, header.frame_interval(), kMostTimeStep);
    }
}

bool finite(const Vec3d& v)
{
    return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
}

}  // namespace

std::string rollout_number(std::size_t rollout)
{
    return fmt::format("{:06}", rollout);
}

std::string rollout_name(std::size_t rollout)
{
    return "/rollouts/" + rollout_number(rollout);
}

void check_finite(std::span<const float> values, std::string_view what, std::size_t landmarks,
                  std::size_t rollout, std::size_t first_frame, std::string_view source, bool gaps)
{
    if (all_finite(values)) return;
    const auto first_not_finite = [&] {
        return std::size_t(std::find_if_not(values.begin(), values.end(),
                                            [](float value) { return std::isfinite(value); }) -
                           values.begin());
    };
    const std::optional<std::size_t> bad = gaps ? first_torn(values) : first_not_finite();
    if (!bad) return;
    const std::size_t point = *bad / 3;
    const std::string place =
        fmt::format("{}: rollout {}, frame {}, landmark {}: {}", source, rollout,
                    first_frame + point / landmarks, point % landmarks, what);
    if (gaps && !std::isinf(values[*bad])) {
        const float* x = &values[3 * point];
        throw Error("{} ({}, {}, {}) is missing in part; a lost landmark has NaN in all three",
                    place, x[0], x[1], x[2]);
    }
    throw Error(
        "{} {} is not finite; a motion file holds finite numbers only, leave such a rollout out",
        place, values[*bad]);
}

void check_header(const MotionHeader& header, std::string_view source)
{
    const Sheet& sheet = header.sheet;
    const auto within = [](double value, const Extremes& range) {
        return value >= range.least && value <= range.most;  // false for NaN
    };
    if (!within(sheet.length, kSheetSide) || !within(sheet.width, kSheetSide) ||
        !within(sheet.mass, kSheetMass)) {
        throw Error(
            "{}: sheet_length {} m, sheet_width {} m, mass {} kg; {} to {} m and {} to {} kg are "
            "needed",
            source, sheet.length, sheet.width, sheet.mass, kSheetSide.least, kSheetSide.most,
            kSheetMass.least, kSheetMass.most);
    }
    check_times(header, source);
    const Environment& air = header.environment;
    if (!finite(air.gravity) || !finite(air.wind) || !std::isfinite(air.drag) || air.drag < 0) {
        throw Error("{}: gravity, wind and drag must be finite, and drag {} not negative", source,
                    air.drag);
    }
    if (header.rest.empty()) throw Error("{}: /rest holds no landmark; one is needed", source);
    for (std::size_t i = 0; i < header.rest.size(); ++i) {
        if (std::isfinite(header.rest[i].u) && std::isfinite(header.rest[i].v)) continue;
        throw Error("{}: /rest of landmark {} is not finite; give its place in the flat sheet",
                    source, i);
    }
}

}  // namespace springtime::motion_file
