#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "formats/exports/motion_exporter.h"

namespace springtime {

// Draws values at the points of a sheet as a square image of the whole sheet: north is at the top,
// so that the image fits the texture coordinates of the exported meshes. Linear within faces;
// outside all of them, what the nearest place of a face has.
class MapPainter {
  public:
    MapPainter(const ExportScene& scene, int size);

    // Rows from the top; 0 is 0 and 1 is 65535.
    std::vector<std::uint16_t> paint(const std::vector<float>& weights) const;

  private:
    // The points that a pixel is mixed of.
    struct Mix {
        std::array<int, 4> point{-1, 0, 0, 0};
        std::array<float, 4> share{};
    };

    void add_cells(const ExportScene& scene);
    void add_triangles(const ExportScene& scene);
    void add_points(const ExportScene& scene);
    void spread();

    int size_;
    std::vector<Mix> pixels_;
};

}  // namespace springtime
