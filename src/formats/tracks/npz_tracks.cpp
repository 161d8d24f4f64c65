#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>

#include "formats/tracks/numpy_arrays.h"
#include "formats/tracks/zip_archive.h"
#include "springtime/error.h"

// An .npz is a zip file of .npy members; np.savez stores them, np.savez_compressed deflates them.
namespace springtime {

namespace {

namespace fs = std::filesystem;
using Names = std::span<const std::string_view>;

constexpr std::array<std::string_view, 4> kPositionNames = {"position", "positions", "points", "x"};
constexpr std::array<std::string_view, 2> kVelocityNames = {"velocity", "velocities"};
constexpr std::array<std::string_view, 3> kTimeNames = {"time", "times", "t"};
constexpr std::array<std::string_view, 3> kRateNames = {"fps", "rate", "frame_rate"};
constexpr std::array<std::string_view, 1> kPointNames = {"names"};

struct Array {
    std::size_t member;
    std::string name;
    NpyHeader header;

    bool is_one_of(Names names) const
    {
        return std::find(names.begin(), names.end(), name) != names.end();
    }
    bool has_track_shape() const
    {
        const auto format = header.scalar_format();
        const auto& shape = header.shape;
        return format && format->kind == 'f' && (shape.size() == 3 || shape.size() == 4) &&
               shape.back() == 3;
    }
    std::string text() const { return fmt::format("{} ({})", name, header.shape_text()); }
};

std::string listed(const std::vector<const Array*>& arrays)
{
    std::vector<std::string> texts;
    for (const Array* array : arrays) texts.push_back(array->text());
    return fmt::format("{}", fmt::join(texts, ", "));
}

// The arrays of one archive, and which of them is what.
class Npz {
  public:
    explicit Npz(const fs::path& path) : path_(path.string()), zip_(path)
    {
        constexpr std::string_view kEnding = ".npy";
        for (std::size_t m = 0; m < zip_.names().size(); ++m) {
            std::string name = zip_.names()[m];
            if (!name.ends_with(kEnding)) continue;
            name.resize(name.size() - kEnding.size());
            arrays_.push_back({m, name, read_npy_header(*zip_.open(m))});
        }
        if (arrays_.empty()) {
            throw Error("{}: a zip file without arrays; a file of np.savez is needed", path_);
        }
    }

    const std::string& path() const { return path_; }
    std::string where(const Array& array) const { return path_ + ": " + array.name; }

    const Array& position(const std::string& wanted) const
    {
        if (!wanted.empty()) return named(wanted);
        std::vector<const Array*> shaped, both;
        for (const Array& array : arrays_) {
            if (!array.has_track_shape() || array.is_one_of(kVelocityNames)) continue;
            shaped.push_back(&array);
            if (array.is_one_of(kPositionNames)) both.push_back(&array);
        }
        if (shaped.size() == 1) return *shaped.front();
        if (both.size() == 1) return *both.front();
        if (!shaped.empty()) {
            throw Error("{}: {} arrays could be the positions: {}; say which with `array` NAME",
                        path_, shaped.size(), listed(shaped));
        }
        for (const Array& array : arrays_) {
            if (array.is_one_of(kPositionNames))
                return array;  // its fault is reported under its name
        }
        throw Error(
            "{}: no array of frames x points x 3 floats; it has {}; save one with that "
            "shape",
            path_, listed(all()));
    }

    // The first array of these names, or none.
    const Array* find(Names names) const
    {
        const auto found = std::find_if(arrays_.begin(), arrays_.end(),
                                        [&](const Array& array) { return array.is_one_of(names); });
        return found == arrays_.end() ? nullptr : &*found;
    }

    std::unique_ptr<ByteSource> open(const Array& array) const
    {
        auto source = zip_.open(array.member);
        read_npy_header(*source);
        return source;
    }
    std::unique_ptr<NumberStream> numbers(const Array& array) const
    {
        return std::make_unique<NumberStream>(open(array), *array.header.scalar_format());
    }

    std::vector<const Array*> all() const
    {
        std::vector<const Array*> every;
        for (const Array& array : arrays_) every.push_back(&array);
        return every;
    }

  private:
    const Array& named(const std::string& wanted) const
    {
        const auto found = std::find_if(arrays_.begin(), arrays_.end(),
                                        [&](const Array& array) { return array.name == wanted; });
        if (found != arrays_.end()) return *found;
        throw Error("{}: no array '{}'; it has {}; name one of these with `array`", path_, wanted,
                    listed(all()));
    }

    std::string path_;
    ZipArchive zip_;
    std::vector<Array> arrays_;
};

std::string utf8(char32_t c)
{
    std::string text;
    if (c < 0x80) return {char(c)};
    const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    constexpr int kLead[] = {0, 0xc0, 0xe0, 0xf0};
    text += char(kLead[more] | int(c >> (6 * more)));
    for (int i = more - 1; i >= 0; --i) text += char(0x80 | int((c >> (6 * i)) & 0x3f));
    return text;
}

// One name: code points of four bytes each, filled up with zeros.
std::string point_name(std::string_view bytes, bool big, std::string_view where, std::size_t point)
{
    std::string name;
    for (std::size_t at = 0; at < bytes.size(); at += 4) {
        const auto c = char32_t(decode_scalar({'u', 4, big}, bytes.data() + at));
        if (c == 0) break;
        if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
            throw Error(
                "{}: the name of point {} has the code {:#x}, which is not a letter; save "
                "them again",
                where, point, std::uint32_t(c));
        }
        name += utf8(c);
    }
    return name;
}

// Characters per name of a type like <U7, or zero when it is another.
std::uint64_t name_length(const std::string& type)
{
    if (type.size() < 3 || type.size() > 11 || type[1] != 'U') return 0;
    if (type[0] != '<' && type[0] != '>') return 0;
    std::uint64_t length = 0;
    for (const char c : std::string_view(type).substr(2)) {
        if (c < '0' || c > '9') return 0;
        length = 10 * length + std::uint64_t(c - '0');
    }
    return length;
}

std::vector<std::string> point_names(const Npz& npz, const Array& array)
{
    const std::uint64_t length = name_length(array.header.type), count = array.header.shape[0];
    const auto source = npz.open(array);
    const auto needed = checked_product({4, length, count});
    if (!needed || source->size() - array.header.bytes != *needed) {
        throw Error(
            "{}: {} bytes do not hold {} names of {} letters; copy the file or save it again",
            npz.where(array), source->size(), count, length);
    }
    std::vector<std::string> names(count);
    std::string bytes(4 * length, '\0');
    for (std::size_t p = 0; p < count; ++p) {
        read_exactly(*source, bytes.data(), bytes.size());
        names[p] = point_name(bytes, array.header.type[0] == '>', npz.where(array), p);
    }
    return names;
}

// Adds to tracks what the other arrays say, and remarks on those that say nothing.
class Companions {
  public:
    Companions(const Npz& npz, const Array& position, NumpyTracks& tracks)
        : npz_(npz), position_(position), tracks_(tracks), used_{&position}
    {
    }

    void add()
    {
        add_velocities();
        add_times();
        add_rate();
        add_names();
        std::vector<const Array*> rest = npz_.all();
        std::erase_if(rest, [&](const Array* array) { return used_.contains(array); });
        if (!rest.empty()) {
            tracks_.info.remarks.push_back("Passed over: " + listed(rest) + ".");
        }
    }

  private:
    // The array of one of these names, if `fits` it.
    template <class Fits>
    const Array* companion(Names names, Fits fits)
    {
        const Array* const array = npz_.find(names);
        if (!array || array == &position_ || !fits(array->header)) return nullptr;
        used_.insert(array);
        return array;
    }

    void add_velocities()
    {
        const Array* const array = companion(kVelocityNames, [&](const NpyHeader& header) {
            const auto format = header.scalar_format();
            return format && format->kind == 'f' && header.shape == position_.header.shape &&
                   !header.fortran_order;
        });
        if (!array) return;
        tracks_.velocity = npz_.numbers(*array);
        tracks_.info.velocities = true;
    }

    void add_times()
    {
        const std::vector<std::uint64_t> needed{tracks_.frame_count};
        const Array* const array = companion(kTimeNames, [&](const NpyHeader& header) {
            return header.scalar_format() && header.shape == needed;
        });
        if (!array) return;
        tracks_.time = npz_.numbers(*array);
        tracks_.info.times = true;
    }

    void add_rate()
    {
        const Array* const array = companion(kRateNames, [](const NpyHeader& header) {
            const bool single =
                header.shape.empty() || header.shape == std::vector<std::uint64_t>{1};
            return single && header.scalar_format();
        });
        if (!array) return;
        double rate = 0;
        npz_.numbers(*array)->read(&rate, 1);
        if (!(rate > 0) || !std::isfinite(rate)) {
            throw Error("{}: {} frames per second; a positive number is needed; correct that array",
                        npz_.where(*array), rate);
        }
        tracks_.info.rate = rate;
    }

    void add_names()
    {
        const std::size_t points = tracks_.info.point_count;
        const Array* const array = companion(kPointNames, [&](const NpyHeader& header) {
            return name_length(header.type) > 0 &&
                   header.shape == std::vector<std::uint64_t>{points};
        });
        if (array) tracks_.info.names = point_names(npz_, *array);
    }

    const Npz& npz_;
    const Array& position_;
    NumpyTracks& tracks_;
    std::set<const Array*> used_;
};

}  // namespace

NumpyTracks find_npz_tracks(const fs::path& path, const std::string& array)
{
    const Npz npz(path);
    const Array& position = npz.position(array);
    const TrackShape shape = track_shape(position.header, npz.where(position));
    NumpyTracks tracks;
    tracks.frame_count = shape.frame_count;
    tracks.info.format = "NumPy archive";
    tracks.info.source = npz.path();
    tracks.info.point_count = shape.point_count;
    note_grid(shape, tracks.info);
    tracks.position = npz.numbers(position);
    Companions(npz, position, tracks).add();
    return tracks;
}

}  // namespace springtime
