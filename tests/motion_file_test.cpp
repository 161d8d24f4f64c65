#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/wait.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <random>
#include <thread>

#include "file_size_limit.h"
#include "springtime/error.h"
#include "springtime/files.h"
#include "temp_folder.h"

// HDF5 1.10 loses some memory of its own when it refuses a damaged file. What we hold of it are
// identifiers, and SurvivesFlippedBytes counts those.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions()
{
    return "leak:libhdf5\n";
}

namespace springtime {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLandmarks = 4;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

MotionHeader sample_header()
{
    MotionHeader header;
    header.sheet = {2.0, 1.0, 0.3};
    header.rest = {{0, 0}, {2, 0}, {0, 1}, {2, 1.0 / 3}};
    header.dt = 0.1;  // not a binary fraction: a float on the way would show
    header.stride = 7;
    header.environment = {{0, -9.81, 0.5}, 0.25, {1, 2, 3}};
    header.seed = 0xfedcba9876543210;
    header.rollouts_planned = 9;
    header.contact = true;
    header.config = "rollouts = 9\n# \xc3\xa9t\xc3\xa9\n";
    header.source_cloth = "{\"format\": \"springtime-cloth\"}";
    return header;
}

// Every value differs, so that a mix-up of frames, landmarks or axes cannot hide.
Rollout sample_rollout(std::size_t frames, float offset)
{
    Rollout rollout;
    rollout.frame_count = frames;
    for (std::size_t i = 0; i < frames * kLandmarks * 3; ++i) {
        rollout.position.push_back(offset + i / 3.0f);
        rollout.velocity.push_back(-offset - i / 7.0f);
        rollout.acceleration.push_back(offset * 2 + i / 11.0f);
    }
    rollout.handles.particles = {3, 1};
    return rollout;
}

Rollout moving_rollout()
{
    Rollout rollout = sample_rollout(6, 50);
    rollout.acceleration.clear();
    rollout.handles.key_time = {0, 0.7, 3};
    for (int i = 0; i < 6; ++i) {
        rollout.handles.key_position.push_back({i / 3.0, i / 7.0, i / 9.0});
    }
    return rollout;
}

Rollout free_rollout()
{
    Rollout rollout = sample_rollout(1, 90);
    rollout.handles = {};
    return rollout;
}

std::vector<Rollout> sample_rollouts()
{
    return {sample_rollout(5, 1), moving_rollout(), free_rollout()};
}

void write_sample(const fs::path& path)
{
    MotionWriter writer(path, sample_header());
    for (const Rollout& rollout : sample_rollouts()) {
        writer.append(rollout);
    }
    writer.finish();
}

void expect_same(const Rollout& a, const Rollout& b)
{
    EXPECT_EQ(a.frame_count, b.frame_count);
    EXPECT_EQ(a.position, b.position);
    EXPECT_EQ(a.velocity, b.velocity);
    EXPECT_EQ(a.acceleration, b.acceleration);
    EXPECT_EQ(a.handles.particles, b.handles.particles);
    EXPECT_EQ(a.handles.key_time, b.handles.key_time);
    ASSERT_EQ(a.handles.key_position.size(), b.handles.key_position.size());
    for (std::size_t i = 0; i < a.handles.key_position.size(); ++i) {
        EXPECT_EQ(length(a.handles.key_position[i] - b.handles.key_position[i]), 0);
    }
}

// Changes a finished file behind the back of the library, as another program would.
class Edit {
  public:
    explicit Edit(const fs::path& path) : file_(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT)) {}
    ~Edit() { H5Fclose(file_); }
    Edit(const Edit&) = delete;
    Edit& operator=(const Edit&) = delete;

    void remove(const char* link) { EXPECT_GE(H5Ldelete(file_, link, H5P_DEFAULT), 0); }
    void rename(const char* from, const char* to)
    {
        EXPECT_GE(H5Lmove(file_, from, file_, to, H5P_DEFAULT, H5P_DEFAULT), 0);
    }
    void remove_attribute(const char* name) { EXPECT_GE(H5Adelete(file_, name), 0); }
    void integer(const char* name, int value)
    {
        remove_attribute(name);
        attribute(name, H5T_NATIVE_INT, &value);
    }
    void text(const char* name, const char* value)
    {
        remove_attribute(name);
        const hid_t type = H5Tcopy(H5T_C_S1);
        H5Tset_size(type, H5T_VARIABLE);
        attribute(name, type, &value);
        H5Tclose(type);
    }
    // Replaces a dataset by one of another shape or type. Zero bytes for `values` store nothing.
    void dataset(const char* link, hid_t type, std::vector<hsize_t> shape, bool stored = true)
    {
        if (H5Lexists(file_, link, H5P_DEFAULT) > 0) remove(link);
        const hid_t space = H5Screate_simple(int(shape.size()), shape.data(), nullptr);
        const hid_t set =
            H5Dcreate2(file_, link, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        EXPECT_GE(set, 0);
        if (stored) {
            const std::vector<char> zeros(H5Sget_simple_extent_npoints(space) * 8);
            EXPECT_GE(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, zeros.data()), 0);
        }
        H5Dclose(set);
        H5Sclose(space);
    }
    void overwrite(const char* link, const std::vector<float>& values)
    {
        const hid_t set = H5Dopen2(file_, link, H5P_DEFAULT);
        EXPECT_GE(H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
        H5Dclose(set);
    }

  private:
    void attribute(const char* name, hid_t type, const void* value)
    {
        const hid_t space = H5Screate(H5S_SCALAR);
        const hid_t made = H5Acreate2(file_, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
        EXPECT_GE(H5Awrite(made, type, value), 0);
        H5Aclose(made);
        H5Sclose(space);
    }

    hid_t file_;
};

class MotionFile : public testing::Test {
  protected:
    TempFolder folder;
    fs::path path = folder / "motion.h5";
    std::string name = path.string();

    std::string open_error() const
    {
        return error_of([&] { MotionReader reader(path); });
    }
    std::string append_error(const Rollout& rollout) const
    {
        return error_of([&] {
            MotionWriter writer(folder / "other.h5", sample_header());
            writer.append(sample_rollout(2, 0));
            writer.append(rollout);
        });
    }
};

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

TEST_F(MotionFile, NamesWhatIsNoMotionFile)
{
    EXPECT_EQ(open_error(), name + ": no such file; check the name");
    fs::create_directory(path);
    EXPECT_EQ(open_error(), name + ": is a directory; name a file in it");
    fs::remove(path);
    write_bytes(path, "");
    EXPECT_EQ(open_error(), name + ": is empty; a motion file is needed, make it again");
    write_bytes(path, "\x89PNG\r\n\x1a\n and so on");
    EXPECT_EQ(open_error(),
              name + ": is not an HDF5 file; a motion file is needed (docs/formats.md)");
    H5Fclose(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
    EXPECT_EQ(open_error(), name +
                                ": HDF5 file without the attribute format = "
                                "\"springtime-motion\"; a motion file is needed "
                                "(docs/formats.md)");
}

TEST_F(MotionFile, NamesTruncation)
{
    write_sample(path);
    const std::uintmax_t half = fs::file_size(path) / 2;
    fs::resize_file(path, half);
    EXPECT_EQ(open_error(), name + ": HDF5 file cut short at " + std::to_string(half) +
                                " bytes; copy it or make it again");
}

TEST_F(MotionFile, NamesANewerVersion)
{
    write_sample(path);
    Edit(path).integer("version", 2);
    EXPECT_EQ(open_error(), name + ": motion file version 2, but springtime " + kVersion +
                                " reads version 1; update springtime");
    Edit(path).integer("version", 0);
    EXPECT_EQ(open_error(), name + ": attribute 'version' is 0; 1 to 2147483647 is needed");
}

TEST_F(MotionFile, NamesWrongAttributes)
{
    write_sample(path);
    Edit(path).remove_attribute("dt");
    EXPECT_EQ(open_error(), name + ": attribute 'dt' is missing; write it as docs/formats.md says");
    write_sample(path);
    Edit(path).text("drag", "little");
    EXPECT_EQ(open_error(), name + ": attribute 'drag' is of text type; a number is needed");
    write_sample(path);
    Edit(path).integer("gravity", 9);
    EXPECT_EQ(open_error(), name + ": attribute 'gravity' holds 1 numbers; 3 are needed");
    write_sample(path);
    Edit(path).text("units", "cm, g, s");
    EXPECT_EQ(open_error(), name +
                                ": attribute 'units' is \"cm, g, s\"; convert all numbers to "
                                "\"m, kg, s, N\"");
    write_sample(path);
    Edit(path).integer("mass", -1);
    EXPECT_EQ(open_error(),
              name +
                  ": sheet_length 2 m, sheet_width 1 m, mass -1 kg; 0.0001 to 10000 m "
                  "and 1e-09 to 10000000 kg are needed");
}

TEST_F(MotionFile, OptionalAttributesMayBeAbsent)
{
    write_sample(path);
    {
        Edit edit(path);
        for (const char* optional : {"generator", "seed", "rollouts_planned", "contact"}) {
            edit.remove_attribute(optional);
        }
        edit.remove("/config");
        edit.remove("/source_cloth");
    }
    const MotionReader reader(path);
    EXPECT_EQ(reader.header().seed, 0u);
    EXPECT_EQ(reader.header().rollouts_planned, 0);
    EXPECT_FALSE(reader.header().contact);
    EXPECT_EQ(reader.header().config, "");
    expect_same(reader.read(0), sample_rollout(5, 1));
}

TEST_F(MotionFile, NamesWrongShapes)
{
    const std::string first = name + ": /rollouts/000000/";
    const auto error_with = [&](const char* set, hid_t type, std::vector<hsize_t> shape) {
        write_sample(path);
        Edit(path).dataset(set, type, shape);
        return open_error();
    };
    const hid_t real = H5T_NATIVE_FLOAT, whole = H5T_NATIVE_INT;
    EXPECT_EQ(error_with("/rollouts/000000/position", real, {5, 4, 2}),
              first +
                  "position has shape 5 x 4 x 2, but /rest has 4 landmarks; "
                  "frames x 4 x 3 is needed");
    EXPECT_EQ(error_with("/rollouts/000000/position", real, {5, 6, 3}),
              first +
                  "position has shape 5 x 6 x 3, but /rest has 4 landmarks; "
                  "frames x 4 x 3 is needed");
    EXPECT_EQ(error_with("/rollouts/000000/position", whole, {5, 4, 3}),
              first + "position is of integer type; floating-point is needed");
    EXPECT_EQ(error_with("/rollouts/000000/velocity", real, {4, 4, 3}),
              first + "velocity has 4 frames, but position has 5; store both for every frame");
    EXPECT_EQ(error_with("/rest", real, {4, 3}),
              name + ": /rest has shape 4 x 3; landmarks x 2 is needed");
}

TEST_F(MotionFile, NamesMissingRollouts)
{
    write_sample(path);
    Edit(path).rename("/rollouts/000001", "/rollouts/000007");
    EXPECT_EQ(open_error(), name +
                                ": /rollouts/000001 is missing; name rollouts 000000, 000001 "
                                "and so on, without gaps");
    Edit(path).remove("/rollouts");
    EXPECT_EQ(open_error(), name + ": no rollouts; a motion file needs /rollouts/000000 at least");
    write_sample(path);
    Edit(path).remove("/rollouts/000002/position");
    EXPECT_EQ(open_error(), name +
                                ": /rollouts/000002/position is missing; write it as "
                                "docs/formats.md says");
    write_sample(path);
    Edit(path).remove("/rollouts/000002/velocity");
    EXPECT_EQ(open_error(), name +
                                ": /rollouts/000002 has one frame and no velocity; store "
                                "velocity or more frames");
}

// HDF5 would deliver zeros for what was never written, however large the shape.
TEST_F(MotionFile, NamesValuesThatWereNeverStored)
{
    for (const hsize_t frames : {hsize_t(5), hsize_t(2'000'000'000)}) {
        write_sample(path);
        Edit(path).dataset("/rollouts/000000/position", H5T_NATIVE_FLOAT, {frames, 4, 3}, false);
        EXPECT_EQ(open_error(), name + ": /rollouts/000000/position has shape " +
                                    std::to_string(frames) +
                                    " x 4 x 3, but the file does not hold that many values; "
                                    "make it again");
    }
}

TEST_F(MotionFile, ReaderRefusesValuesThatAreNotFinite)
{
    write_sample(path);
    std::vector<float> values = sample_rollout(5, 1).position;
    values[(3 * kLandmarks + 1) * 3] = std::numeric_limits<float>::quiet_NaN();
    Edit(path).overwrite("/rollouts/000000/position", values);
    const MotionReader reader(path);
    EXPECT_NO_THROW(reader.read(0, 0, 3));  // those frames are good
    EXPECT_EQ(error_of([&] { reader.read(0, 2, 3); }),
              name +
                  ": rollout 0, frame 3, landmark 1: position nan is not finite; a motion file "
                  "holds finite numbers only, leave such a rollout out");
}

TEST_F(MotionFile, NamesWrongHandles)
{
    const std::string second = name + ": /rollouts/000001";
    const auto error_with = [&](const char* set, hid_t type, std::vector<hsize_t> shape) {
        write_sample(path);
        Edit(path).dataset(set, type, shape);
        return error_of([&] { MotionReader(path).read(1); });
    };
    EXPECT_EQ(error_with("/rollouts/000001/handles", H5T_NATIVE_INT, {2}),
              second + ": particle 0 is a handle twice; name it once");
    EXPECT_EQ(error_with("/rollouts/000001/handles", H5T_NATIVE_FLOAT, {2}),
              second + "/handles is of floating-point type; integer is needed");
    EXPECT_EQ(error_with("/rollouts/000001/handle_position", H5T_NATIVE_DOUBLE, {3, 3}),
              second + "/handle_position has shape 3 x 3; 3 x 2 x 3 is needed");
    EXPECT_EQ(error_with("/rollouts/000001/handle_time", H5T_NATIVE_DOUBLE, {3}),
              second + ": handle key 1 is at 0 s; times must be finite and ascend");
}

TEST_F(MotionFile, NamesFramesItDoesNotHave)
{
    write_sample(path);
    const MotionReader reader(path);
    EXPECT_EQ(error_of([&] { reader.read(3); }), name + ": rollout 3 asked for, but it has 0 to 2");
    const std::string start = name + ": rollout 0: ";
    EXPECT_EQ(error_of([&] { reader.read(0, 3, 3); }),
              start + "3 frames from frame 3 asked for, but it has 5");
    EXPECT_THROW(reader.read(0, 5, 1), Error);
    EXPECT_THROW(reader.read(0, 1, std::size_t(-1)), Error);
    EXPECT_THROW(reader.read(0, 1, 0), Error);
}

TEST_F(MotionFile, KindIsFoundByContent)
{
    write_sample(path);
    EXPECT_EQ(file_kind(path), FileKind::motion);
    const Cloth cloth{{1, 1, 1}, {}, {{0, 0}}, {1}, {}};
    write_cloth(path, cloth);
    EXPECT_EQ(file_kind(path), FileKind::cloth);
    const std::string neither =
        name + ": neither a cloth file nor a motion file; docs/formats.md describes both";
    for (const char* text : {"", "hello", "[1, 2]", "{\"format\": \"other\"}"}) {
        write_bytes(path, text);
        EXPECT_EQ(error_of([&] { file_kind(path); }), neither);
    }
    fs::remove(path);
    EXPECT_EQ(error_of([&] { file_kind(path); }), name + ": no such file; check the name");
}

// Reads all there is. True when the file was good; anything but success or Error ends the test.
bool reads(const fs::path& path)
{
    try {
        file_kind(path);
        const MotionReader reader(path);
        for (std::size_t r = 0; r < reader.rollout_count(); ++r) {
            reader.read(r);
        }
        return true;
    } catch (const Error&) {
        return false;
    }
}

TEST_F(MotionFile, SurvivesEveryTruncation)
{
    write_sample(path);
    const std::string whole = bytes_of(path);
    const fs::path cut = folder / "cut.h5";
    for (std::size_t size = 0; size < whole.size(); size += 1 + size / 64) {
        write_bytes(cut, whole.substr(0, size));
        EXPECT_FALSE(reads(cut)) << size << " bytes of " << whole.size();
    }
    write_bytes(cut, whole);
    EXPECT_TRUE(reads(cut));
}

TEST_F(MotionFile, SurvivesFlippedBytes)
{
    write_sample(path);
    const std::string whole = bytes_of(path);
    const fs::path flipped = folder / "flipped.h5";
    std::mt19937 random(7);
    int refused = 0;
    for (int trial = 0; trial < 2000; ++trial) {
        std::string bytes = whole;
        for (unsigned flips = 1 + random() % 4; flips > 0; --flips) {
            bytes[random() % bytes.size()] ^= char(1 + random() % 255);
        }
        write_bytes(flipped, bytes);
        refused += reads(flipped) ? 0 : 1;
    }
    EXPECT_GT(refused, 400);  // the checksums of the metadata see many; seen: 833
    EXPECT_EQ(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL), 0);  // nothing stays open
}

}  // namespace
}  // namespace springtime
