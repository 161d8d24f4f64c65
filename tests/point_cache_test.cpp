#include <gtest/gtest.h>

#include "formats/tracks/open_tracks.h"
#include "temp_folder.h"
#include "tracks.h"

namespace springtime {
namespace {

// int32 frames, int32 points, float32 times, float32 coordinates, all with the high byte first.
std::string mdd(std::uint32_t frames, std::uint32_t points, const std::vector<double>& times,
                const std::vector<double>& values)
{
    return bits(frames, 4, true) + bits(points, 4, true) + array_bits<float>(times, true) +
           array_bits<float>(values, true);
}

std::string pc2(std::uint32_t version, std::uint32_t points, float between, std::uint32_t samples,
                const std::vector<double>& values)
{
    return std::string("POINTCACHE2\0", 12) + bits(version, 4, false) + bits(points, 4, false) +
           bits(1.0f, false) + bits(between, false) + bits(samples, 4, false) +
           array_bits<float>(values, false);
}

class PointCache : public testing::Test {
  protected:
    std::unique_ptr<TrackReader> open(const std::string& name, const std::string& bytes)
    {
        write_bytes(folder_ / name, bytes);
        return open_cache_tracks(folder_ / name);
    }
    // What follows the path in the message.
    std::string fault(const std::string& name, const std::string& bytes)
    {
        const std::string message = error_of([&] { all_frames(*open(name, bytes)); });
        const std::string path = (folder_ / name).string();
        EXPECT_TRUE(message.starts_with(path)) << message;
        return message.substr(std::min(path.size(), message.size()));
    }

    TempFolder folder_;
};

TEST_F(PointCache, MddGivesItsPointsAndTimes)
{
    const auto reader = open("a.mdd", mdd(2, 3, {0.5, 0.75}, ramp(18)));
    const TrackInfo& info = reader->info();
    EXPECT_EQ(info.format, "MDD point cache");
    EXPECT_EQ(info.source, (folder_ / "a.mdd").string());
    EXPECT_EQ(info.point_count, 3u);
    EXPECT_TRUE(info.times);
    EXPECT_FALSE(info.rate || info.unit || info.up || info.velocities);
    const auto frames = all_frames(*reader);
    ASSERT_EQ(frames.size(), 2u);
    EXPECT_EQ(frames[0].time, 0.5);
    EXPECT_EQ(frames[1].time, 0.75);
    const auto all = ramp(18);
    EXPECT_EQ(frames[0].position, std::vector<double>(all.begin(), all.begin() + 9));
    EXPECT_EQ(frames[1].position, std::vector<double>(all.begin() + 9, all.end()));
    EXPECT_EQ(reader->share(), 1);
}

TEST_F(PointCache, Pc2GivesItsPointsAndCountsFrames)
{
    const auto reader = open("a.pc2", pc2(1, 2, 1, 3, ramp(18)));
    EXPECT_EQ(reader->info().format, "PC2 point cache");
    EXPECT_EQ(reader->info().point_count, 2u);
    EXPECT_FALSE(reader->info().times || reader->info().rate);
    EXPECT_TRUE(reader->info().remarks.empty());
    const auto frames = all_frames(*reader);
    ASSERT_EQ(frames.size(), 3u);
    EXPECT_EQ(frames[2].time, 2);
    const auto all = ramp(18);
    EXPECT_EQ(frames[2].position, std::vector<double>(all.begin() + 12, all.end()));
}

TEST_F(PointCache, Pc2IsKnownByItsContentToo)
{
    const auto reader = open("cache.bin", pc2(1, 1, 0.5, 2, ramp(6)));
    EXPECT_EQ(reader->info().format, "PC2 point cache");
    ASSERT_EQ(reader->info().remarks.size(), 1u);
    EXPECT_EQ(reader->info().remarks[0],
              "The samples are 0.5 frames of the animation apart: mind that in the rate.");
}

// More numbers than a block holds, and a frame that ends in the middle of one.
TEST_F(PointCache, FramesMayBeLongerThanABlock)
{
    const std::size_t points = 30011;
    const auto all = ramp(3 * 3 * points);
    EXPECT_EQ(all_positions(*open("a.mdd", mdd(3, points, {0, 1, 2}, all))), all);
    EXPECT_EQ(all_positions(*open("a.pc2", pc2(1, points, 1, 3, all))), all);
}

TEST_F(PointCache, NanIsAMissingPoint)
{
    auto values = ramp(6);
    values[4] = kGap;
    const auto found = all_positions(*open("a.pc2", pc2(1, 2, 1, 1, values)));
    EXPECT_EQ(std::vector<double>(found.begin(), found.begin() + 3),
              std::vector<double>(values.begin(), values.begin() + 3));
    for (int i = 3; i < 6; ++i) EXPECT_TRUE(std::isnan(found[std::size_t(i)]));
}

TEST_F(PointCache, TimesThatStandStillArePassedOver)
{
    const auto reader = open("a.mdd", mdd(2, 1, {0, 0}, ramp(6)));
    EXPECT_FALSE(reader->info().times);
    EXPECT_EQ(reader->info().remarks.size(), 1u);
    EXPECT_EQ(all_frames(*reader)[1].time, 1);
}

TEST_F(PointCache, MddErrors)
{
    const std::string good = mdd(2, 3, {0, 1}, ramp(18));  // 8 + 8 + 72 bytes
    EXPECT_EQ(error_of([&] { open_cache_tracks(folder_ / "none.mdd"); }),
              (folder_ / "none.mdd").string() + ": no such file; check the name");
    EXPECT_EQ(fault("a.mdd", ""), ": ends 8 bytes early; copy it or export it again");
    EXPECT_EQ(
        fault("a.mdd", good.substr(0, 87)),
        ": 87 bytes, but its 2 frames of 3 points need 88; it was cut short, copy it or export "
        "it again");
    EXPECT_EQ(fault("a.mdd", good + "x"),
              ": 89 bytes, but its 2 frames of 3 points need 88; something follows that is not a "
              "frame, export it again");
    EXPECT_EQ(fault("a.mdd", mdd(0, 3, {}, {})),
              ": says 0 frames of 3 points; at least one of each is needed; is it an MDD file?");
    EXPECT_EQ(fault("a.mdd", mdd(2, 0, {0, 1}, {})),
              ": says 2 frames of 0 points; at least one of each is needed; is it an MDD file?");
    EXPECT_EQ(fault("a.mdd", mdd(0xffffffff, 1, {}, {})),
              ": says -1 frames of 1 points; at least one of each is needed; is it an MDD file?");
    // 12 (2^31 - 1)^2 is beyond 2^64.
    EXPECT_EQ(fault("a.mdd", mdd(0x7fffffff, 0x7fffffff, {}, {})),
              ": says 2147483647 frames of 2147483647 points, more than any file holds; is it an "
              "MDD file?");
    EXPECT_EQ(fault("a.mdd", mdd(2, 1, {0, kGap}, ramp(6))),
              ": frame 1 is at time nan; a finite one is needed; export it again");
    EXPECT_EQ(fault("a.mdd", mdd(1, 1, {0}, {1, INFINITY, 2})),
              ": frame 0, point 0: position 1 inf 2 is infinite; finite numbers, or NaN where it "
              "was not seen, are needed");
}

TEST_F(PointCache, Pc2Errors)
{
    const std::string good = pc2(1, 2, 1, 3, ramp(18));  // 32 + 72 bytes
    EXPECT_EQ(fault("a.pc2", "POINTCACHE3" + good.substr(11)),
              ": does not begin with POINTCACHE2; a PC2 file is needed; export it again");
    EXPECT_EQ(fault("a.pc2", good.substr(0, 20)),
              ": ends 12 bytes early; copy it or export it again");
    EXPECT_EQ(fault("a.pc2", pc2(2, 2, 1, 3, ramp(18))),
              ": PC2 version 2; version 1 is needed; export it as that");
    EXPECT_EQ(fault("a.pc2", good.substr(0, 100)),
              ": 100 bytes, but its 3 frames of 2 points need 104; it was cut short, copy it or "
              "export it again");
    EXPECT_EQ(fault("a.pc2", good + "xy"),
              ": 106 bytes, but its 3 frames of 2 points need 104; something follows that is not a "
              "frame, export it again");
    EXPECT_EQ(fault("a.pc2", pc2(1, 2, 1, 0, {})),
              ": says 0 frames of 2 points; at least one of each is needed; is it a PC2 file?");
    EXPECT_EQ(fault("a.pc2", pc2(1, 0, 1, 3, {})),
              ": says 3 frames of 0 points; at least one of each is needed; is it a PC2 file?");
    EXPECT_EQ(fault("a.pc2", pc2(1, 0x7fffffff, 1, 0x7fffffff, {})),
              ": says 2147483647 frames of 2147483647 points, more than any file holds; is it a "
              "PC2 file?");
}

}  // namespace
}  // namespace springtime
