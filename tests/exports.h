#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "cloths.h"
#include "core/random.h"
#include "motions.h"
#include "springtime/export.h"
#include "springtime/files.h"
#include "temp_folder.h"

namespace springtime {

// Random places of a grid of landmarks, 0.02 s from frame to frame: nothing is round or in order.
inline Rollout random_rollout(std::size_t frames, std::size_t landmarks, int seed = 3)
{
    Random random(seed);
    Rollout rollout;
    rollout.frame_count = frames;
    for (std::size_t i = 0; i < 3 * frames * landmarks; ++i) {
        rollout.position.push_back(float(std::exp(8 * random.uniform() - 6) - 1));
        rollout.velocity.push_back(float(random.uniform()));
    }
    return rollout;
}

inline MotionHeader grid_header(const Grid& grid)
{
    MotionHeader header;
    header.sheet = {0.6, 0.4, 0.03};
    header.rest = grid_points(header.sheet, grid);
    header.dt = 0.001;
    header.stride = 20;
    return header;
}

// One rollout of 5 frames of 3 x 4 landmarks.
inline Motion small_motion(std::size_t frames = 5)
{
    return motion_of(grid_header({3, 4}), {random_rollout(frames, 12)});
}

inline void hide(Rollout& rollout, std::size_t frame, std::size_t landmark)
{
    const std::size_t landmarks = rollout.landmark_count();
    for (int axis = 0; axis < 3; ++axis) {
        const std::size_t i = 3 * (frame * landmarks + landmark) + axis;
        rollout.position[i] = std::numeric_limits<float>::quiet_NaN();
        if (!rollout.velocity.empty()) rollout.velocity[i] = rollout.position[i];
    }
}

inline MotionExport export_to(ExportFormat format, const std::filesystem::path& out)
{
    MotionExport options;
    options.format = format;
    options.out = out;
    options.source = "motion";
    return options;
}

// The words of a text, for formats made of them.
inline std::vector<std::string> words_of(const std::string& text, const std::string& between)
{
    std::vector<std::string> words;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = text.find_first_not_of(between, at);
        if (begin == std::string::npos) break;
        at = std::min(text.find_first_of(between, begin), text.size());
        words.push_back(text.substr(begin, at - begin));
    }
    return words;
}

inline std::vector<std::string> lines_of_file(const std::filesystem::path& path)
{
    return words_of(bytes_of(path), "\n");
}

// A value of bytes as they lie in a file.
template <class T>
T value_at(const std::string& bytes, std::size_t offset, bool big_endian = false)
{
    std::string part = bytes.substr(offset, sizeof(T));
    if (big_endian) part.assign(part.rbegin(), part.rend());
    T value{};
    std::memcpy(&value, part.data(), sizeof(T));
    return value;
}

template <class T>
std::vector<T> values_at(const std::string& bytes, std::size_t offset, std::size_t count,
                         bool big_endian = false)
{
    std::vector<T> values;
    for (std::size_t i = 0; i < count; ++i) {
        values.push_back(value_at<T>(bytes, offset + i * sizeof(T), big_endian));
    }
    return values;
}

// A grid of 3 x 3 particles, 1 m apart, on which spring s has stiffness s + 1 and damping
// (s + 1) / 10.
inline Cloth numbered_grid()
{
    Cloth cloth =
        make_grid_cloth({2, 2, 0.9}, {3, 3}, MaterialField::uniform(1), MaterialField::uniform(1));
    for (std::size_t s = 0; s < cloth.springs.spring_count(); ++s) {
        cloth.springs.stiffness[s] = double(s + 1);
        cloth.springs.damping[s] = double(s + 1) / 10;
    }
    return cloth;
}

}  // namespace springtime
