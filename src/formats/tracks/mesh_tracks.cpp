#include <algorithm>
#include <cctype>
#include <limits>
#include <utility>

#include "formats/obj_file.h"
#include "formats/ply_reader.h"
#include "formats/tracks/byte_source.h"
#include "formats/tracks/open_tracks.h"
#include "springtime/error.h"

// One mesh file per frame. Points keep the order of the file and are never joined: the number of a
// point is all that says which it is in the next frame.
namespace springtime {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostFrameBytes = std::uint64_t(1) << 32;  // a frame is read as a whole

using MeshFrame = PlyMesh;  // points that may be missing, and triangles

bool is_ply(const fs::path& path)
{
    std::string ending = path.extension().string();
    std::transform(ending.begin(), ending.end(), ending.begin(),
                   [](unsigned char c) { return char(std::tolower(c)); });
    return ending == ".ply";
}

MeshFrame flat_obj(const std::string& bytes, const std::string& source, bool faces)
{
    TriangleMesh mesh = parse_obj(bytes, source, {.gaps = true, .faces = faces});
    if (mesh.points.empty()) {
        throw Error("{}: no points; an OBJ file with v lines is needed", source);
    }
    MeshFrame frame;
    frame.triangles = std::move(mesh.triangles);
    for (const Vec3d& p : mesh.points) frame.position.insert(frame.position.end(), {p.x, p.y, p.z});
    return frame;
}

MeshFrame read_frame(const fs::path& path, bool faces)
{
    const std::string bytes = read_bytes(path, kMostFrameBytes);
    return is_ply(path) ? parse_ply(bytes, path.string(), faces)
                        : flat_obj(bytes, path.string(), faces);
}

class MeshTracks : public TrackReader {
  public:
    explicit MeshTracks(std::vector<fs::path> paths) : paths_(std::move(paths))
    {
        if (paths_.empty()) throw Error("mesh sequence: no files; name at least one");
        const std::string first = paths_.front().string();
        MeshFrame mesh = read_frame(paths_.front(), true);
        info_.format = is_ply(paths_.front()) ? "PLY sequence" : "OBJ sequence";
        info_.source = paths_.size() == 1 ? first : first + " to " + paths_.back().string();
        info_.point_count = mesh.position.size() / 3;
        info_.triangles = std::move(mesh.triangles);
        first_ = std::move(mesh.position);
        set_times();
    }

    const TrackInfo& info() const override { return info_; }
    bool next(TrackFrame& frame) override
    {
        if (frame_ == paths_.size()) return false;
        const fs::path& path = paths_[frame_];
        frame.position = frame_ == 0 ? std::move(first_) : read_frame(path, false).position;
        if (frame.position.size() != 3 * info_.point_count) {
            throw Error(
                "{}: {} points, but {} has {}; all frames of a sequence need the same; "
                "export them without changing the mesh",
                path.string(), frame.position.size() / 3, paths_.front().string(),
                info_.point_count);
        }
        settle_missing(frame.position.data(), info_.point_count, path.string(), frame_);
        frame.velocity.clear();
        frame.time = time_[frame_++];
        return true;
    }
    double share() const override { return double(frame_) / double(paths_.size()); }

  private:
    void set_times()
    {
        if (auto numbers = frame_numbers(paths_)) {
            time_ = std::move(*numbers);
            return;
        }
        for (std::size_t i = 0; i < paths_.size(); ++i) time_.push_back(double(i));
        info_.remarks.push_back(
            "The names do not number the frames evenly: every file was taken for the one after the "
            "last.");
    }

    std::vector<fs::path> paths_;
    std::vector<double> time_;  // of every path
    TrackInfo info_;
    std::vector<double> first_;  // positions, read already for the triangles
    std::size_t frame_ = 0;
};

}  // namespace

std::unique_ptr<TrackReader> open_mesh_tracks(const std::vector<fs::path>& frames)
{
    return std::make_unique<MeshTracks>(frames);
}

}  // namespace springtime
