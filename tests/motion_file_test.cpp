#include <gtest/gtest.h>
#include <sys/wait.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "file_size_limit.h"
#include "motion_samples.h"
#include "springtime/error.h"

namespace springtime {
namespace {

namespace fs = std::filesystem;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST_F(MotionFile, GivesBackWhatWasWritten)
{
    write_sample(path);
    EXPECT_FALSE(fs::exists(folder / "motion.h5.part"));
    const MotionReader reader(path);
    EXPECT_EQ(reader.version(), 1);
    ASSERT_EQ(reader.rollout_count(), 3u);
    EXPECT_EQ(reader.frame_count(1), 6u);
    const std::vector<Rollout> written = sample_rollouts();
    for (std::size_t r = 0; r < written.size(); ++r) {
        expect_same(reader.read(r), written[r]);
    }
}

TEST_F(MotionFile, KeepsTheHeaderExactly)
{
    write_sample(path);
    const MotionReader reader(path);
    const MotionHeader &found = reader.header(), wrote = sample_header();
    EXPECT_EQ(found.sheet.length, wrote.sheet.length);
    EXPECT_EQ(found.sheet.width, wrote.sheet.width);
    EXPECT_EQ(found.sheet.mass, wrote.sheet.mass);
    EXPECT_EQ(found.dt, wrote.dt);
    EXPECT_EQ(found.stride, wrote.stride);
    EXPECT_EQ(length(found.environment.gravity - wrote.environment.gravity), 0);
    EXPECT_EQ(length(found.environment.wind - wrote.environment.wind), 0);
    EXPECT_EQ(found.environment.drag, wrote.environment.drag);
    EXPECT_EQ(found.seed, wrote.seed);
    EXPECT_EQ(found.rollouts_planned, wrote.rollouts_planned);
    EXPECT_EQ(found.contact, wrote.contact);
    EXPECT_EQ(found.config, wrote.config);
    EXPECT_EQ(found.source_cloth, wrote.source_cloth);
    ASSERT_EQ(found.rest.size(), wrote.rest.size());
    EXPECT_EQ(found.rest[3].u, wrote.rest[3].u);
    EXPECT_EQ(found.rest[3].v, wrote.rest[3].v);
}

TEST_F(MotionFile, SameCallsMakeTheSameBytes)
{
    write_sample(path);
    const std::string once = bytes_of(path);
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // HDF5 stamps whole seconds
    write_sample(folder / "again.h5");
    EXPECT_GT(once.size(), 1000u);
    EXPECT_TRUE(once == bytes_of(folder / "again.h5"));
}

TEST_F(MotionFile, PartOfARolloutEqualsThatPartOfTheWhole)
{
    write_sample(path);
    const MotionReader reader(path);
    const Rollout whole = moving_rollout(), part = reader.read(1, 2, 3);
    const std::size_t row = kLandmarks * 3;
    ASSERT_EQ(part.frame_count, 3u);
    ASSERT_EQ(part.position.size(), 3 * row);
    for (std::size_t i = 0; i < 3 * row; ++i) {
        EXPECT_EQ(part.position[i], whole.position[2 * row + i]);
        EXPECT_EQ(part.velocity[i], whole.velocity[2 * row + i]);
    }
    // Frame 2 is at 2 x 0.7 s; the keys count from it, so that position(h, 0) is frame 2's.
    EXPECT_DOUBLE_EQ(part.handles.key_time[2], 3 - 2 * 0.1 * 7);
    const Vec3d late = part.handles.position(1, 0.0), same = whole.handles.position(1, 2 * 0.1 * 7);
    EXPECT_NEAR(length(late - same), 0, 1e-15);
}

TEST_F(MotionFile, ChunksHoldWholeFramesOfAboutAQuarterMebibyte)
{
    MotionHeader header = sample_header();
    header.rest.assign(1000, {0.5, 0.5});
    Rollout rollout;
    rollout.frame_count = 50;
    rollout.position.assign(50 * 3000, 1.5f);
    rollout.velocity = rollout.position;
    MotionWriter writer(path, header);
    writer.append(rollout);
    writer.finish();
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t set = H5Dopen2(file, "/rollouts/000000/velocity", H5P_DEFAULT);
    const hid_t layout = H5Dget_create_plist(set);
    hsize_t chunk[3] = {};
    EXPECT_EQ(H5Pget_chunk(layout, 3, chunk), 3);
    EXPECT_EQ(chunk[0], 256u * 1024 / (1000 * 3 * 4));  // 21 frames
    EXPECT_EQ(chunk[1], 1000u);
    EXPECT_EQ(chunk[2], 3u);
    H5Pclose(layout);
    H5Dclose(set);
    H5Fclose(file);
}

TEST_F(MotionFile, VelocityMayBeAbsent)
{
    write_sample(path);
    EXPECT_TRUE(MotionReader(path).header().velocities);
    Edit(path).remove("/rollouts/000000/velocity");
    const MotionReader reader(path);
    EXPECT_FALSE(reader.header().velocities);
    EXPECT_TRUE(reader.read(0).velocity.empty());
    EXPECT_EQ(reader.read(0).position, sample_rollout(5, 1).position);
    expect_same(reader.read(1), moving_rollout());  // what there is stays
}

TEST_F(MotionFile, PositionsAloneComeBack)
{
    MotionHeader header = sample_header();
    header.velocities = false;
    Rollout rollout = sample_rollout(5, 1);
    rollout.velocity.clear();
    rollout.acceleration.clear();
    Rollout single = free_rollout();
    single.velocity.clear();
    MotionWriter writer(path, header);
    writer.append(rollout);
    EXPECT_EQ(error_of([&] { writer.append(single); }),
              name + ": rollout 1 has one frame and no velocity; store velocity or more frames");
    writer.finish();
    const MotionReader reader(path);
    EXPECT_FALSE(reader.header().velocities);
    EXPECT_FALSE(reader.header().gaps);
    expect_same(reader.read(0), rollout);
}

// NaN in all that a rollout stores of a landmark in a frame.
void lose(Rollout& rollout, std::size_t frame, std::size_t landmark)
{
    for (auto* values : {&rollout.position, &rollout.velocity, &rollout.acceleration}) {
        for (std::size_t axis = 0; axis < 3 && !values->empty(); ++axis) {
            (*values)[3 * (frame * kLandmarks + landmark) + axis] = kNan;
        }
    }
}

Rollout zeros_for_gaps(Rollout rollout)
{
    for (auto* values : {&rollout.position, &rollout.velocity, &rollout.acceleration}) {
        for (float& x : *values) x = std::isnan(x) ? 0 : x;
    }
    return rollout;
}

TEST_F(MotionFile, GapsComeBack)
{
    MotionHeader header = sample_header();
    header.gaps = true;
    Rollout rollout = sample_rollout(5, 1);
    lose(rollout, 0, 3);
    for (std::size_t f = 0; f < 5; ++f) lose(rollout, f, 1);  // never seen: inspect tells
    MotionWriter writer(path, header);
    writer.append(rollout);
    writer.finish();
    {
        const MotionReader reader(path);
        EXPECT_TRUE(reader.header().gaps);
        const Rollout found = reader.read(0);
        for (std::size_t f = 0; f < 5; ++f) {
            for (std::size_t l = 0; l < kLandmarks; ++l) {
                EXPECT_EQ(found.seen(f, l), l != 1 && (f > 0 || l != 3));
            }
        }
        expect_same(zeros_for_gaps(found), zeros_for_gaps(rollout));
    }
    Edit(path).remove_attribute("gaps");
    EXPECT_EQ(error_of([&] { MotionReader(path).read(0); }),
              name +
                  ": rollout 0, frame 0, landmark 1: position nan is not finite; a motion file "
                  "holds finite numbers only, leave such a rollout out");
}

TEST_F(MotionFile, RefusesALandmarkThatIsMissingInPart)
{
    MotionHeader header = sample_header();
    header.gaps = true;
    MotionWriter writer(path, header);
    Rollout rollout = sample_rollout(5, 0);
    lose(rollout, 1, 2);
    rollout.position[3 * (3 * kLandmarks + 2) + 1] = kNan;  // number 43, between 42/3 and 44/3
    const std::string torn =
        ": rollout 0, frame 3, landmark 2: position (14, nan, 14.666667) is missing in part; a "
        "lost landmark has NaN in all three";
    EXPECT_EQ(error_of([&] { writer.append(rollout); }), name + torn);
    Rollout endless = sample_rollout(5, 0);
    endless.velocity[7] = std::numeric_limits<float>::infinity();
    EXPECT_EQ(error_of([&] { writer.append(endless); }),
              name +
                  ": rollout 0, frame 0, landmark 2: velocity inf is not finite; a motion file "
                  "holds finite numbers only, leave such a rollout out");
    writer.append(sample_rollout(5, 0));
    writer.finish();
    Edit(path).overwrite("/rollouts/000000/position", rollout.position);
    EXPECT_EQ(error_of([&] { MotionReader(path).read(0); }), name + torn);
}

TEST_F(MotionFile, StateOfAFrame)
{
    const MotionHeader header = sample_header();
    const Rollout rollout = sample_rollout(5, 1);
    const State state = rollout.state(3, header);
    EXPECT_DOUBLE_EQ(state.time, 3 * 0.7);
    ASSERT_EQ(state.position.size(), kLandmarks);
    // Landmark 2 of frame 3 starts at number (3 * 4 + 2) * 3 = 42.
    EXPECT_EQ(state.position[2].y, rollout.position[43]);
    EXPECT_EQ(state.velocity[2].z, rollout.velocity[44]);
    EXPECT_EQ(error_of([&] { rollout.state(5, header); }),
              "rollout: frame 5 asked for, but it has 5; count from 0");
}

TEST_F(MotionFile, UnfinishedPartHoldsEveryAppendedRollout)
{
    // A child that dies without closing anything stands for a killed run.
    if (const pid_t child = fork(); child == 0) {
        MotionWriter writer(path, sample_header());
        writer.append(sample_rollout(5, 1));
        writer.append(moving_rollout());
        std::_Exit(0);
    } else {
        waitpid(child, nullptr, 0);
    }
    EXPECT_FALSE(fs::exists(path));
    const MotionReader reader(folder / "motion.h5.part");
    ASSERT_EQ(reader.rollout_count(), 2u);
    EXPECT_EQ(reader.header().rollouts_planned, 9);
    expect_same(reader.read(1), moving_rollout());
}

TEST_F(MotionFile, FinishedFileStaysUntilTheNextIsComplete)
{
    write_sample(path);
    const std::string before = bytes_of(path);
    {
        MotionWriter writer(path, sample_header());
        writer.append(sample_rollout(5, 1));
    }
    EXPECT_TRUE(fs::exists(folder / "motion.h5.part"));
    EXPECT_TRUE(before == bytes_of(path));
}

TEST_F(MotionFile, APartWithRolloutsIsNotReplacedUnasked)
{
    {
        MotionWriter(path, sample_header(), false).append(sample_rollout(5, 1));
    }
    const fs::path part = folder / "motion.h5.part";
    const std::string before = bytes_of(part);
    const std::string message = error_of([&] { MotionWriter(path, sample_header(), false); });
    EXPECT_TRUE(mentions(message, {part.string(), "1 of 9 rollouts"})) << message;
    EXPECT_TRUE(before == bytes_of(part));
    MotionWriter writer(path, sample_header(), true);
    writer.append(moving_rollout());
    writer.finish();
    expect_same(MotionReader(path).read(0), moving_rollout());
    EXPECT_FALSE(fs::exists(part));
}

TEST_F(MotionFile, AWriterWithoutRolloutsLeavesNothing)
{
    {
        MotionWriter writer(path, sample_header());
    }
    EXPECT_FALSE(fs::exists(folder / "motion.h5.part"));
    {
        MotionWriter writer(path, sample_header());
        writer.append(sample_rollout(5, 1));
        writer.discard();
    }
    EXPECT_FALSE(fs::exists(folder / "motion.h5.part"));
    EXPECT_FALSE(fs::exists(path));
}

TEST_F(MotionFile, IsReadByNobodyWhileItIsWritten)
{
    MotionWriter writer(path, sample_header());
    writer.append(sample_rollout(5, 1));
    const std::string part = (folder / "motion.h5.part").string();
    for (const std::string& message :
         {failure_of([&] { MotionReader reader(part); }),
          failure_of([&] { MotionWriter other(path, sample_header()); }),
          failure_of([&] { adopt_part(path, {}); })}) {
        EXPECT_TRUE(mentions(message, {"another springtime is writing this"})) << message;
    }
    writer.append(moving_rollout());
    writer.finish();
    EXPECT_EQ(MotionReader(path).rollout_count(), 2u);
}

// The part of a killed run becomes the file when it holds more, and only of the same run.
TEST_F(MotionFile, APartIsAdoptedWhenItHoldsMore)
{
    const auto leave_part = [&](int rollouts) {
        MotionWriter writer(path, sample_header());
        for (int r = 0; r < rollouts; ++r) writer.append(sample_rollout(5, r));
    };
    const auto adopted_count = [&] {
        adopt_part(path, [](const MotionHeader&, const MotionHeader&) {});
        return MotionReader(path).rollout_count();
    };
    leave_part(2);
    EXPECT_EQ(adopted_count(), 2u);
    EXPECT_EQ(adopted_count(), 2u);  // there is no part
    leave_part(1);
    EXPECT_EQ(adopted_count(), 2u);
    leave_part(3);
    EXPECT_THROW(adopt_part(path, [](const auto&, const auto&) { throw Error("other run"); }),
                 Error);
    EXPECT_EQ(MotionReader(path).rollout_count(), 2u);
    EXPECT_EQ(adopted_count(), 3u);
    write_bytes(folder / "motion.h5.part", "torn");
    EXPECT_EQ(adopted_count(), 3u);
}

TEST_F(MotionFile, RefusesValuesThatAreNotFinite)
{
    const std::string other = (folder / "other.h5").string();
    const std::string rest =
        " is not finite; a motion file holds finite numbers only, leave such a rollout out";
    Rollout rollout = sample_rollout(5, 1);
    rollout.velocity[(3 * kLandmarks + 2) * 3 + 1] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(append_error(rollout),
              other + ": rollout 1, frame 3, landmark 2: velocity nan" + rest);
    rollout = sample_rollout(5, 1);
    rollout.acceleration.back() = -std::numeric_limits<float>::infinity();
    EXPECT_EQ(append_error(rollout),
              other + ": rollout 1, frame 4, landmark 3: acceleration -inf" + rest);
}

TEST_F(MotionFile, RefusedRolloutLeavesTheFileAsItWas)
{
    MotionWriter writer(path, sample_header());
    writer.append(sample_rollout(5, 1));
    Rollout bad = sample_rollout(5, 2);
    bad.position[0] = std::numeric_limits<float>::infinity();
    EXPECT_THROW(writer.append(bad), Error);
    writer.append(moving_rollout());
    writer.finish();
    const MotionReader reader(path);
    ASSERT_EQ(reader.rollout_count(), 2u);
    expect_same(reader.read(1), moving_rollout());
}

TEST_F(MotionFile, RefusesWhatDoesNotFitTheHeader)
{
    const std::string other = (folder / "other.h5").string();
    Rollout rollout = sample_rollout(5, 1);
    rollout.velocity.pop_back();
    EXPECT_EQ(append_error(rollout),
              other + ": rollout 1 has 59 velocity numbers, but 5 frames of 4 landmarks need 60");
    rollout = sample_rollout(5, 1);
    rollout.handles.particles = {4};
    EXPECT_EQ(append_error(rollout),
              other + ": rollout 1: handle on particle 4, but the cloth has 0 to 3");
    EXPECT_EQ(append_error(Rollout{}),
              other + ": rollout 1 has 0 frames; 1 to 2147483647 are needed");
    MotionHeader header = sample_header();
    header.stride = 0;
    EXPECT_EQ(error_of([&] { MotionWriter writer(path, header); }),
              name + ": stride 0; 1 to 1000000 steps from one frame to the next are needed");
}

TEST_F(MotionFile, WriterSaysWhyAPlaceIsNoGood)
{
    const fs::path lost = folder / "nowhere" / "motion.h5";
    EXPECT_EQ(error_of([&] { MotionWriter writer(lost, sample_header()); }),
              lost.string() + ": there is no directory " + lost.parent_path().string() +
                  "; make it first or name another");
    fs::create_directory(path);
    EXPECT_EQ(error_of([&] { MotionWriter writer(path, sample_header()); }),
              name + ": is a directory; name a file in it");
    EXPECT_EQ(error_of([&] { MotionWriter writer("/dev/null", sample_header()); }),
              "/dev/null: is not a plain file; name another");
    EXPECT_EQ(error_of([&] { MotionWriter(folder / "new.h5", sample_header()).finish(); }),
              (folder / "new.h5").string() + ": no rollouts; append one before finishing");
}

TEST_F(MotionFile, LackOfSpaceIsReportedAndCostsOnlyThatRollout)
{
    MotionWriter writer(path, sample_header());
    writer.append(sample_rollout(5, 1));
    {
        const FileSizeLimit limit(1'000'000);
        const std::string message = failure_of([&] { writer.append(sample_rollout(40'000, 1)); });
        EXPECT_TRUE(message.starts_with(name + ".part: ")) << message;
        EXPECT_TRUE(message.ends_with(
            " bytes more are needed (File too large); free some or name another place"))
            << message;
        // As a kill at this moment would leave it.
        fs::copy_file(folder / "motion.h5.part", folder / "left.h5");
        expect_same(MotionReader(folder / "left.h5").read(0), sample_rollout(5, 1));
    }
    writer.append(moving_rollout());
    writer.finish();
    const MotionReader reader(path);
    ASSERT_EQ(reader.rollout_count(), 2u);
    expect_same(reader.read(1), moving_rollout());
}

TEST_F(MotionFile, LackOfSpaceForTheHeaderIsReported)
{
    const FileSizeLimit limit(1000);
    const std::string message = failure_of([&] { MotionWriter writer(path, sample_header()); });
    EXPECT_TRUE(message.starts_with(name + ".part: ")) << message;
    EXPECT_TRUE(message.ends_with(" (File too large); free some or name another place")) << message;
}

}  // namespace
}  // namespace springtime
