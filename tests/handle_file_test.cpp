#include <gtest/gtest.h>

#include <random>

#include "springtime/files.h"
#include "temp_folder.h"

namespace springtime {
namespace {

// A 3 x 4 grid whose particle p starts at (p, 10 p, 100 p).
Cloth sample_cloth()
{
    Cloth cloth;
    cloth.sheet = {3, 2, 1};
    cloth.grid = Grid{3, 4};
    for (int p = 0; p < 12; ++p) {
        cloth.rest.push_back({double(p % 4), double(p / 4)});
    }
    cloth.mass.assign(12, 1.0 / 12);
    return cloth;
}

State sample_start()
{
    State state;
    for (int p = 0; p < 12; ++p) {
        state.position.push_back({double(p), 10.0 * p, 100.0 * p});
    }
    state.velocity.resize(12);
    return state;
}

class HandleFile : public testing::Test {
  protected:
    TempFolder folder;
    std::filesystem::path path = folder / "paths.csv";
    std::string name = path.string();

    Handles read(const std::string& text) const
    {
        write_bytes(path, text);
        return read_handle_paths(path, sample_cloth(), sample_start());
    }
    std::string error(const std::string& text) const
    {
        return error_of([&] { read(text); });
    }
};

void expect_at(const Vec3d& found, double x, double y, double z)
{
    EXPECT_DOUBLE_EQ(found.x, x);
    EXPECT_DOUBLE_EQ(found.y, y);
    EXPECT_DOUBLE_EQ(found.z, z);
}

TEST_F(HandleFile, DisplacesFromTheStart)
{
    const Handles handles = read(
        "time,handle,x,y,z\n"
        "0,corner-ne,0,0,0\n"
        "2,corner-ne,1,-2,0.5\n");
    ASSERT_EQ(handles.particles, std::vector<int>{3});
    EXPECT_EQ(handles.key_time, (std::vector<double>{0, 2}));
    expect_at(handles.position(0, 0), 3, 30, 300);
    expect_at(handles.position(0, 1), 3.5, 29, 300.25);
    expect_at(handles.position(0, 9), 4, 28, 300.5);
}

TEST_F(HandleFile, EdgesMoveAllTheirParticles)
{
    const Handles handles = read("time,handle,x,y,z\n0.5,edge-west,1,2,3\n");
    EXPECT_EQ(handles.particles, (std::vector<int>{0, 4, 8}));
    for (std::size_t h = 0; h < 3; ++h) {
        const double p = 4.0 * h;
        expect_at(handles.position(h, 0), p + 1, 10 * p + 2, 100 * p + 3);
    }
}

// Each handle follows its own keys: linear between them, still before and after.
TEST_F(HandleFile, HandlesMayHaveTimesOfTheirOwn)
{
    const Handles handles = read(
        "time,handle,x,y,z\n"
        "0,particle:0,0,0,0\n"
        "1,particle:5,0,8,0\n"
        "4,particle:0,4,0,0\n"
        "3,particle:5,0,0,0\n");
    EXPECT_EQ(handles.particles, (std::vector<int>{0, 5}));
    EXPECT_EQ(handles.key_time, (std::vector<double>{0, 1, 3, 4}));
    for (const double t : {0.0, 0.5, 1.0, 1.7, 2.0, 3.0, 3.5, 4.0, 5.0}) {
        const double x = std::min(t, 4.0);
        const double y = t < 1 ? 8 : t > 3 ? 0 : 8 - 4 * (t - 1);
        expect_at(handles.position(0, t), x, 0, 0);
        expect_at(handles.position(1, t), 5, 50 + y, 500);
    }
}

TEST_F(HandleFile, AcceptsWhatSpreadsheetsWrite)
{
    const Handles handles = read(
        "\xef\xbb\xbftime, handle, x, y, z\r\n"
        "\r\n"
        "0, \"grid:1,2\", 1e0, 0, 0\r\n"
        "1, grid:2,0, 1, 0, 0");
    EXPECT_EQ(handles.particles, (std::vector<int>{6, 8}));
    expect_at(handles.position(0, 0), 7, 60, 600);
}

TEST_F(HandleFile, NamesTheLine)
{
    const std::string head = "time,handle,x,y,z\n0,center,0,0,0\n";
    EXPECT_EQ(error("t,handle,x,y,z\n"),
              name + ":1: found 't,handle,x,y,z'; the header time,handle,x,y,z is needed");
    EXPECT_EQ(error(head + "1,center,0,0\n"),
              name + ":3: found '1,center,0,0'; time,handle,x,y,z is needed");
    EXPECT_EQ(error(head + "\n1,center,0,up,0\n"),
              name + ":4: y is 'up'; a finite number is needed");
    EXPECT_EQ(error(head + "nan,center,0,0,0\n"),
              name + ":3: time is 'nan'; a finite number is needed");
    EXPECT_EQ(error(head + "0,center,1,0,0\n"),
              name + ":3: 'center' is at 0 s after 0 s; sort its rows by time, one per time");
    EXPECT_EQ(error(head + "0,particle:12,1,0,0\n"),
              name + ":3: pin 'particle:12': no such particle; give particle:0 to particle:11");
    EXPECT_EQ(error(head + "0,edge-north,0,0,0\n1,corner-ne,0,0,0\n"),
              name +
                  ":4: particle 3 is moved already by the handle of line 3; name each particle "
                  "once");
}

TEST_F(HandleFile, NamesEmptyFiles)
{
    const std::string none =
        name + ": no keys; a header time,handle,x,y,z and rows below it are needed";
    EXPECT_EQ(error(""), none);
    EXPECT_EQ(error("time,handle,x,y,z\n\n"), none);
    EXPECT_EQ(
        error_of([&] { read_handle_paths(folder / "no.csv", sample_cloth(), sample_start()); }),
        (folder / "no.csv").string() + ": no such file; check the name");
}

TEST_F(HandleFile, NamesAStartOfAnotherCloth)
{
    write_bytes(path, "time,handle,x,y,z\n0,center,0,0,0\n");
    EXPECT_EQ(error_of([&] { read_handle_paths(path, sample_cloth(), State{}); }),
              name + ": start has 0 particles, but the cloth 12; take both from one cloth");
}

TEST_F(HandleFile, SurvivesAnyBytes)
{
    const std::string whole = "time,handle,x,y,z\n0,\"grid:1,2\",1,2,3\n1,particle:5,4,5,6\n";
    std::mt19937 random(11);
    int refused = 0;
    for (int trial = 0; trial < 2000; ++trial) {
        std::string text = whole.substr(0, random() % (whole.size() + 1));
        if (!text.empty() && trial % 2) text[random() % text.size()] = char(random());
        refused += error(text) == "(no error)" ? 0 : 1;
    }
    EXPECT_GT(refused, 1000);  // most cuts fall inside a row
    EXPECT_LT(refused, 2000);  // but a cut behind a digit of the last number does not show
}

}  // namespace
}  // namespace springtime
