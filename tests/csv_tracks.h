#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "formats/tracks/open_tracks.h"
#include "temp_folder.h"

namespace springtime {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

struct AllTracks {
    TrackInfo info;
    std::vector<TrackFrame> frames;
};

inline AllTracks read_tracks(TrackReader& reader)
{
    AllTracks tracks{reader.info(), {}};
    TrackFrame frame;
    while (reader.next(frame)) tracks.frames.push_back(frame);
    EXPECT_EQ(reader.share(), 1);
    return tracks;
}

// A sheet of `rows` x `cols` points that hangs in the xy plane and waves.
inline std::vector<TrackFrame> waving_sheet(int rows, int cols, int frame_count,
                                            double interval = 0.04)
{
    std::vector<TrackFrame> frames;
    for (int f = 0; f < frame_count; ++f) {
        TrackFrame frame;
        frame.time = f * interval;
        for (int p = 0; p < rows * cols; ++p) {
            const double u = 0.1 * (p % cols), v = 0.1 * (p / cols), phase = 3 * frame.time + 7 * u;
            frame.position.insert(frame.position.end(),
                                  {u - 0.2, 1.5 - v, 0.2 * v * std::sin(phase)});
            frame.velocity.insert(frame.velocity.end(), {0, 0, 0.6 * v * std::cos(phase)});
        }
        frames.push_back(frame);
    }
    return frames;
}

// A number with as many digits as bring it back exactly, blank when missing.
inline std::string cell(double number)
{
    return std::isnan(number) ? "" : fmt::format("{}", number);
}

// Whether numbers are alike bit by bit; missing is like missing.
inline testing::AssertionResult same_numbers(const std::vector<double>& found,
                                             const std::vector<double>& wanted)
{
    if (found.size() != wanted.size()) {
        return testing::AssertionFailure()
               << found.size() << " numbers instead of " << wanted.size();
    }
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (found[i] != wanted[i] && !(std::isnan(found[i]) && std::isnan(wanted[i]))) {
            return testing::AssertionFailure()
                   << "number " << i << " is " << found[i] << " instead of " << wanted[i];
        }
    }
    return testing::AssertionSuccess();
}

inline void expect_frames(const std::vector<TrackFrame>& found,
                          const std::vector<TrackFrame>& wanted, bool velocities = false)
{
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t f = 0; f < found.size(); ++f) {
        EXPECT_EQ(found[f].time, wanted[f].time) << "frame " << f;
        EXPECT_TRUE(same_numbers(found[f].position, wanted[f].position)) << "frame " << f;
        EXPECT_TRUE(same_numbers(found[f].velocity,
                                 velocities ? wanted[f].velocity : std::vector<double>{}))
            << "frame " << f;
    }
}

// Puts a text into a file and reads it.
class CsvTracks : public testing::Test {
  protected:
    TempFolder folder;
    std::filesystem::path path = folder / "tracks.csv";
    std::string name = path.string();

    AllTracks read(const std::string& text, const std::string& layout = "auto") const
    {
        write_bytes(path, text);
        return read_tracks(*open_csv_tracks(path, {layout, ""}));
    }
    std::string error(const std::string& text, const std::string& layout = "auto") const
    {
        return error_of([&] { read(text, layout); });
    }

    // Cut anywhere, with up to `changes` - 1 bytes changed, a file is read or refused in words:
    // neither always, so that the trials try both.
    void expect_sound_refusals(const std::string& whole, unsigned seed, int changes)
    {
        constexpr int kTrials = 600;
        std::mt19937 random(seed);
        int refused = 0;
        for (int trial = 0; trial < kTrials; ++trial) {
            std::string text = whole.substr(0, 1 + random() % whole.size());
            for (int change = trial % changes; change > 0; --change) {
                text[random() % text.size()] = char(random());
            }
            refused += error(text) == "(no error)" ? 0 : 1;
        }
        EXPECT_GT(refused, kTrials / 3);
        EXPECT_LT(refused, kTrials);
    }
};

// x1,y1,z1,x2,... of every frame, with the time before them.
inline std::string wide_text(const std::vector<TrackFrame>& frames)
{
    std::string text = "time";
    for (std::size_t i = 0; i < frames[0].position.size(); ++i) {
        text += fmt::format(",{}{}", "xyz"[i % 3], i / 3 + 1);
    }
    for (const TrackFrame& frame : frames) {
        text += fmt::format("\n{}", cell(frame.time));
        for (const double x : frame.position) text += fmt::format(",{}", cell(x));
    }
    return text + "\n";
}

}  // namespace springtime
