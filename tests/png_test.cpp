#include "formats/png.h"
#include "error_of.h"

#include <gtest/gtest.h>
#include <png.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "springtime/error.h"
#include "springtime/files.h"
#include "springtime/report.h"

namespace springtime {
namespace {

namespace fs = std::filesystem;

// A folder of its own for each test, removed afterwards.
class PngTest : public testing::Test {
  protected:
    void SetUp() override
    {
        const auto* info = testing::UnitTest::GetInstance()->current_test_info();
        folder_ = fs::path(testing::TempDir()) /
                  fmt::format("springtime_png_{}_{}", info->name(), std::random_device{}());
        fs::create_directories(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }

    std::string path(const std::string& name) const { return (folder_ / name).string(); }

    std::string write_bytes(const std::string& name, const std::string& bytes) const
    {
        std::ofstream(path(name), std::ios::binary) << bytes;
        return path(name);
    }

    // Stores samples as they are, with no conversion and optionally a gamma, by the full libpng
    // API.
    std::string write_samples(const std::string& name, int width, int height, int depth, int type,
                              std::vector<std::uint8_t> bytes, double gamma = 0) const
    {
        std::FILE* file = std::fopen(path(name).c_str(), "wb");
        png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
        png_infop info = png_create_info_struct(png);
        png_init_io(png, file);
        png_set_IHDR(png, info, width, height, depth, type, PNG_INTERLACE_NONE,
                     PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
        if (gamma > 0) png_set_gAMA(png, info, gamma);
        png_write_info(png, info);
        for (int r = 0; r < height; ++r) {
            png_write_row(png, bytes.data() + bytes.size() / height * r);
        }
        png_write_end(png, nullptr);
        png_destroy_write_struct(&png, &info);
        std::fclose(file);
        return path(name);
    }

    fs::path folder_;
};

std::string bytes_of(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string read_message(const std::string& path)
{
    return error_of([&] { read_grey_png(path); });
}

TEST_F(PngTest, EightBitGreyIsTheSampleOver255)
{
    std::vector<std::uint8_t> samples(256);
    for (int i = 0; i < 256; ++i) {
        samples[i] = static_cast<std::uint8_t>(i);
    }
    // A gamma in the file must change nothing: the map is data.
    for (const double gamma : {0.0, 1.0, 0.45455}) {
        const ValueMap map = read_grey_png(
            write_samples("grey8.png", 32, 8, 8, PNG_COLOR_TYPE_GRAY, samples, gamma));
        ASSERT_EQ(map.cols, 32);
        ASSERT_EQ(map.rows, 8);
        for (int i = 0; i < 256; ++i) {
            EXPECT_EQ(map.values[i], i / 255.0);
        }
    }
}

TEST_F(PngTest, SixteenBitGreyKeepsEveryBit)
{
    std::vector<std::uint8_t> samples;
    std::vector<int> expected;
    for (int i = 0; i < 60; ++i) {
        expected.push_back(i * 65535 / 59);
        samples.push_back(static_cast<std::uint8_t>(expected.back() >> 8));
        samples.push_back(static_cast<std::uint8_t>(expected.back() & 255));
    }
    for (const double gamma : {0.0, 0.45455}) {
        const ValueMap map = read_grey_png(
            write_samples("grey16.png", 10, 6, 16, PNG_COLOR_TYPE_GRAY, samples, gamma));
        ASSERT_EQ(map.values.size(), 60u);
        for (int i = 0; i < 60; ++i) {
            EXPECT_EQ(map.values[i], expected[i] / 65535.0);
        }
    }
}

TEST_F(PngTest, FewerBitsAndTransparencyAreUnderstood)
{
    const ValueMap bits =
        read_grey_png(write_samples("bits.png", 8, 1, 1, PNG_COLOR_TYPE_GRAY, {0b10110001}));
    EXPECT_EQ(bits.values, (std::vector<double>{1, 0, 1, 1, 0, 0, 0, 1}));
    const ValueMap alpha = read_grey_png(
        write_samples("alpha.png", 2, 1, 8, PNG_COLOR_TYPE_GRAY_ALPHA, {51, 0, 102, 255}));
    EXPECT_EQ(alpha.values, (std::vector<double>{0.2, 0.4}));
}

TEST_F(PngTest, ColourBecomesLuminance)
{
    const ValueMap map = read_grey_png(write_samples(
        "rgb.png", 4, 1, 8, PNG_COLOR_TYPE_RGB, {255, 0, 0, 0, 255, 0, 0, 0, 255, 77, 77, 77}));
    EXPECT_DOUBLE_EQ(map.values[0], 0.2126);  // Rec. 709
    EXPECT_DOUBLE_EQ(map.values[1], 0.7152);
    EXPECT_DOUBLE_EQ(map.values[2], 0.0722);
    EXPECT_EQ(map.values[3], 77 / 255.0);
}

TEST_F(PngTest, WhatIsWrittenIsReadBack)
{
    Picture picture{5, 4, {}};
    for (int i = 0; i < 60; ++i) {
        picture.rgb.push_back(static_cast<std::uint8_t>(i * 37 % 256));
    }
    write_png(path("picture.png"), picture);
    EXPECT_FALSE(fs::exists(path("picture.png.part")));
    std::ifstream file(path("picture.png"), std::ios::binary);
    EXPECT_EQ(to_png(picture), std::string(std::istreambuf_iterator(file), {}));

    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    ASSERT_TRUE(png_image_begin_read_from_file(&image, path("picture.png").c_str()));
    EXPECT_EQ(image.width, 5u);
    EXPECT_EQ(image.height, 4u);
    image.format = PNG_FORMAT_RGB;
    std::vector<std::uint8_t> found(PNG_IMAGE_SIZE(image));
    ASSERT_TRUE(png_image_finish_read(&image, nullptr, found.data(), 0, nullptr));
    EXPECT_EQ(found, picture.rgb);
}

TEST_F(PngTest, WriteErrors)
{
    const Picture picture{1, 1, {1, 2, 3}};
    EXPECT_TRUE(error_of([&] {
                    write_png(path("none/a.png"), picture);
                }).starts_with(path("none/a.png") + ": there is no directory " + path("none")));
    fs::create_directories(path("full.png/inside"));
    EXPECT_TRUE(error_of([&] {
                    write_png(path("full.png"), picture);
                }).starts_with(path("full.png") + ": is a directory"));
    EXPECT_EQ(error_of([&] {
                  write_png(path("a.png"), Picture{2, 1, {1, 2, 3}});
              }),
              path("a.png") + ": a picture of 2 x 1 pixels holds 3 bytes; it needs 3 a pixel");
}

TEST_F(PngTest, ReadErrors)
{
    EXPECT_EQ(read_message(path("none.png")), path("none.png") + ": no such file; check the name");
    const std::string foreign =
        ": is not a PNG image; convert it to a grey-scale PNG or to a CSV table";
    EXPECT_EQ(read_message(write_bytes("jpg.png", "\xff\xd8\xff\xe0 JFIF")),
              path("jpg.png") + foreign);
    EXPECT_EQ(read_message(write_bytes("empty.png", "")), path("empty.png") + foreign);
    EXPECT_EQ(read_message(folder_.string()),
              folder_.string() + ": is a directory; name a file in it");

    const std::string good =
        bytes_of(write_samples("good.png", 4, 1, 8, PNG_COLOR_TYPE_GRAY, {1, 2, 3, 4}));
    std::string flipped = good;
    flipped[16] ^= 1;  // in the width, so that the checksum of the header fails
    EXPECT_EQ(read_message(write_bytes("flipped.png", flipped)),
              path("flipped.png") + ": damaged PNG image (IHDR: CRC error); save or copy it again");
}

TEST_F(PngTest, HugeImagesAreRefusedBeforeTheyAreRead)
{
    const std::vector<std::uint8_t> row(20000, 7);
    EXPECT_EQ(read_message(write_samples("wide.png", 20000, 1, 8, PNG_COLOR_TYPE_GRAY, row)),
              path("wide.png") +
                  ": 20000 x 1 pixels; a map has at most 16384 a side and 67108864 "
                  "in all, scale the image down");
}

TEST_F(PngTest, DamagedBytesGiveAnErrorOrAMapButNeverACrash)
{
    std::vector<std::uint8_t> samples(3 * 16 * 16);
    for (std::size_t i = 0; i < samples.size(); ++i) {
        samples[i] = static_cast<std::uint8_t>(i * i);
    }
    const std::string good =
        bytes_of(write_samples("good.png", 16, 16, 8, PNG_COLOR_TYPE_RGB, samples));
    int refused = 0;
    for (std::size_t length = 0; length < good.size(); ++length) {
        refused += read_message(write_bytes("bad.png", good.substr(0, length))) != "(no error)";
    }
    EXPECT_EQ(refused, int(good.size()));  // every truncation is noticed
    std::mt19937 random(5);
    for (int i = 0; i < 500; ++i) {
        std::string bad = good;
        bad[random() % bad.size()] = static_cast<char>(random());
        const std::string message = read_message(write_bytes("bad.png", bad));
        EXPECT_TRUE(message == "(no error)" || message.starts_with(path("bad.png") + ": "));
    }
}

TEST_F(PngTest, AMaterialReadsImagesAndTables)
{
    const std::string image = write_samples("ramp.png", 2, 1, 8, PNG_COLOR_TYPE_GRAY, {0, 255});
    EXPECT_EQ(read_material("map " + image + " 10-100").at(0, 0), 10);
    EXPECT_EQ(read_material("map " + image + " 10-100").at(1, 0), 100);
    EXPECT_EQ(read_material("map " + image + " 10-100").at(0.5, 0.3), 55);
    EXPECT_EQ(read_material("map " + image + " 100-10").at(0, 0), 100);
    EXPECT_EQ(read_material("8; map " + image + " 0.5-2 = x").at(1, 0), 16);

    const std::string table = write_bytes("Table.CSV", "\xEF\xBB\xBF 1, 2.5,3e1\r\n\r\n4,5,6\r\n");
    const MaterialField field = read_material("map " + table);
    EXPECT_EQ(field.at(0, 0), 1);
    EXPECT_EQ(field.at(0.5, 0), 2.5);
    EXPECT_EQ(field.at(1, 0), 30);
    EXPECT_EQ(field.at(0, 1), 4);
    EXPECT_EQ(field.at(1, 1), 6);
}

TEST_F(PngTest, MapErrorsNameTheFile)
{
    const auto message = [](const std::string& text) {
        return error_of([&] { read_material(text); });
    };
    EXPECT_EQ(
        message("map wear.png"),
        "wear.png: an image needs the values of black and white; write map wear.png LOW-HIGH");
    EXPECT_EQ(message("map wear.csv 1-2"),
              "wear.csv: a table holds its own values; write map wear.csv without 1-2");
    EXPECT_EQ(message("map wear.jpg 1-2"),
              "wear.jpg: unknown kind of map '.jpg'; give a .png image or a .csv table");
    EXPECT_EQ(message("map " + path("none.csv")),
              path("none.csv") + ": no such file; check the name");
    EXPECT_EQ(message("map " + write_bytes("empty.csv", "\n\n")),
              path("empty.csv") + ": is empty; give one line of numbers for each row");
    EXPECT_EQ(message("map " + write_bytes("ragged.csv", "1,2\n3,4,5\n")),
              path("ragged.csv") +
                  ": line 2 has 3 numbers, but the lines before have 2; give each line as many");
    EXPECT_EQ(message("map " + write_bytes("word.csv", "1,2\n3,four\n")),
              path("word.csv") +
                  ": line 2, column 2: 'four' is not a number; give numbers with commas between");
    fs::create_directories(path("folder.csv"));
    EXPECT_EQ(message("map " + path("folder.csv")),
              path("folder.csv") + ": is a directory; name a file in it");
}

}  // namespace
}  // namespace springtime
