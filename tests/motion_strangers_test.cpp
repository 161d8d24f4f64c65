#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/stat.h>

#include <fstream>
#include <functional>
#include <random>

#include "error_of.h"
#include "fuzz/motion_structure.h"
#include "springtime/error.h"
#include "springtime/files.h"
#include "temp_folder.h"

// Motion files that somebody else made, to mislead or by mistake.
namespace springtime {
namespace {

namespace fs = std::filesystem;
using fuzz::Id;

void write_plain(const fs::path& path)
{
    MotionHeader header;
    header.sheet = {1, 1, 0.1};
    header.rest = {{0, 0}, {1, 0}, {0, 1}, {1, 1}};
    MotionWriter writer(path, header);
    Rollout rollout;
    rollout.frame_count = 3;
    rollout.position.assign(3 * 4 * 3, 0.25f);
    rollout.velocity.assign(3 * 4 * 3, 0);
    writer.append(rollout);
    writer.finish();
}

// A motion file that is changed behind the back of the library, and then read in full.
class Stranger {
  public:
    Stranger() : path_(folder_ / "m.h5") { write_plain(path_); }

    template <class Change>
    std::string error_after(Change change)
    {
        {
            const Id file(H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
            change(hid_t(file));
        }
        return error_of([&] {
            const MotionReader reader(path_);
            for (std::size_t r = 0; r < reader.rollout_count(); ++r) reader.read(r);
        });
    }
    fs::path beside(const char* name) const { return folder_ / name; }

  private:
    TempFolder folder_;
    fs::path path_;
};

constexpr const char* kNoError = "(no error)";
constexpr const char* kPosition = "/rollouts/000000/position";
const std::vector<hsize_t> kShape{3, 4, 3};

void expect_has(const std::string& text, const std::string& part)
{
    EXPECT_TRUE(mentions(text, {part}));
}

void replace(hid_t file, const char* name, hid_t type, const std::vector<hsize_t>& shape,
             hid_t properties, const void* values)
{
    if (H5Lexists(file, name, H5P_DEFAULT) > 0) H5Ldelete(file, name, H5P_DEFAULT);
    const Id space(H5Screate_simple(int(shape.size()), shape.data(), nullptr), H5Sclose);
    const Id set(H5Dcreate2(file, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT),
                 H5Dclose);
    ASSERT_GE(set, 0);
    if (!values) return;
    ASSERT_GE(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
}

TEST(MotionStrangers, LinksOutOfTheFileAreRefused)
{
    for (const char* name : {"/rest", "/rollouts", "/rollouts/000000", kPosition}) {
        Stranger stranger;
        write_plain(stranger.beside("other.h5"));
        expect_has(stranger.error_after([&](hid_t file) {
            H5Ldelete(file, name, H5P_DEFAULT);
            H5Lcreate_external("other.h5", name, file, name, H5P_DEFAULT, H5P_DEFAULT);
        }),
                   "an external link");
    }
}

// To open the pipe would wait for ever.
TEST(MotionStrangers, ALinkToAPipeIsRefused)
{
    Stranger stranger;
    ASSERT_EQ(mkfifo(stranger.beside("pipe").c_str(), 0600), 0);
    expect_has(stranger.error_after([&](hid_t file) {
        H5Ldelete(file, kPosition, H5P_DEFAULT);
        H5Lcreate_external("pipe", "/x", file, kPosition, H5P_DEFAULT, H5P_DEFAULT);
    }),
               "an external link");
}

TEST(MotionStrangers, SoftLinksAreRefusedAlsoInCircles)
{
    for (const char* target : {"/rollouts/000000/velocity", kPosition, "/nowhere"}) {
        Stranger stranger;
        expect_has(stranger.error_after([&](hid_t file) {
            H5Ldelete(file, kPosition, H5P_DEFAULT);
            H5Lcreate_soft(target, file, kPosition, H5P_DEFAULT, H5P_DEFAULT);
        }),
                   "a soft link");
    }
}

TEST(MotionStrangers, ValuesOfAnotherFileAreNotRead)
{
    Stranger stranger;
    std::ofstream(stranger.beside("secret")) << std::string(4 * 3 * 4 * 3, 's');
    expect_has(stranger.error_after([&](hid_t file) {
        const Id properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        H5Pset_external(properties, stranger.beside("secret").c_str(), 0, H5F_UNLIMITED);
        replace(file, kPosition, H5T_IEEE_F32LE, kShape, properties, nullptr);
    }),
               "in another file");
    Stranger other;
    write_plain(other.beside("other.h5"));
    expect_has(other.error_after([&](hid_t file) {
        const Id properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        const Id space(H5Screate_simple(3, kShape.data(), nullptr), H5Sclose);
        H5Pset_virtual(properties, space, other.beside("other.h5").c_str(), kPosition, space);
        replace(file, kPosition, H5T_IEEE_F32LE, kShape, properties, nullptr);
    }),
               "from other datasets");
}

TEST(MotionStrangers, UnusualNumbersAndFiltersAreRefused)
{
    const std::vector<char> zeros(1 << 14, 0);
    Stranger number;
    expect_has(number.error_after([&](hid_t file) {
        const Id type(H5Tcopy(H5T_IEEE_F64LE), H5Tclose);
        H5Tset_size(type, 100);
        replace(file, kPosition, type, kShape, H5P_DEFAULT, zeros.data());
    }),
               "100 bytes each");
    Stranger filter;
    expect_has(filter.error_after([&](hid_t file) {
        const Id properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        H5Pset_chunk(properties, 3, kShape.data());
        H5Pset_nbit(properties);
        replace(file, kPosition, H5T_IEEE_F32LE, kShape, properties, zeros.data());
    }),
               "through filter 5");
    Stranger group;
    expect_has(group.error_after([&](hid_t file) {
        H5Ldelete(file, kPosition, H5P_DEFAULT);
        const Id made(H5Gcreate2(file, kPosition, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    }),
               "is not a dataset");
}

// What processors know is read, whatever its width and order of bytes.
TEST(MotionStrangers, PlainNumbersOfEveryWidthAreRead)
{
    const std::vector<float> quarter(3 * 4 * 3, 0.25f);
    const Id half(H5Tcopy(H5T_IEEE_F32LE), H5Tclose);
    H5Tset_fields(half, 15, 10, 5, 0, 10);
    H5Tset_size(half, 2);
    H5Tset_ebias(half, 15);
    for (const hid_t type : {H5T_IEEE_F32BE, H5T_IEEE_F64LE, H5T_IEEE_F64BE, hid_t(half)}) {
        Stranger stranger;
        EXPECT_EQ(stranger.error_after([&](hid_t file) {
            replace(file, kPosition, type, kShape, H5P_DEFAULT, nullptr);
            const Id set(H5Dopen2(file, kPosition, H5P_DEFAULT), H5Dclose);
            H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, quarter.data());
        }),
                  kNoError);
    }
}

// The product of the axes is 2^64, which wraps around to 0.
TEST(MotionStrangers, AShapeWhoseProductWrapsIsRefused)
{
    Stranger stranger;
    expect_has(stranger.error_after([&](hid_t file) {
        const Id properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        const std::array<hsize_t, 3> chunk{1, 1, 1};
        H5Pset_chunk(properties, 3, chunk.data());
        replace(file, "/rollouts/000000/handles", H5T_STD_I32LE,
                {hsize_t(1) << 32, hsize_t(1) << 31, 2}, properties, nullptr);
    }),
               "does not hold that many values");
}

TEST(MotionStrangers, TimesOutOfRangeAreRefused)
{
    const auto with = [](const char* name, double value) {
        Stranger stranger;
        return stranger.error_after([&](hid_t file) {
            H5Adelete(file, name);
            const Id space(H5Screate(H5S_SCALAR), H5Sclose);
            const bool whole = std::string(name) == "stride";
            const Id attribute(H5Acreate2(file, name, whole ? H5T_STD_I32LE : H5T_IEEE_F64LE, space,
                                          H5P_DEFAULT, H5P_DEFAULT),
                               H5Aclose);
            H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value);
        });
    };
    expect_has(with("dt", 1e-300), "1e-09 to 100 s");
    expect_has(with("dt", 1e300), "1e-09 to 100 s");
    expect_has(with("stride", 2147483647), "1 to 1000000");
    expect_has(with("dt", 50), "frames 2000 s apart");
    EXPECT_EQ(with("dt", 1e-6), kNoError);
}

TEST(MotionStrangers, PipesDevicesAndForbiddenFilesAreNotOpened)
{
    const TempFolder folder;
    const fs::path pipe = folder / "pipe";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    for (const auto& [file, kind] :
         {std::pair{pipe, "a pipe"}, {fs::path("/dev/zero"), "a device"}}) {
        const fs::path& path = file;
        for (const auto& read : std::vector<std::function<void()>>{
                 [&] { file_kind(path); }, [&] { read_cloth(path); },
                 [&] { MotionReader reader(path); }, [&] { read_obj(path); },
                 [&] { read_text(path); }, [&] { read_value_map(path); }}) {
            const std::string error = error_of(read);
            if (error.find("unknown kind of map") == std::string::npos) expect_has(error, kind);
        }
    }
    ASSERT_EQ(mkfifo((folder / "map.csv").c_str(), 0600), 0);
    ASSERT_EQ(mkfifo((folder / "map.png").c_str(), 0600), 0);
    for (const char* name : {"map.csv", "map.png"}) {
        expect_has(error_of([&] { read_value_map(folder / name); }), "a pipe");
    }
}

TEST(MotionStrangers, OddFilesAreReadOrRefusedInWords)
{
    H5E_auto2_t print = nullptr;
    void* data = nullptr;
    H5Eget_auto2(H5E_DEFAULT, &print, &data);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    const TempFolder folder;
    const fs::path path = folder / "m.h5";
    std::mt19937 random(1);
    int read = 0;
    constexpr int kFiles = 1000;
    for (int i = 0; i < kFiles; ++i) {
        std::string bytes(i == 0 ? 0 : 400, '\0');
        for (char& byte : bytes) byte = char(random() % 256);
        fuzz::Choices choices(bytes);
        fuzz::MotionMaker maker(choices);
        maker.make(path.string());
        const std::string error = error_of([&] {
            const MotionReader reader(path);
            for (std::size_t r = 0; r < reader.rollout_count(); ++r) reader.read(r);
            ++read;
        });
        EXPECT_TRUE(i > 0 || error == kNoError) << error;
        EXPECT_TRUE(error != kNoError || !maker.needs_other_files()) << i;
    }
    EXPECT_GT(read, kFiles / 20);  // not so odd that nothing but attributes is tried
    EXPECT_LT(read, kFiles / 2);
    H5Eset_auto2(H5E_DEFAULT, print, data);
}

}  // namespace
}  // namespace springtime
