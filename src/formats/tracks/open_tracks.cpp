#include "formats/tracks/open_tracks.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <map>
#include <tuple>

#include "formats/text_file.h"
#include "formats/tracks/numbered_name.h"
#include "springtime/error.h"

namespace springtime {

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

std::vector<Recording> recordings_of(const std::vector<fs::path>& files)
{
    std::vector<Recording> recordings;
    std::map<std::tuple<std::string, std::string, std::string>, std::size_t> sequences;
    const auto add = [&](const fs::path& file) {
        if (!is_mesh(file)) {
            recordings.push_back({file});
            return;
        }
        const NumberedName name(file);
        const auto [place, is_new] =
            sequences.try_emplace({name.folder.string(), name.before, name.after}, recordings.size());
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
    for (Recording& recording : recordings) std::sort(recording.begin(), recording.end(), natural_order);
    return recordings;
}

std::unique_ptr<TrackReader> open_tracks(const Recording& recording, const TrackHints& hints)
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
