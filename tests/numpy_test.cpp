#include <gtest/gtest.h>

#include "formats/tracks/npy_header.h"
#include "formats/tracks/open_tracks.h"
#include "temp_folder.h"
#include "tracks.h"

namespace springtime {
namespace {

// An array file as NumPy's format specification has it, with a header padded to 64 bytes.
std::string npy(const std::string& type, const std::string& shape, const std::string& numbers,
                int version = 1, const std::string& order = "False")
{
    std::string text =
        "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
    const int length_bytes = version == 1 ? 2 : 4;
    while ((8 + std::size_t(length_bytes) + text.size() + 1) % 64 != 0) text += ' ';
    text += '\n';
    return std::string("\x93NUMPY") + char(version) + '\0' +
           bits(text.size(), length_bytes, false) + text + numbers;
}

std::uint32_t crc32(const std::string& bytes)
{
    std::uint32_t crc = ~0u;
    for (const char byte : bytes) {
        crc ^= std::uint8_t(byte);
        for (int i = 0; i < 8; ++i) crc = (crc >> 1) ^ (crc & 1 ? 0xedb88320u : 0u);
    }
    return ~crc;
}

struct Member {
    std::string name, bytes;
    int flags = 0, method = 0;
    std::uint32_t size_added = 0;  // to what the directory says
};

// A zip file as the specification has it (APPNOTE 4.3), members stored.
std::string zip_of(const std::vector<Member>& members)
{
    const auto u2 = [](std::uint64_t value) { return bits(value, 2, false); };
    const auto u4 = [](std::uint64_t value) { return bits(value, 4, false); };
    std::string file, directory;
    for (const Member& m : members) {
        const std::string common = u2(20) + u2(std::uint64_t(m.flags)) +
                                   u2(std::uint64_t(m.method)) + u2(0) + u2(0x21) +
                                   u4(crc32(m.bytes)) + u4(m.bytes.size()) +
                                   u4(m.bytes.size() + m.size_added) + u2(m.name.size()) + u2(0);
        directory += "PK\x01\x02" + u2(20) + common + u2(0) + u2(0) + u2(0) + u4(0) +
                     u4(file.size()) + m.name;
        file += "PK\x03\x04" + common + m.name + m.bytes;
    }
    return file + directory + "PK\x05\x06" + u2(0) + u2(0) + u2(members.size()) +
           u2(members.size()) + u4(directory.size()) + u4(file.size()) + u2(0);
}

class Numpy : public testing::Test {
  protected:
    std::unique_ptr<TrackReader> open(const std::string& bytes, const std::string& array = "")
    {
        write_bytes(path_, bytes);
        return open_numpy_tracks(path_, {"auto", array});
    }
    // What follows the path in the message.
    std::string fault(const std::string& bytes, const std::string& array = "")
    {
        const std::string message = error_of([&] { all_frames(*open(bytes, array)); });
        EXPECT_TRUE(message.starts_with(path_.string())) << message;
        return message.substr(std::min(path_.string().size(), message.size()));
    }

    TempFolder folder_;
    std::filesystem::path path_ = folder_ / "array.npy";
};

TEST_F(Numpy, EveryFormatVersionWidthAndByteOrder)
{
    const auto all = ramp(24);
    for (const int version : {1, 2, 3}) {
        for (const bool big : {false, true}) {
            const std::string order = big ? ">" : "<";
            EXPECT_EQ(all_positions(*open(
                          npy(order + "f4", "(2, 4, 3)", array_bits<float>(all, big), version))),
                      all);
            EXPECT_EQ(all_positions(*open(
                          npy(order + "f8", "(2, 4, 3)", array_bits<double>(all, big), version))),
                      all);
        }
    }
}

TEST_F(Numpy, FramesAreCountedAndNothingElseIsKnown)
{
    const auto reader = open(npy("<f4", "(2, 4, 3)", array_bits<float>(ramp(24), false)));
    const TrackInfo& info = reader->info();
    EXPECT_EQ(info.format, "NumPy array");
    EXPECT_EQ(info.source, path_.string());
    EXPECT_EQ(info.point_count, 4u);
    EXPECT_FALSE(info.times || info.rate || info.unit || info.up || info.velocities);
    EXPECT_TRUE(info.remarks.empty());
    const auto frames = all_frames(*reader);
    ASSERT_EQ(frames.size(), 2u);
    EXPECT_EQ(frames[1].time, 1);
    EXPECT_EQ(reader->share(), 1);
}

TEST_F(Numpy, RowsAndColumnsBecomePoints)
{
    const auto reader = open(npy("<f8", "(2, 2, 5, 3)", array_bits<double>(ramp(60), false)));
    EXPECT_EQ(reader->info().point_count, 10u);
    EXPECT_EQ(reader->info().remarks,
              std::vector<std::string>{
                  "The points are a grid of 2 x 5 (rows x columns), row after row."});
    EXPECT_EQ(all_positions(*reader), ramp(60));
}

TEST_F(Numpy, NanIsAMissingPoint)
{
    auto values = ramp(6);
    values[1] = kGap;
    const auto found =
        all_positions(*open(npy("<f8", "(1, 2, 3)", array_bits<double>(values, false))));
    for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(found[i]));
    EXPECT_EQ(found[4], values[4]);
}

TEST_F(Numpy, ShapeErrors)
{
    const std::string needed = "; frames x points x 3 is needed; ";
    const auto shaped = [&](const std::string& shape, std::size_t count) {
        return fault(npy("<f4", shape, array_bits<float>(ramp(count), false)));
    };
    EXPECT_EQ(shaped("(4, 6)", 24), ": shape 4 x 6" + needed +
                                        "if every row is x, y, z of one point after the other, "
                                        "save array.reshape(4, 2, 3)");
    EXPECT_EQ(shaped("(8, 3)", 24), ": shape 8 x 3" + needed +
                                        "reshape it, array.reshape(8, 1, 3) for one point over "
                                        "time or array.reshape(1, 8, 3) for one frame");
    EXPECT_EQ(shaped("(6, 4)", 24), ": shape 6 x 4" + needed + "reshape it");
    const std::string either =
        "; frames x points x 3, or frames x rows x columns x 3, is needed; "
        "reshape or transpose it";
    EXPECT_EQ(shaped("(24,)", 24), ": shape 24" + either);
    EXPECT_EQ(shaped("()", 1), ": shape ()" + either);
    EXPECT_EQ(shaped("(3, 4, 2)", 24), ": shape 3 x 4 x 2" + either);
    EXPECT_EQ(shaped("(0, 4, 3)", 0),
              ": shape 0 x 4 x 3; at least one frame and one point are needed");
    EXPECT_EQ(shaped("(4, 0, 3)", 0),
              ": shape 4 x 0 x 3; at least one frame and one point are needed");
    EXPECT_EQ(shaped("(0, 9223372036854775807, 9223372036854775807, 3)", 0),
              ": shape 0 x 9223372036854775807 x 9223372036854775807 x 3; at least one frame and "
              "one point are needed");
    EXPECT_EQ(shaped("(4611686018427387904, 4, 3)", 24),
              ": an array of shape 4611686018427387904 x 4 x 3 is more than any file holds; save "
              "it again");
}

TEST_F(Numpy, TypeErrors)
{
    const std::string numbers(48, '\0');
    const std::string float_needed = "; 32 or 64-bit floats are needed; save array.astype('f4')";
    EXPECT_EQ(fault(npy("<i4", "(2, 2, 3)", numbers)),
              ": holds numbers of type <i4" + float_needed);
    EXPECT_EQ(fault(npy("<f2", "(2, 2, 3)", numbers)),
              ": holds numbers of type <f2" + float_needed);
    EXPECT_EQ(fault(npy("<c8", "(2, 2, 3)", numbers)),
              ": holds numbers of type <c8" + float_needed);
    EXPECT_EQ(fault(npy("|O", "(2, 2, 3)", numbers)),
              ": holds Python objects (pickle), which are not read; numbers are needed; save "
              "np.array(..., dtype='f4')");
    EXPECT_EQ(fault(npy("<f4", "(2, 2, 3)", numbers, 1, "True")),
              ": is in Fortran order, in which frames lie scattered; C order is needed; save "
              "np.ascontiguousarray(array)");
}

TEST_F(Numpy, LengthErrors)
{
    const std::string good = npy("<f4", "(2, 2, 3)", std::string(48, '\0'));
    EXPECT_EQ(fault(good.substr(0, good.size() - 1)),
              ": 47 bytes of numbers, but the shape 2 x 2 x 3 of <f4 needs 48; it was cut short, "
              "copy it or save it again");
    EXPECT_EQ(fault(good + "x"),
              ": 49 bytes of numbers, but the shape 2 x 2 x 3 of <f4 needs 48; save one array "
              "alone, or several with np.savez");
    EXPECT_EQ(fault(good.substr(0, 30)), ": ends 98 bytes early; copy it or export it again");
    EXPECT_EQ(fault(""),
              ": does not begin with the magic of a NumPy array; a file of np.save is needed");
    EXPECT_EQ(fault("\x93NUMBY" + good.substr(6)),
              ": does not begin with the magic of a NumPy array; a file of np.save is needed");
    EXPECT_EQ(fault(npy("<f4", "(2, 2, 3)", "", 4)),
              ": NumPy array of format 4.0; 1.0, 2.0 or 3.0 is needed; save it again");
    EXPECT_EQ(fault(std::string("\x93NUMPY\x02\0\xff\xff\xff\xff", 12)),
              ": says that its header has 4294967295 bytes, but 65536 is the most that an array of "
              "numbers needs; save it again with np.save");
    EXPECT_EQ(fault(good, "x"), ": is one array, without a name; leave out `array` x");
}

TEST(NpyHeader, TakesWhatNumpyWrites)
{
    const NpyHeader plain =
        parse_npy_dictionary("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }   \n", "a");
    EXPECT_EQ(plain.type, "<f8");
    EXPECT_EQ(plain.shape, (std::vector<std::uint64_t>{3}));
    const NpyHeader other = parse_npy_dictionary(
        "{\"shape\": (2L, 3L), 'fortran_order': True,\n'descr': [('a', '<f8', (2,)), ('b', [('c', "
        "'|O')])]}",
        "a");
    EXPECT_TRUE(other.fortran_order);
    EXPECT_TRUE(other.has_objects());
    EXPECT_FALSE(other.scalar_format());
    EXPECT_EQ(other.shape_text(), "2 x 3");
    EXPECT_EQ(other.type, "[('a', '<f8', (2,)), ('b', [('c', '|O')])]");
}

TEST(NpyHeader, RefusesAllElse)
{
    const auto fault = [](const std::string& text) {
        const std::string message = error_of([&] { parse_npy_dictionary(text, "a"); });
        const std::string begin = "a: the header of the array ",
                          end = "; what np.save writes is needed; save it again";
        EXPECT_TRUE(message.starts_with(begin) && message.ends_with(end)) << message;
        if (message.size() < begin.size() + end.size()) return message;
        return message.substr(begin.size(), message.size() - begin.size() - end.size());
    };
    EXPECT_EQ(fault(""), "has '' where '{' is needed");
    EXPECT_EQ(fault("{}"), "lacks descr, fortran_order or shape");
    EXPECT_EQ(fault("{'descr': '<f4'}"), "lacks descr, fortran_order or shape");
    EXPECT_EQ(fault("{'descr': '<f4', 'descr': '<f4'}"),
              "has 'descr' twice or where nothing of that name belongs");
    EXPECT_EQ(fault("{'mode': 1}"), "has 'mode' twice or where nothing of that name belongs");
    EXPECT_EQ(fault("{'descr': 3}"), "lacks a name in quotes");
    EXPECT_EQ(fault("{'descr': '<f4"), "has a quote without its end");
    EXPECT_EQ(fault("{'descr': '\\x41'}"), "has a backslash in a name");
    EXPECT_EQ(fault("{'descr': [[]"), "has a list without its end");
    EXPECT_EQ(fault("{'fortran_order': 0}"), "has neither True nor False for fortran_order");
    EXPECT_EQ(fault("{'shape': 3}"), "has '3}' where '(' is needed");
    EXPECT_EQ(fault("{'shape': (-3,)}"), "has a shape that is not a tuple of whole numbers");
    EXPECT_EQ(fault("{'shape': (3 4)}"), "has '4)}' where ',' is needed");
    EXPECT_EQ(fault("{'shape': (99999999999999999999,)}"), "has a shape beyond 64 bits");
    std::string many = "{'shape': (";
    for (int i = 0; i < 33; ++i) many += "1,";
    EXPECT_EQ(fault(many + ")}"), "has more than 32 axes");
    EXPECT_EQ(fault("{'descr': '<f4', 'fortran_order': False, 'shape': (), } x"),
              "goes on behind its dictionary");
    EXPECT_EQ(fault(std::string("{'descr': '<f4', 'fortran_order': False, 'shape': ()}\0", 54)),
              "goes on behind its dictionary");
}

// ---- .npz ----

std::string floats(const std::string& shape, std::size_t count)
{
    return npy("<f4", shape, array_bits<float>(ramp(count), false));
}

TEST_F(Numpy, ArchiveGivesAllItKnows)
{
    const auto time = array_bits<double>({0.5, 0.75}, false);
    // Two names of at most three code points, filled up with zeros: "ab" and "zé∂".
    std::string names;
    for (const std::uint64_t c : {0x61, 0x62, 0, 0x7a, 0xe9, 0x2202}) names += bits(c, 4, false);
    const auto reader =
        open(zip_of({{"position.npy", floats("(2, 2, 3)", 12)},
                     {"velocity.npy", npy(">f8", "(2, 2, 3)", array_bits<double>(ramp(12), true))},
                     {"time.npy", npy("<f8", "(2,)", time)},
                     {"fps.npy", npy("<i8", "()", bits(60, 8, false))},
                     {"names.npy", npy("<U3", "(2,)", names)},
                     {"note.npy", npy("<U1", "()", bits('n', 4, false))},
                     {"read me.txt", "hello"}}));
    const TrackInfo& info = reader->info();
    EXPECT_EQ(info.format, "NumPy archive");
    EXPECT_EQ(info.point_count, 2u);
    EXPECT_TRUE(info.times && info.velocities);
    EXPECT_EQ(info.rate, 60);
    EXPECT_EQ(info.names, (std::vector<std::string>{"ab", "z\u00e9\u2202"}));
    EXPECT_EQ(info.remarks, std::vector<std::string>{"Passed over: note (())."});
    const auto frames = all_frames(*reader);
    ASSERT_EQ(frames.size(), 2u);
    const auto all = ramp(12);
    EXPECT_EQ(frames[1].time, 0.75);
    EXPECT_EQ(frames[1].position, std::vector<double>(all.begin() + 6, all.end()));
    EXPECT_EQ(frames[1].velocity, frames[1].position);
    EXPECT_EQ(reader->share(), 1);
}

TEST_F(Numpy, ArchiveChoosesByShapeThenByNameThenByHint)
{
    const std::string a = floats("(1, 2, 3)", 6), b = floats("(2, 1, 3)", 6),
                      flat = floats("(6,)", 6);
    EXPECT_EQ(all_frames(*open(zip_of({{"q.npy", flat}, {"track.npy", a}}))).size(), 1u);
    EXPECT_EQ(all_frames(*open(zip_of({{"other.npy", a}, {"points.npy", b}}))).size(), 2u);
    EXPECT_EQ(all_frames(*open(zip_of({{"other.npy", a}, {"points.npy", b}}), "other")).size(), 1u);
    EXPECT_EQ(all_frames(*open(zip_of({{"velocity.npy", a}, {"p.npy", b}}))).size(), 2u);
    EXPECT_EQ(fault(zip_of({{"a.npy", a}, {"b.npy", b}, {"c.npy", flat}})),
              ": 2 arrays could be the positions: a (1 x 2 x 3), b (2 x 1 x 3); say which with "
              "`array` NAME");
    EXPECT_EQ(fault(zip_of({{"a.npy", a}}), "b"),
              ": no array 'b'; it has a (1 x 2 x 3); name one of these with `array`");
    EXPECT_EQ(fault(zip_of({{"a.npy", flat}})),
              ": no array of frames x points x 3 floats; it has a (6); save one with that shape");
    EXPECT_EQ(fault(zip_of({{"x.npy", flat}, {"a.npy", flat}})),
              ": x: shape 6; frames x points x 3, or frames x rows x columns x 3, is needed; "
              "reshape or transpose it");
    EXPECT_EQ(fault(zip_of({{"x.npy", npy("|O", "(2, 2, 3)", "pickle")}})),
              ": x: holds Python objects (pickle), which are not read; numbers are needed; save "
              "np.array(..., dtype='f4')");
}

TEST_F(Numpy, CompanionsThatDoNotFitAreRemarkedOn)
{
    const auto reader = open(zip_of({{"x.npy", floats("(2, 2, 3)", 12)},
                                     {"velocity.npy", floats("(1, 2, 3)", 6)},
                                     {"t.npy", floats("(3,)", 3)},
                                     {"fps.npy", floats("(2,)", 2)},
                                     {"names.npy", floats("(2,)", 2)}}));
    const TrackInfo& info = reader->info();
    EXPECT_FALSE(info.times || info.velocities || info.rate);
    EXPECT_TRUE(info.names.empty());
    EXPECT_EQ(info.remarks, std::vector<std::string>{
                                "Passed over: velocity (1 x 2 x 3), t (3), fps (2), names (2)."});
}

TEST_F(Numpy, ArchiveErrors)
{
    const std::string a = floats("(1, 2, 3)", 6);
    EXPECT_EQ(fault(zip_of({})), ": a zip file without arrays; a file of np.savez is needed");
    EXPECT_EQ(fault(zip_of({{"a.txt", "x"}})),
              ": a zip file without arrays; a file of np.savez is needed");
    EXPECT_EQ(fault(zip_of({{"a.npy", a, 1}})),
              ": a.npy: is encrypted; pack it again without a password");
    EXPECT_EQ(fault(zip_of({{"a.npy", a, 0, 12}})),
              ": a.npy: is packed by method 12; stored or deflated is needed, as np.savez and "
              "np.savez_compressed do");
    EXPECT_EQ(fault(zip_of({{"a.npy", a, 0, 0, 1u << 31}})),
              fmt::format(": a.npy: says {} bytes, but {} packed ones hold {} at most; copy the "
                          "file or save it again",
                          a.size() + (1u << 31), a.size(), a.size()));
    std::string damaged = zip_of({{"a.npy", a}});
    damaged[damaged.find("PK\x01\x02") - 1] ^= 1;  // the last byte of the last number
    EXPECT_EQ(fault(damaged),
              ": a.npy: cannot be unpacked (CRC error); copy the file or save it again");
    const std::string whole = zip_of({{"a.npy", a}});
    EXPECT_EQ(fault(whole.substr(0, whole.size() - 1)),
              ": cannot be opened as a zip file (Not a zip archive); copy it or save it again");
    EXPECT_EQ(fault(zip_of({{"a.npy", a}, {"t.npy", npy("<f8", "(1,)", bits(HUGE_VAL, false))}})),
              ": frame 0 is at time inf; a finite one is needed; correct that array");
    EXPECT_EQ(fault(zip_of({{"a.npy", a}, {"fps.npy", npy("|u1", "()", std::string(1, '\0'))}})),
              ": fps: 0 frames per second; a positive number is needed; correct that array");
    EXPECT_EQ(
        fault(zip_of(
            {{"a.npy", a},
             {"names.npy", npy("<U1", "(2,)", bits(0xd800, 4, false) + bits(65, 4, false))}})),
        ": names: the name of point 0 has the code 0xd800, which is not a letter; save them again");
    EXPECT_EQ(
        fault(zip_of({{"a.npy", a}, {"names.npy", npy("<U9", "(2,)", "abc")}})),
        ": names: 131 bytes do not hold 2 names of 9 letters; copy the file or save it again");
}

}  // namespace
}  // namespace springtime
