// Motion files that are damaged, or that another program changed.
#include <gtest/gtest.h>

#include <random>

#include "motion_samples.h"
#include "springtime/error.h"

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
