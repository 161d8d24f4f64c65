#include "formats/exports/motion_exporter.h"
#include "formats/exports/part_file.h"
#include "springtime/error.h"

namespace springtime {

namespace {

class MeshFolder : public MotionExporter {
  public:
    MeshFolder(const std::filesystem::path& path, std::string extension, MeshWriter writer)
        : folder_(path), extension_(std::move(extension)), writer_(std::move(writer))
    {
    }

    void frame(const ExportFrame& frame) override
    {
        bytes_.clear();
        writer_(frame.position, bytes_);
        folder_.write(fmt::format("frame_{:06}.{}", frame.number, extension_),
                      {bytes_.data(), bytes_.size()});
    }

    void finish() override { folder_.publish(); }

  private:
    PartFolder folder_;
    std::string extension_;
    MeshWriter writer_;
    fmt::memory_buffer bytes_;
};

}  // namespace

std::unique_ptr<MotionExporter> make_mesh_folder(const std::filesystem::path& path,
                                                 std::string extension, MeshWriter writer)
{
    return std::make_unique<MeshFolder>(path, std::move(extension), std::move(writer));
}

std::vector<float> flat_position(const Sheet& sheet, const std::vector<SheetPoint>& rest)
{
    std::vector<float> position;
    for (const SheetPoint& p : rest) {
        position.insert(position.end(),
                        {float(p.u - sheet.length / 2), 0.0f, float(p.v - sheet.width / 2)});
    }
    return position;
}

TexturePoint texture_point(const Sheet& sheet, const SheetPoint& point)
{
    return {float(point.u / sheet.length), float(1 - point.v / sheet.width)};
}

}  // namespace springtime
