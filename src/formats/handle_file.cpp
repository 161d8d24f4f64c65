#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "core/atomic_file.h"
#include "core/text.h"
#include "springtime/error.h"
#include "springtime/files.h"

namespace springtime {

namespace {

// The table of keys is full: times x handles. This many take 400 MB.
constexpr std::size_t kMostKeyPositions = std::size_t(1) << 24;

struct Place {
    std::string_view file;
    std::size_t line;
    std::string text() const { return fmt::format("{}:{}", file, line); }
};

struct Key {
    double time;
    Vec3d displacement;
};

// One name of the file: the particles it moves, and its own keys in ascending time.
struct Track {
    std::size_t first_line;
    std::vector<int> particles;
    std::vector<Key> keys;

    Vec3d displacement(double time) const
    {
        const auto after = std::upper_bound(keys.begin(), keys.end(), time,
                                            [](double t, const Key& key) { return t < key.time; });
        if (after == keys.begin()) return keys.front().displacement;
        if (after == keys.end()) return keys.back().displacement;
        const Key &from = after[-1], &to = *after;
        const double part = (time - from.time) / (to.time - from.time);
        return from.displacement + part * (to.displacement - from.displacement);
    }
};

double parse_number(std::string_view text, std::string_view what, const Place& place)
{
    const std::string_view digits = trimmed(text);
    double value = 0;
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (status != std::errc() || end != digits.data() + digits.size() || !std::isfinite(value)) {
        throw Error("{}: {} is '{}'; a finite number is needed", place.text(), what, digits);
    }
    return value;
}

struct Row {
    std::string_view name;
    Key key;
};

// Time stands before the first comma and x, y, z behind the last three, so that a name may hold a
// comma itself, as grid:3,4 does.
Row parse_row(std::string_view line, const Place& place)
{
    if (std::count(line.begin(), line.end(), ',') < 4) {
        throw Error("{}: found '{}'; time,handle,x,y,z is needed", place.text(), line);
    }
    std::array<std::string_view, 3> number;
    std::string_view rest = line;
    for (int axis = 2; axis >= 0; --axis) {
        const auto comma = rest.rfind(',');
        number[axis] = rest.substr(comma + 1);
        rest = rest.substr(0, comma);
    }
    const auto comma = rest.find(',');
    std::string_view name = trimmed(rest.substr(comma + 1));
    if (name.size() >= 2 && name.front() == '"' && name.back() == '"') {
        name = name.substr(1, name.size() - 2);
    }
    return {name,
            {parse_number(rest.substr(0, comma), "time", place),
             {parse_number(number[0], "x", place), parse_number(number[1], "y", place),
              parse_number(number[2], "z", place)}}};
}

Track start_track(const Cloth& cloth, std::string_view name, const Place& place)
{
    try {
        return {place.line, particles_named(cloth, name), {}};
    } catch (const Error& error) {
        throw Error("{}: {}", place.text(), error.what());
    }
}

void check_header_row(std::string_view line, const Place& place)
{
    std::string plain;
    std::copy_if(line.begin(), line.end(), std::back_inserter(plain),
                 [](char c) { return c != ' ' && c != '\t'; });
    if (plain == "time,handle,x,y,z") return;
    throw Error("{}: found '{}'; the header time,handle,x,y,z is needed", place.text(), line);
}

// Calls take(line, place) for every line that is not blank.
template <class Take>
void for_each_line(std::string_view text, std::string_view source, Take take)
{
    for (std::size_t number = 1; !text.empty(); ++number) {
        const auto end = std::min(text.find('\n'), text.size());
        const std::string_view line = trimmed(text.substr(0, end));
        if (!line.empty()) take(line, Place{source, number});
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

std::vector<Track> parse_tracks(std::string_view text, std::string_view source, const Cloth& cloth)
{
    std::vector<Track> tracks;
    std::unordered_map<std::string_view, std::size_t> track_of;
    bool header_seen = false;
    for_each_line(text, source, [&](std::string_view line, const Place& place) {
        if (!std::exchange(header_seen, true)) return check_header_row(line, place);
        const Row row = parse_row(line, place);
        const auto [found, is_new] = track_of.try_emplace(row.name, tracks.size());
        if (is_new) tracks.push_back(start_track(cloth, row.name, place));
        std::vector<Key>& keys = tracks[found->second].keys;
        if (!keys.empty() && row.key.time <= keys.back().time) {
            throw Error("{}: '{}' is at {} s after {} s; sort its rows by time, one per time",
                        place.text(), row.name, row.key.time, keys.back().time);
        }
        keys.push_back(row.key);
    });
    if (tracks.empty()) {
        throw Error("{}: no keys; a header time,handle,x,y,z and rows below it are needed", source);
    }
    return tracks;
}

void check_no_overlap(const std::vector<Track>& tracks, std::string_view source,
                      std::size_t particle_count)
{
    std::vector<std::size_t> moved_by(particle_count, 0);  // line, or 0 for none
    for (const Track& track : tracks) {
        for (const int p : track.particles) {
            if (moved_by[p] != 0) {
                throw Error(
                    "{}:{}: particle {} is moved already by the handle of line {}; name each"
                    " particle once",
                    source, track.first_line, p, moved_by[p]);
            }
            moved_by[p] = track.first_line;
        }
    }
}

std::vector<double> merged_times(const std::vector<Track>& tracks)
{
    std::vector<double> times;
    for (const Track& track : tracks) {
        for (const Key& key : track.keys) {
            times.push_back(key.time);
        }
    }
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    return times;
}

}  // namespace

Handles read_handle_paths(const std::filesystem::path& path, const Cloth& cloth, const State& start)
{
    const std::string text = read_text(path), source = path.string();
    if (start.position.size() != cloth.particle_count()) {
        throw Error("{}: start has {} particles, but the cloth {}; take both from one cloth",
                    source, start.position.size(), cloth.particle_count());
    }
    const std::vector<Track> tracks = parse_tracks(text, source, cloth);
    check_no_overlap(tracks, source, cloth.particle_count());
    Handles handles;
    handles.key_time = merged_times(tracks);
    for (const Track& track : tracks) {
        handles.particles.insert(handles.particles.end(), track.particles.begin(),
                                 track.particles.end());
    }
    if (handles.particles.size() > kMostKeyPositions / handles.key_time.size()) {
        throw Error("{}: {} times for {} particles are too many; give handles the same times",
                    source, handles.key_time.size(), handles.particles.size());
    }
    for (const double time : handles.key_time) {
        for (const Track& track : tracks) {
            const Vec3d moved = track.displacement(time);
            for (const int p : track.particles) {
                handles.key_position.push_back(start.position[p] + moved);
            }
        }
    }
    check_handles(handles, cloth.particle_count(), source);
    return handles;
}

}  // namespace springtime
