#pragma once

#include <gtest/gtest.h>
#include <hdf5.h>

#include <filesystem>
#include <string>
#include <vector>

#include "springtime/files.h"
#include "temp_folder.h"

// A small motion file, and changes to it that another program could make.
namespace springtime {

inline constexpr std::size_t kLandmarks = 4;

inline MotionHeader sample_header()
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
inline Rollout sample_rollout(std::size_t frames, float offset)
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

inline Rollout moving_rollout()
{
    Rollout rollout = sample_rollout(6, 50);
    rollout.acceleration.clear();
    rollout.handles.key_time = {0, 0.7, 3};
    for (int i = 0; i < 6; ++i) {
        rollout.handles.key_position.push_back({i / 3.0, i / 7.0, i / 9.0});
    }
    return rollout;
}

inline Rollout free_rollout()
{
    Rollout rollout = sample_rollout(1, 90);
    rollout.handles = {};
    return rollout;
}

inline std::vector<Rollout> sample_rollouts()
{
    return {sample_rollout(5, 1), moving_rollout(), free_rollout()};
}

inline void write_sample(const std::filesystem::path& path)
{
    MotionWriter writer(path, sample_header());
    for (const Rollout& rollout : sample_rollouts()) {
        writer.append(rollout);
    }
    writer.finish();
}

inline void expect_same(const Rollout& a, const Rollout& b)
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
    explicit Edit(const std::filesystem::path& path)
        : file_(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT))
    {
    }
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
    std::filesystem::path path = folder / "motion.h5";
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

}  // namespace springtime
