#pragma once

#include <optional>
#include <string>
#include <vector>

#include "springtime/identify.h"
#include "springtime/learn.h"

namespace springtime {

// The mesh of a cloth that is learned from some landmarks, and why it is that one.
struct ChosenMesh {
    SheetMesh mesh;
    std::string reason;  // for people; empty if it was given
};

// The given mesh; the grid of the landmarks, cut as asked for or in the way that leaves the least
// of the forces unexplained; or else the Delaunay triangles of the landmarks, without those that
// are much larger than usual, which span bays of the outline. Throws Error where that is no sheet.
ChosenMesh choose_mesh(const LearnOptions& options, const Motion& motion,
                       const Progress& progress = {});

// Triangles and hinges on a mesh, or springs along its edges. Their parameters are one.
Cloth mesh_surrogate(const LearnOptions& options, const MotionHeader& header,
                     const SheetMesh& mesh);

// All parameters are shared by all; or by what has the same value of a map at its middle.
Regions one_region(const Cloth& cloth);
Regions regions_of_map(const Cloth& cloth, const ValueMap& map);
// What has the same parameters already, as an identification by regions leaves them.
Regions regions_of_values(const Cloth& cloth);
// Clusters of triangles by the logarithms of their stiffnesses, and of hinges by their bending
// (k-means). What was not seen joins the largest.
Regions clustered_regions(const Cloth& identified, int count);

}  // namespace springtime
