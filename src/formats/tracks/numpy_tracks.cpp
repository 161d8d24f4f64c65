#include <cmath>
#include <utility>

#include "formats/tracks/numpy_arrays.h"
#include "springtime/error.h"

namespace springtime {

namespace {

namespace fs = std::filesystem;

class NumpyReader : public TrackReader {
  public:
    explicit NumpyReader(NumpyTracks tracks) : tracks_(std::move(tracks)) {}

    const TrackInfo& info() const override { return tracks_.info; }
    bool next(TrackFrame& frame) override
    {
        if (frame_ == tracks_.frame_count) return false;
        read_points(*tracks_.position, frame.position, "position");
        frame.velocity.clear();
        if (tracks_.velocity) read_points(*tracks_.velocity, frame.velocity, "velocity");
        frame.time = tracks_.time ? read_time() : double(frame_);
        if (++frame_ == tracks_.frame_count) check_ends();
        return true;
    }
    double share() const override { return double(frame_) / double(tracks_.frame_count); }

  private:
    void read_points(NumberStream& numbers, std::vector<double>& xyz, std::string_view what)
    {
        xyz.resize(3 * info().point_count);
        numbers.read(xyz.data(), xyz.size());
        settle_missing(xyz.data(), info().point_count, info().source, frame_, what);
    }
    double read_time()
    {
        double time = 0;
        tracks_.time->read(&time, 1);
        if (!std::isfinite(time)) {
            throw Error("{}: frame {} is at time {}; a finite one is needed; correct that array",
                        info().source, frame_, time);
        }
        return time;
    }
    void check_ends()
    {
        for (auto* numbers : {&tracks_.position, &tracks_.velocity, &tracks_.time}) {
            if (*numbers) (*numbers)->check_end();
        }
    }

    NumpyTracks tracks_;
    std::size_t frame_ = 0;
};

NumpyTracks lone_array(const fs::path& path)
{
    NumpyTracks tracks;
    auto source = open_bytes(path);
    const NpyHeader header = read_npy_header(*source);
    const TrackShape shape = track_shape(header, source->name());
    tracks.frame_count = shape.frame_count;
    tracks.info.format = "NumPy array";
    tracks.info.source = source->name();
    tracks.info.point_count = shape.point_count;
    note_grid(shape, tracks.info);
    tracks.position = std::make_unique<NumberStream>(std::move(source), *header.scalar_format());
    return tracks;
}

bool begins_as_zip(const fs::path& path)
{
    char head[2] = {};
    open_bytes(path)->read(head, sizeof head);
    return head[0] == 'P' && head[1] == 'K';
}

[[noreturn]] void fail_flat(const NpyHeader& header, std::string_view source)
{
    const std::uint64_t frames = header.shape[0], numbers = header.shape[1];
    if (numbers == 3) {
        throw Error(
            "{}: shape {}; frames x points x 3 is needed; reshape it, array.reshape({}, 1, "
            "3) for one point over time or array.reshape(1, {}, 3) for one frame",
            source, header.shape_text(), frames, frames);
    }
    if (numbers > 0 && numbers % 3 == 0) {
        throw Error(
            "{}: shape {}; frames x points x 3 is needed; if every row is x, y, z of one "
            "point after the other, save array.reshape({}, {}, 3)",
            source, header.shape_text(), frames, numbers / 3);
    }
    throw Error("{}: shape {}; frames x points x 3 is needed; reshape it", source,
                header.shape_text());
}

void check_type(const NpyHeader& header, std::string_view source)
{
    if (header.has_objects()) {
        throw Error(
            "{}: holds Python objects (pickle), which are not read; numbers are needed; "
            "save np.array(..., dtype='f4')",
            source);
    }
    const auto format = header.scalar_format();
    if (!format || format->kind != 'f') {
        throw Error(
            "{}: holds numbers of type {}; 32 or 64-bit floats are needed; save "
            "array.astype('f4')",
            source, header.type);
    }
    if (header.fortran_order) {
        throw Error(
            "{}: is in Fortran order, in which frames lie scattered; C order is needed; "
            "save np.ascontiguousarray(array)",
            source);
    }
}

}  // namespace

TrackShape track_shape(const NpyHeader& header, std::string_view source)
{
    check_type(header, source);
    const auto& shape = header.shape;
    if (shape.size() == 2) fail_flat(header, source);
    const bool grid = shape.size() == 4;
    if ((shape.size() != 3 && !grid) || shape.back() != 3) {
        throw Error(
            "{}: shape {}; frames x points x 3, or frames x rows x columns x 3, is needed; "
            "reshape or transpose it",
            source, header.shape_text());
    }
    // Fits, since it is a part of what was compared with the file, unless there are zeros.
    const auto points = checked_product({shape[1], grid ? shape[2] : 1});
    if (shape[0] == 0 || !points || *points == 0) {
        throw Error("{}: shape {}; at least one frame and one point are needed", source,
                    header.shape_text());
    }
    return {shape[0], *points, grid ? fmt::format("{} x {}", shape[1], shape[2]) : ""};
}

void note_grid(const TrackShape& shape, TrackInfo& info)
{
    if (shape.grid.empty()) return;
    info.remarks.push_back("The points are a grid of " + shape.grid +
                           " (rows x columns), row after row.");
}

std::unique_ptr<TrackReader> open_numpy_tracks(const fs::path& path, const TrackHints& hints)
{
    if (begins_as_zip(path)) {
        return std::make_unique<NumpyReader>(find_npz_tracks(path, hints.array));
    }
    if (!hints.array.empty()) {
        throw Error("{}: is one array, without a name; leave out `array` {}", path.string(),
                    hints.array);
    }
    return std::make_unique<NumpyReader>(lone_array(path));
}

}  // namespace springtime
