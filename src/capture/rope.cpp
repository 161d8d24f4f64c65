#include "capture/rope.h"

#include "core/quantile.h"

namespace springtime {

namespace {

// Of points `apart` in the list, over all frames that show both.
std::vector<double> distances(const std::vector<PointFrame>& frames, std::size_t first,
                              std::size_t apart)
{
    std::vector<double> found;
    for (const PointFrame& frame : frames) {
        const Vec3d &a = frame[first], &b = frame[first + apart];
        if (is_seen(a) && is_seen(b)) found.push_back(length(b - a));
    }
    return found;
}

}  // namespace

std::vector<double> spacings_along(const std::vector<PointFrame>& frames)
{
    std::vector<double> spacings;
    for (std::size_t p = 0; !frames.empty() && p + 1 < frames.front().size(); ++p) {
        const std::vector<double> found = distances(frames, p, 1);
        if (found.empty()) return {};
        spacings.push_back(quantile(found, 0.5));
    }
    return spacings;
}

bool is_rope(const std::vector<PointFrame>& frames)
{
    constexpr std::size_t kFewest = 5;  // fewer points may lie anyhow
    // The cosine of the turn from a step along the list to the next, in the straightest tenth of
    // all frames. At the end of the row of a grid it is -0.7 and less, or 0 where rows are listed
    // there and back. A rope is smoother than that.
    constexpr double kStraight = 0.2;
    constexpr double kAlike = 0.25;  // of the distance, between nine in ten and one in ten frames
    if (frames.empty() || frames.front().size() < kFewest) return false;
    const std::vector<double> spacing = spacings_along(frames);
    if (spacing.empty()) return false;
    std::size_t changing = 0;
    for (std::size_t p = 0; p < spacing.size(); ++p) {
        const std::vector<double> found = distances(frames, p, 1);
        changing += quantile(found, 0.9) - quantile(found, 0.1) > kAlike * spacing[p];
    }
    if (10 * changing > spacing.size()) return false;
    for (std::size_t p = 0; p + 1 < spacing.size(); ++p) {
        const std::vector<double> found = distances(frames, p, 2);
        if (found.empty()) return false;
        const double a = spacing[p], b = spacing[p + 1], c = quantile(found, 0.9);
        if (c * c - a * a - b * b < 2 * kStraight * a * b) return false;
    }
    return true;
}

}  // namespace springtime
