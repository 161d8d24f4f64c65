#include <gtest/gtest.h>
#include <zip.h>

#include "exports.h"
#include "formats/exports/npz_file.h"

namespace springtime {
namespace {

namespace fs = std::filesystem;

// A member of a ZIP file, and how it is compressed.
struct Member {
    std::string bytes;
    int compression = -1;
};

Member member(const fs::path& path, const std::string& name)
{
    int code = 0;
    zip_t* zip = zip_open(path.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, &code);
    if (!zip) return {};
    zip_stat_t stat;
    Member found;
    if (zip_stat(zip, name.c_str(), 0, &stat) == 0) {
        found.bytes.resize(stat.size);
        found.compression = stat.comp_method;
        zip_file_t* file = zip_fopen(zip, name.c_str(), 0);
        if (zip_fread(file, found.bytes.data(), stat.size) != zip_int64_t(stat.size)) found = {};
        zip_fclose(file);
    }
    zip_discard(zip);
    return found;
}

template <class T>
void expect_array(const fs::path& path, const std::string& name, const std::string& type,
                  const std::vector<std::size_t>& shape, const std::vector<T>& values)
{
    const Member found = member(path, name + ".npy");
    EXPECT_EQ(found.compression, ZIP_CM_STORE) << name;
    const std::string header = npy_header(type, shape);
    ASSERT_EQ(found.bytes.size(), header.size() + sizeof(T) * values.size()) << name;
    EXPECT_EQ(found.bytes.substr(0, header.size()), header);
    EXPECT_EQ(
        std::memcmp(found.bytes.data() + header.size(), values.data(), sizeof(T) * values.size()),
        0)
        << name;
}

// The layout that numpy.lib.format describes: magic, version 1.0, uint16 length, a dict padded with
// blanks and a newline to a multiple of 64.
TEST(ExportNpz, HeaderIsThatOfNumpy)
{
    for (const auto& shape :
         std::vector<std::vector<std::size_t>>{{7}, {3, 2}, {100000, 7, 3}, {0, 3}}) {
        const std::string header = npy_header("<f4", shape);
        EXPECT_EQ(header.size() % 64, 0u);
        EXPECT_EQ(header.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
        EXPECT_EQ(value_at<std::uint16_t>(header, 8), header.size() - 10);
        EXPECT_EQ(header.back(), '\n');
    }
    EXPECT_EQ(npy_header("<f8", {5}).substr(10, 58),
              "{'descr': '<f8', 'fortran_order': False, 'shape': (5,), } ");
}

TEST(ExportNpz, HoldsAllThatTheMotionHas)
{
    const TempFolder folder;
    const MotionHeader header = grid_header({3, 4});
    Rollout rollout = random_rollout(5, 12);
    hide(rollout, 2, 7);
    rollout.handles = {{3, 8}, {0, 0.05}, {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}}};
    MotionHeader gaps = header;
    gaps.gaps = true;
    export_motion(motion_of(gaps, {rollout}), export_to(ExportFormat::npz, folder / "m.npz"));
    const fs::path path = folder / "m.npz";
    EXPECT_EQ(std::distance(fs::directory_iterator(path.parent_path()), {}), 1);

    expect_array(path, "position", "<f4", {5, 12, 3}, rollout.position);
    expect_array(path, "velocity", "<f4", {5, 12, 3}, rollout.velocity);
    expect_array(path, "rest", "<f8", {12, 2}, header.rest);
    expect_array(path, "handles", "<i4", {2}, rollout.handles.particles);
    expect_array(path, "handle_time", "<f8", {2}, rollout.handles.key_time);
    expect_array(path, "handle_position", "<f8", {2, 2, 3}, rollout.handles.key_position);
    std::vector<double> time;
    for (int f = 0; f < 5; ++f) time.push_back(f * header.frame_interval());
    expect_array(path, "time", "<f8", {5}, time);
    const Member triangles = member(path, "triangles.npy");
    EXPECT_EQ(triangles.bytes.size(), npy_header("<i4", {12, 3}).size() + 12 * 3 * 4);
}

TEST(ExportNpz, PositionsAloneHaveNoVelocities)
{
    const TempFolder folder;
    MotionHeader header = grid_header({3, 4});
    header.velocities = false;
    Rollout rollout = random_rollout(5, 12);
    rollout.velocity.clear();
    Motion motion = motion_of(header, {});
    motion.frame_counts = {5};
    motion.read = [&](std::size_t, std::size_t first, std::size_t count) {
        Rollout part = rollout;
        part.frame_count = count;
        part.position.assign(rollout.position.begin() + long(first) * 36,
                             rollout.position.begin() + long(first + count) * 36);
        return part;
    };
    export_motion(motion, export_to(ExportFormat::npz, folder / "m.npz"));
    EXPECT_TRUE(member(folder / "m.npz", "velocity.npy").bytes.empty());
    expect_array(folder / "m.npz", "position", "<f4", {5, 12, 3}, rollout.position);
}

TEST(ExportNpz, SameNumbersSameBytes)
{
    const TempFolder folder;
    for (const char* name : {"a.npz", "b.npz"}) {
        export_motion(small_motion(), export_to(ExportFormat::npz, folder / name));
    }
    EXPECT_EQ(bytes_of(folder / "a.npz"), bytes_of(folder / "b.npz"));
}

}  // namespace
}  // namespace springtime
