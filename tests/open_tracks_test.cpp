#include "formats/tracks/open_tracks.h"

#include <gtest/gtest.h>

#include <fstream>

#include "temp_folder.h"

namespace springtime {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& bytes)
{
    std::ofstream(path, std::ios::binary) << bytes;
}

TEST(OpenTracks, NumberedMeshesAreOneTakeInTheirOrder)
{
    const TempFolder folder;
    for (const char* name : {"a10.obj", "a9.obj", "a8.obj", "b1.obj", "take.csv"}) {
        write(folder / name, "v 0 0 0\n");
    }
    const auto recordings = recordings_of(
        {folder / "a10.obj", folder / "a9.obj", folder / "b1.obj", folder / "take.csv"});
    ASSERT_EQ(recordings.size(), 3u);
    EXPECT_EQ(recordings[0], (TrackFiles{folder / "a9.obj", folder / "a10.obj"}));
    EXPECT_EQ(recordings[1], TrackFiles{folder / "b1.obj"});
    EXPECT_EQ(recordings[2], TrackFiles{folder / "take.csv"});
    EXPECT_EQ(recordings_of({(folder / "x").parent_path()}).size(), 3u);  // the folder itself
}

TEST(OpenTracks, ContentCountsMoreThanTheName)
{
    const TempFolder folder;
    write(folder / "points.dat", "time,x1,y1,z1\n0,1,2,3\n0.1,1,2,4\n");
    EXPECT_EQ(open_tracks({folder / "points.dat"}, {})->info().point_count, 1u);
    write(folder / "cache.dat", std::string("POINTCACHE2\0", 12) + std::string(8, '\0'));
    EXPECT_NE(error_of([&] { open_tracks({folder / "cache.dat"}, {}); }).find("cache.dat"),
              std::string::npos);
}

TEST(OpenTracks, FormatsThatAreNotReadSayHowToComeFromThere)
{
    const TempFolder folder;
    const auto refusal = [&](const std::string& name, const std::string& bytes) {
        write(folder / name, bytes);
        return error_of([&] { open_tracks({folder / name}, {}); });
    };
    const auto has = [](const std::string& text, const char* part) {
        EXPECT_NE(text.find(part), std::string::npos) << text;
    };
    has(refusal("a.h5", "\x89HDF\r\n\x1a\n"), "needs no import");
    has(refusal("a.c3d", "\x02P"), "as CSV");
    has(refusal("a.abc", "Ogawa"), "MDD");
    has(refusal("a.fbx", "Kaydara FBX Binary"), "FBX is not read");
    has(refusal("a.usda", "#usda 1.0"), "USD is not read");
    has(refusal("a.xlsx", "PK\x03\x04"), "save it as CSV");
    has(refusal("a.json", "{}"), "JSON is not read");
    has(refusal("a.bin", std::string("\0\1\2\3", 4)), "of no format that is read");
    has(refusal("a.csv", ""), "the file is empty");
    has(error_of([&] { recordings_of({folder / "nowhere.csv"}); }), "nowhere.csv");
    fs::create_directory(folder / "empty");
    has(error_of([&] { recordings_of({folder / "empty"}); }), "a folder without");
}

}  // namespace
}  // namespace springtime
