// Point caches: positions of points over time, and nothing else. The points and faces they move are
// in an OBJ file beside them.
#include <cstdint>
#include <cstring>
#include <limits>

#include "core/atomic_file.h"
#include "formats/exports/motion_exporter.h"
#include "springtime/error.h"

namespace springtime {

namespace {

std::uint32_t swapped(std::uint32_t bits)
{
    return __builtin_bswap32(bits);
}

void add_big(std::string& bytes, std::span<const float> values)
{
    for (const float value : values) {
        const std::uint32_t bits = swapped(std::bit_cast<std::uint32_t>(value));
        bytes.append(reinterpret_cast<const char*>(&bits), sizeof bits);
    }
}

template <class T>
void add_value(std::string& bytes, T value)
{
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// NewTek MDD, big-endian: int32 frames, int32 points, float times [s], float positions.
std::string mdd_header(const ExportScene& scene)
{
    std::string bytes;
    add_value(bytes, swapped(static_cast<std::uint32_t>(scene.frame_count)));
    add_value(bytes, swapped(static_cast<std::uint32_t>(scene.point_count())));
    for (std::size_t f = 0; f < scene.frame_count; ++f) {
        const float time = float(double(f) / scene.rate);
        add_big(bytes, {&time, 1});
    }
    return bytes;
}

// PC2, little-endian: a name of 12 letters, int32 version 1, int32 points, float first frame, float
// frames from sample to sample, int32 samples, float positions.
std::string pc2_header(const ExportScene& scene)
{
    std::string bytes("POINTCACHE2\0", 12);
    add_value(bytes, std::int32_t{1});
    add_value(bytes, static_cast<std::int32_t>(scene.point_count()));
    add_value(bytes, 0.0f);
    add_value(bytes, 1.0f);
    add_value(bytes, static_cast<std::int32_t>(scene.frame_count));
    return bytes;
}

class CacheExporter : public MotionExporter {
  public:
    CacheExporter(const std::filesystem::path& path, const ExportScene& scene, bool big_endian)
        : file_(path, scene.overwrite),
          rest_(rest_obj_path(path), scene.overwrite),
          big_endian_(big_endian)
    {
        fmt::memory_buffer text;
        obj_writer(scene)(flat_position(scene.sheet, scene.rest), text);
        rest_.write({text.data(), text.size()});
        file_.write(big_endian ? mdd_header(scene) : pc2_header(scene));
    }

    void frame(const ExportFrame& frame) override
    {
        if (!big_endian_) {
            file_.write(bytes_of_values(frame.position));
            return;
        }
        bytes_.clear();
        add_big(bytes_, frame.position);
        file_.write(bytes_);
    }

    void finish() override
    {
        rest_.publish();
        file_.publish();
    }

  private:
    PartFile file_, rest_;
    bool big_endian_;
    std::string bytes_;
};

}  // namespace

void check_cache_size(std::size_t frames, std::size_t points, const std::string& source)
{
    constexpr std::size_t kMost = std::numeric_limits<std::int32_t>::max();
    if (frames <= kMost && points <= kMost) return;
    throw Error(
        "{}: {} frames of {} points; a point cache counts up to {} of each, export usda or npz, or "
        "fewer frames with `rate`, `from` and `until`",
        source, frames, points, kMost);
}

std::unique_ptr<MotionExporter> make_mdd_exporter(const std::filesystem::path& path,
                                                  const ExportScene& scene)
{
    check_cache_size(scene.frame_count, scene.point_count(), scene.source);
    return std::make_unique<CacheExporter>(path, scene, true);
}

std::unique_ptr<MotionExporter> make_pc2_exporter(const std::filesystem::path& path,
                                                  const ExportScene& scene)
{
    check_cache_size(scene.frame_count, scene.point_count(), scene.source);
    return std::make_unique<CacheExporter>(path, scene, false);
}

}  // namespace springtime
