#include "formats/exports/motion_exporter.h"
#include "formats/exports/npz_file.h"

namespace springtime {

namespace {

class NpzExporter : public MotionExporter {
  public:
    NpzExporter(const std::filesystem::path& path, const ExportScene& scene)
        : scene_(scene), file_(path)
    {
        const std::vector<std::size_t> shape{scene.frame_count, scene.point_count(), 3};
        file_.begin("position", "<f4", shape);
        if (scene.velocities) file_.begin("velocity", "<f4", shape);
    }

    void frame(const ExportFrame& frame) override
    {
        file_.append("position", bytes_of_values(frame.position));
        if (scene_.velocities) file_.append("velocity", bytes_of_values(frame.velocity));
        time_.push_back(frame.time);
    }

    void finish() override
    {
        file_.add("time", "<f8", {time_.size()}, bytes_of_values(std::span<const double>(time_)));
        add_sheet();
        add_handles();
        file_.publish();
    }

  private:
    void add_sheet()
    {
        const auto& triangles = scene_.surface.triangles;
        file_.add("rest", "<f8", {scene_.point_count(), 2},
                  bytes_of_values(std::span<const SheetPoint>(scene_.rest)));
        file_.add("triangles", "<i4", {triangles.size(), 3},
                  bytes_of_values(std::span<const std::array<int, 3>>(triangles)));
    }

    void add_handles()
    {
        const Handles& handles = scene_.handles;
        const std::size_t count = handles.particles.size();
        file_.add("handles", "<i4", {count},
                  bytes_of_values(std::span<const int>(handles.particles)));
        if (!handles.moving()) return;
        file_.add("handle_time", "<f8", {handles.key_time.size()},
                  bytes_of_values(std::span<const double>(handles.key_time)));
        file_.add("handle_position", "<f8", {handles.key_time.size(), count, 3},
                  bytes_of_values(std::span<const Vec3d>(handles.key_position)));
    }

    const ExportScene& scene_;
    NpzFile file_;
    std::vector<double> time_;
};

}  // namespace

std::unique_ptr<MotionExporter> make_npz_exporter(const std::filesystem::path& path,
                                                  const ExportScene& scene)
{
    static_assert(sizeof(SheetPoint) == 16 && sizeof(Vec3d) == 24);
    return std::make_unique<NpzExporter>(path, scene);
}

}  // namespace springtime
