#include "formats/tracks/open_tracks.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "core/atomic_file.h"
#include "springtime/error.h"

namespace springtime {

// ---- Numbered names ----

namespace fs = std::filesystem;

NumberedName::NumberedName(const fs::path& path) : folder(path.parent_path())
{
    const std::string name = path.filename().string();
    std::size_t end = name.size();
    while (end > 0 && !std::isdigit(static_cast<unsigned char>(name[end - 1]))) --end;
    std::size_t begin = end;
    while (begin > 0 && std::isdigit(static_cast<unsigned char>(name[begin - 1]))) --begin;
    before = name.substr(0, begin);
    after = name.substr(end);
    numbered = end > begin;
    digits = name.substr(begin, end - begin);
    digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
}

bool natural_order(const fs::path& a, const fs::path& b)
{
    const auto key = [](const fs::path& path) {
        const NumberedName name(path);
        return std::tuple(name.folder.string(), name.before, name.after, name.digits.size(),
                          name.digits);
    };
    return key(a) < key(b);
}

namespace {

std::uint64_t number_of(const NumberedName& name, const fs::path& path)
{
    std::uint64_t number = 0;
    const char* end = name.digits.data() + name.digits.size();
    if (!name.digits.empty() &&
        std::from_chars(name.digits.data(), end, number).ec != std::errc()) {
        throw Error("{}: a number of {} digits; number the frames of a sequence 1, 2, 3 and so on",
                    path.string(), name.digits.size());
    }
    return number;
}

}  // namespace

std::optional<std::vector<double>> frame_numbers(const std::vector<fs::path>& files)
{
    std::vector<std::uint64_t> steps;
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    for (std::size_t i = 1; i < files.size(); ++i) {
        const NumberedName last(files[i - 1]), name(files[i]);
        const bool alike = name.numbered && last.numbered && name.folder == last.folder &&
                           name.before == last.before && name.after == last.after;
        if (!alike) return std::nullopt;
        const std::uint64_t from = number_of(last, files[i - 1]), to = number_of(name, files[i]);
        if (from == to) {
            throw Error("{}: has the same number as {}; one frame is one file", files[i].string(),
                        files[i - 1].string());
        }
        if (to < from) return std::nullopt;
        steps.push_back(to - from);
        least = std::min(least, steps.back());
    }
    std::vector<double> numbers = {0};
    for (const std::uint64_t step : steps) {
        if (step % least != 0) return std::nullopt;
        numbers.push_back(numbers.back() + double(step / least));
    }
    return numbers;
}

// ---- Points in another order ----

namespace {

class OrderedTracks : public TrackReader {
  public:
    // `source` has the number in the file of every point.
    OrderedTracks(std::unique_ptr<TrackReader> tracks, std::vector<std::size_t> source)
        : tracks_(std::move(tracks)), source_(std::move(source)), info_(tracks_->info())
    {
        for (std::size_t p = 0; p < source_.size(); ++p) {
            info_.names[p] = tracks_->info().names[source_[p]];
        }
        info_.remarks.push_back(
            "Points come in another order than in the first take: matched by their names.");
    }

    const TrackInfo& info() const override { return info_; }
    double share() const override { return tracks_->share(); }

    bool next(TrackFrame& frame) override
    {
        if (!tracks_->next(read_)) return false;
        frame.time = read_.time;
        reorder(read_.position, frame.position);
        reorder(read_.velocity, frame.velocity);
        return true;
    }

  private:
    void reorder(const std::vector<double>& from, std::vector<double>& to) const
    {
        to.resize(from.size());
        for (std::size_t p = 0; 3 * p < from.size(); ++p) {
            std::copy_n(from.begin() + std::ptrdiff_t(3 * source_[p]), 3,
                        to.begin() + std::ptrdiff_t(3 * p));
        }
    }

    std::unique_ptr<TrackReader> tracks_;
    std::vector<std::size_t> source_;
    TrackInfo info_;
    TrackFrame read_;
};

}  // namespace

std::unique_ptr<TrackReader> order_points(std::unique_ptr<TrackReader> tracks,
                                          const std::vector<std::string>& names)
{
    const std::vector<std::string>& own = tracks->info().names;
    // Triangles name points by their numbers, and files that have any have no names.
    const bool nothing_to_do = own == names || !tracks->info().triangles.empty();
    if (nothing_to_do || own.size() != names.size()) return tracks;
    std::unordered_map<std::string_view, std::size_t> number;
    for (std::size_t p = 0; p < own.size(); ++p) number.emplace(own[p], p);
    if (number.size() != own.size()) return tracks;
    std::vector<std::size_t> source;
    for (const std::string& name : names) {
        const auto found = number.find(name);
        if (found == number.end()) return tracks;
        source.push_back(found->second);
        number.erase(found);
    }
    return std::make_unique<OrderedTracks>(std::move(tracks), std::move(source));
}

// ---- Opening ----

namespace fs = std::filesystem;

namespace {

enum class Format { csv, numpy, cache, mesh };

std::string ending_of(const fs::path& path)
{
    std::string ending = path.extension().string();
    std::transform(ending.begin(), ending.end(), ending.begin(),
                   [](unsigned char c) { return char(std::tolower(c)); });
    return ending;
}

bool is_mesh(const fs::path& path)
{
    const std::string ending = ending_of(path);
    return ending == ".obj" || ending == ".ply";
}

bool can_be_read(const fs::path& path)
{
    constexpr std::array kEndings{".csv", ".tsv", ".txt", ".npy", ".npz",
                                  ".mdd", ".pc2", ".obj", ".ply"};
    return std::find(kEndings.begin(), kEndings.end(), ending_of(path)) != kEndings.end();
}

// ---- Takes ----

std::vector<fs::path> files_in(const fs::path& folder)
{
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
        if (entry.is_regular_file() && can_be_read(entry.path())) files.push_back(entry.path());
    }
    if (files.empty()) {
        throw Error(
            "{}: a folder without .csv, .tsv, .txt, .npy, .npz, .mdd, .pc2, .obj or .ply files; "
            "name the files, or another folder",
            folder.string());
    }
    std::sort(files.begin(), files.end(), natural_order);
    return files;
}

// ---- Recognition ----

std::string first_bytes(const fs::path& path)
{
    std::string bytes(16, '\0');
    std::FILE* file = std::fopen(path.c_str(), "rb");
    if (!file) throw Error("{}: cannot be opened; check its permissions", path.string());
    bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file));
    std::fclose(file);
    return bytes;
}

// Formats that other programs write and that are not read here.
void refuse_known(const fs::path& path, const std::string& bytes)
{
    const auto starts = [&](std::string_view text) { return bytes.starts_with(text); };
    const std::string ending = ending_of(path), name = path.string();
    if (starts("\x89HDF\r\n")) {
        throw Error(
            "{}: an HDF5 file; a motion file needs no import (springtime inspect shows what is in "
            "it), and other HDF5 files become arrays with h5py and numpy.save",
            name);
    }
    if (ending == ".c3d" || (bytes.size() > 1 && bytes[1] == 'P' && bytes[0] == 2)) {
        throw Error("{}: C3D is not read; export the markers as CSV from the capture program",
                    name);
    }
    if (ending == ".abc" || starts("Ogawa")) {
        throw Error("{}: Alembic is not read; export MDD, PC2 or a sequence of OBJ files", name);
    }
    if (ending == ".fbx" || starts("Kaydara FBX")) {
        throw Error("{}: FBX is not read; export MDD, PC2 or a sequence of OBJ files", name);
    }
    if (ending.starts_with(".usd") || starts("PXR-USDC") || starts("#usda")) {
        throw Error("{}: USD is not read; export MDD, PC2 or a sequence of OBJ files", name);
    }
    if (ending == ".xlsx" || ending == ".xls") {
        throw Error("{}: a spreadsheet; save it as CSV", name);
    }
    if (ending == ".json") throw Error("{}: JSON is not read; write CSV or a NumPy array", name);
}

Format format_of(const fs::path& path)
{
    check_source(path);
    const std::string bytes = first_bytes(path), ending = ending_of(path);
    if (bytes.empty()) throw Error("{}: the file is empty", path.string());
    refuse_known(path, bytes);
    if (bytes.starts_with("\x93NUMPY") || bytes.starts_with("PK\x03\x04")) return Format::numpy;
    if (bytes.starts_with("POINTCACHE2")) return Format::cache;
    if (ending == ".obj" || bytes.starts_with("ply\n") || bytes.starts_with("ply\r")) {
        return Format::mesh;
    }
    if (ending == ".mdd" || ending == ".pc2") return Format::cache;
    if (ending == ".npy" || ending == ".npz") return Format::numpy;
    if (ending == ".ply") return Format::mesh;
    if (bytes.find('\0') != std::string::npos) {
        throw Error(
            "{}: binary, and of no format that is read; there are CSV, Motive CSV, .npy, .npz, "
            "OBJ, "
            "PLY, MDD and PC2",
            path.string());
    }
    return Format::csv;
}

}  // namespace

std::vector<TrackFiles> recordings_of(const std::vector<fs::path>& files)
{
    std::vector<TrackFiles> recordings;
    std::map<std::tuple<std::string, std::string, std::string>, std::size_t> sequences;
    const auto add = [&](const fs::path& file) {
        if (!is_mesh(file)) {
            recordings.push_back({file});
            return;
        }
        const NumberedName name(file);
        const auto [place, is_new] = sequences.try_emplace(
            {name.folder.string(), name.before, name.after}, recordings.size());
        if (is_new) recordings.emplace_back();
        recordings[place->second].push_back(file);
    };
    for (const fs::path& file : files) {
        if (fs::is_directory(file)) {
            for (const fs::path& inside : files_in(file)) add(inside);
        } else {
            check_source(file);
            add(file);
        }
    }
    for (TrackFiles& recording : recordings)
        std::sort(recording.begin(), recording.end(), natural_order);
    return recordings;
}

std::unique_ptr<TrackReader> open_tracks(const TrackFiles& recording, const TrackHints& hints)
{
    switch (format_of(recording.front())) {
        case Format::numpy:
            return open_numpy_tracks(recording.front(), hints);
        case Format::cache:
            return open_cache_tracks(recording.front());
        case Format::mesh:
            return open_mesh_tracks(recording);
        case Format::csv:
            break;
    }
    return open_csv_tracks(recording.front(), hints);
}

}  // namespace springtime
