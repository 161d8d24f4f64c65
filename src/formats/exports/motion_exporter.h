#pragma once

#include <fmt/format.h>

#include <bit>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "formats/exports/frame_stream.h"
#include "formats/exports/surface.h"
#include "springtime/export.h"

namespace springtime {

// What exporters write as bytes is little-endian, as all machines are that this runs on.
static_assert(std::endian::native == std::endian::little);

template <class T>
std::string_view bytes_of_values(std::span<const T> values)
{
    return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

// All that is known before the first frame.
struct ExportScene {
    std::string source;  // named in messages
    Sheet sheet{};
    std::vector<SheetPoint> rest{};
    ExportSurface surface{};
    std::size_t frame_count = 1;
    double rate = 1;     // [1/s]
    bool still = false;  // a shape without time
    bool velocities = false;
    Handles handles{};
    std::vector<WeightMap> maps{};
    MapScale scale = MapScale::linear;
    std::string color{};  // name of the map that becomes the colour, if any
    bool overwrite = false;

    std::size_t point_count() const { return rest.size(); }
};

// One writer per format. Nothing stands under the final name before finish(); an exporter that is
// destroyed without it leaves nothing behind.
class MotionExporter {
  public:
    virtual ~MotionExporter() = default;

    virtual void frame(const ExportFrame& frame) = 0;
    virtual void finish() = 0;
};

// The scene must outlive the exporter. Each throws Error when the format cannot hold the scene.
using MakeExporter = std::unique_ptr<MotionExporter>(const std::filesystem::path&,
                                                     const ExportScene&);
MakeExporter make_glb_exporter, make_mdd_exporter, make_npz_exporter, make_obj_exporter,
    make_pc2_exporter, make_ply_exporter, make_usda_exporter;
std::unique_ptr<MotionExporter> make_csv_exporter(const std::filesystem::path& path,
                                                  const ExportScene& scene, bool long_rows);

// One shape as the bytes of an OBJ or PLY file. The scene must outlive it.
using MeshWriter = std::function<void(std::span<const float> position, fmt::memory_buffer& out)>;
MeshWriter obj_writer(const ExportScene& scene);
MeshWriter ply_writer(const ExportScene& scene);

// A folder with frame_000000.obj and so on.
std::unique_ptr<MotionExporter> make_mesh_folder(const std::filesystem::path& path,
                                                 std::string extension, MeshWriter writer,
                                                 bool overwrite);

// The flat sheet, level and centred on the origin, as flat_state() has it.
std::vector<float> flat_position(const Sheet& sheet, const std::vector<SheetPoint>& rest);

// Texture coordinates of a point: across the sheet from west to east, and from south to north,
// since most formats have their origin at the lower left of an image.
struct TexturePoint {
    float s, t;
};
TexturePoint texture_point(const Sheet& sheet, const SheetPoint& point);

// The files that come with an export of this name.
std::filesystem::path rest_obj_path(const std::filesystem::path& out);
std::filesystem::path ranges_path(const std::filesystem::path& out);

// "stretch_warp: 0 is 25 N/m, 1 is 100 N/m, linear"
std::string range_text(const WeightMap& map, MapScale scale);
std::string_view name_of(MapScale scale);
// All maps with what 0 and 1 mean, as JSON.
std::string ranges_json(const std::vector<WeightMap>& maps, MapScale scale);

// The map that becomes the colour: the one asked for, or stretch, or the first. Empty without maps;
// throws Error for a map there is not.
std::string chosen_color(const std::vector<WeightMap>& maps, const std::string& wanted);

// Throws Error naming `source` for what the int32 of a point cache cannot count.
void check_cache_size(std::size_t frames, std::size_t points, const std::string& source);
// The same for a glb: its bytes are counted in uint32, and every frame is a morph target.
void check_glb_size(const ExportScene& scene);

}  // namespace springtime
