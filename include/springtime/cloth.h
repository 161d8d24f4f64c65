#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "springtime/geometry.h"
#include "springtime/vec3.h"

namespace springtime {

// The flat rest shape: a rectangle. u runs along the length (west to east, columns of a grid),
// v along the width (north to south, rows of a grid); the origin is the north-west corner.
struct Sheet {
    double length = 15.5;  // [m]
    double width = 15.5;   // [m]
    double mass = 102.4;   // [kg]; 0.1 kg for each of 32 x 32 particles
};

// Throws Error unless all three are finite and positive.
void check_sheet(const Sheet& sheet);

// A rectangle of values, row 0 at the north edge of the sheet.
struct ValueMap {
    int rows = 0, cols = 0;
    std::vector<double> values;  // rows x cols
};

// A number that varies over the sheet, painted in layers: each layer covers a region of the unit
// square (u to the east, v to the south) and either sets the value there or multiplies it.
class MaterialField {
  public:
    struct Range {
        double from = 0, to = 1;
    };
    // Bands of the full height, by their range of u.
    struct ColumnStripes {
        std::vector<Range> bands;
    };
    // Bands of the full length, by their range of v.
    struct RowStripes {
        std::vector<Range> bands;
    };
    struct Patch {
        Range u, v;
    };
    // Every second square of count x count.
    struct Checker {
        int count = 8;
    };
    struct Everywhere {};
    // Values themselves, interpolated bilinearly between cell centres.
    struct Map {
        ValueMap map;
    };
    using Region = std::variant<Everywhere, ColumnStripes, RowStripes, Patch, Checker, Map>;

    struct Layer {
        Region region;
        double value = 1;         // a Map multiplies its values by this
        bool multiplies = false;  // scale what lies beneath instead of replacing it
    };

    static MaterialField uniform(double value);

    MaterialField& paint(Layer layer);
    double at(double u, double v) const;  // u and v in [0, 1]

  private:
    std::vector<Layer> layers_;
};

// Reads a map file for a `map` layer: values scaled to [low, high] for an image, as they stand for
// a table of numbers (then low and high are not given).
using MapReader =
    std::function<ValueMap(const std::string& path, const MaterialField::Range* range)>;

// Parses the text form, layers separated by ';', for example
//   "25; columns 0.10-0.30 0.70-0.90 = 50; patch 0.34-0.66 0.34-0.66 = x4"
// The grammar is in docs/materials.md. Throws Error with the offending layer.
MaterialField parse_material(std::string_view text, const MapReader& read_map);

enum class SpringFamily : std::uint8_t { structural, diagonal, antidiagonal, bending };
inline constexpr std::array kSpringFamilies{SpringFamily::structural, SpringFamily::diagonal,
                                            SpringFamily::antidiagonal, SpringFamily::bending};
std::string_view name_of(SpringFamily family);

// A range of strain (l - L)/L in which springs have a stiffness of their own: the slope of the
// force there. The force is continuous, and zero at rest.
struct StiffnessRange {
    double from = 0, to = 0;        // the outermost ends may be infinite
    std::vector<double> stiffness;  // [N/m], one per spring
};

// Numbers for every spring, kind by kind in the order of SpringSet::parameters.
using SpringParameters = std::vector<std::vector<double>>;

// Parallel arrays, one entry per spring.
struct SpringSet {
    std::vector<std::array<int, 2>> ends;  // particle indices
    std::vector<SpringFamily> family;
    std::vector<double> rest_length;        // [m]
    std::vector<double> stiffness;          // [N/m], wherever no range says otherwise
    std::vector<double> damping;            // [N s/m], along the spring
    std::vector<StiffnessRange> ranges{};   // ascending, apart
    std::vector<double> isotropic_damping;  // [N s/m], against all relative velocity; may be empty

    std::size_t spring_count() const { return ends.size(); }
    // Kinds of parameters: stiffness, damping, the stiffness of each range, isotropic damping. The
    // force is linear in all of them.
    int kind_count() const;
    std::vector<double>& parameters(int kind);
    const std::vector<double>& parameters(int kind) const;
    bool is_damping(int kind) const;
};

SpringParameters parameters_of(const SpringSet& springs);
void set_parameters(SpringSet& springs, const SpringParameters& parameters);

// What springs can do beyond one stiffness and a dashpot along themselves.
struct SpringLaw {
    // Strains at which the stiffness changes, ascending; {0} keeps tension and compression apart.
    std::vector<double> knots;
    bool isotropic = false;  // a second dashpot, against all relative velocity
};

// Makes springs follow a law: every range begins with the stiffness there is, an isotropic dashpot
// with zero. The stiffness just above rest is `stiffness`, the others are ranges.
void set_law(SpringSet& springs, const SpringLaw& law);

// How well springs are known.
struct SpringErrors {
    // Standard errors, kind by kind; infinite where the motion said nothing.
    SpringParameters parameters;
    // Noise of the force balance they were identified from, as a density. [N s^(1/2)]
    double force = 0;
};

// What the damping of a triangle works against.
enum class TriangleDamping : std::uint8_t {
    deformation,  // every change of the deformation gradient: the common form; it also slows a
                  // rigid rotation, as if the sheet turned in syrup
    strain,       // the rate of strain alone: a sheet that turns rigidly turns for ever
};
inline constexpr std::array kTriangleDampings{TriangleDamping::deformation,
                                              TriangleDamping::strain};
std::string_view name_of(TriangleDamping damping);

// Parallel arrays, one entry per triangle. Numbers are per length or area of the sheet, so they do
// not depend on the size of the mesh. The rest shape is the flat one.
struct TriangleSet {
    std::vector<std::array<int, 3>> corners;  // particle indices, all turning the same way
    std::vector<double> shear_stiffness;      // mu [N/m]
    std::vector<double> area_stiffness;       // lambda [N/m]
    std::vector<double> damping;              // gamma [N s/m]
    TriangleDamping damping_kind = TriangleDamping::deformation;

    std::size_t triangle_count() const { return corners.size(); }
};

// Parallel arrays, one entry per interior edge of the mesh: it resists folding, and is flat at
// rest.
struct HingeSet {
    // The two ends of the edge, then the corners across it: the triangles are (0, 1, 2) and
    // (1, 0, 3).
    std::vector<std::array<int, 4>> corners;
    std::vector<double> stiffness;  // [N m] per radian
    std::vector<double> damping;    // [N m s] per radian

    std::size_t hinge_count() const { return corners.size(); }
};

struct Grid {
    int rows = 0, cols = 0;
};

// Particles and elements with their parameters; constant while it runs. A surrogate is a cloth of
// springs, a finite-element sheet one of triangles and hinges.
struct Cloth {
    Sheet sheet;
    std::optional<Grid>
        grid;  // set when particle r * cols + c is row r, column c of a regular grid
    std::vector<SheetPoint> rest;  // one per particle
    std::vector<double> mass;      // [kg], one per particle
    SpringSet springs;
    TriangleSet triangles{};
    HingeSet hinges{};
    std::optional<SpringErrors> errors{};  // of an identified cloth

    std::size_t particle_count() const { return rest.size(); }
};

// Throws Error naming `source` unless the arrays agree, indices are in range and numbers usable.
void check_cloth(const Cloth& cloth, std::string_view source);

// The points of a regular grid over the sheet, row by row from the north-west corner.
std::vector<SheetPoint> grid_points(const Sheet& sheet, const Grid& grid);

struct GridOptions {
    int rows = 32, cols = 32;
    bool structural = true, diagonal = true, antidiagonal = true, bending = true;
};

// A regular grid over the sheet with uniform particle mass. A spring takes the value of the
// material fields at its midpoint.
Cloth make_grid_cloth(const Sheet& sheet, const GridOptions& options,
                      const MaterialField& stiffness, const MaterialField& damping);

// The value of a material field at the midpoint of every spring.
std::vector<double> at_springs(const Cloth& cloth, const MaterialField& field);

// The smallest distance at rest between two particles that an element joins. [m]
double smallest_spacing(const Cloth& cloth);

// The particles within `radius` of a point of the flat sheet, or the nearest one where there are
// none.
std::vector<int> particles_within(const Cloth& cloth, const SheetPoint& center, double radius);

// The particles a name stands for: corner-nw, corner-ne, corner-sw, corner-se, edge-north,
// edge-south, edge-west, edge-east, center, particle:INDEX or grid:ROW,COL.
std::vector<int> particles_named(const Cloth& cloth, std::string_view name);

// A triangle mesh of a flat sheet.
struct SheetMesh {
    std::vector<SheetPoint> points;             // [m]
    std::vector<std::array<int, 3>> triangles;  // all turning the same way
    std::optional<Grid> grid;                   // set when the points are those of a regular grid
};

// How the cells of a grid are cut into triangles.
enum class MeshCut {
    diagonal,      // all from north-west to south-east
    antidiagonal,  // all from north-east to south-west
    alternating,   // by turns, like a chess board
};
std::string_view name_of(MeshCut cut);

// rows x cols points over the sheet.
SheetMesh make_grid_mesh(const Sheet& sheet, const Grid& grid, MeshCut cut);

// Throws Error naming `source` unless the mesh is one sound sheet: indices in range, no triangle
// without area, none upside down, no edge with more than two triangles, no point without one.
void check_mesh(const SheetMesh& mesh, std::string_view source);

// Of all triangles together. [m^2]
double mesh_area(const SheetMesh& mesh);

// What a finite-element sheet is made of, per length and area, so that the same sheet can be cut
// into meshes of any size.
struct MeshMaterial {
    MaterialField shear_stiffness = MaterialField::uniform(300);  // mu [N/m]
    MaterialField area_stiffness = MaterialField::uniform(300);   // lambda [N/m]
    MaterialField damping = MaterialField::uniform(0.3);          // gamma [N s/m]
    MaterialField bending = MaterialField::uniform(0.023);        // B [N m]; a third of D
    double bending_time = 1e-3;  // tau [s]: hinge damping over hinge stiffness
    TriangleDamping damping_kind = TriangleDamping::deformation;
};

// A cloth of triangles and hinges. A triangle takes the material at its centroid, a hinge at the
// middle of its edge; every triangle gives a third of its mass to each corner. Points must lie
// within the sheet.
Cloth make_mesh_cloth(const Sheet& sheet, const SheetMesh& mesh, const MeshMaterial& material);

// The triangles of a cloth: its own, or those that its grid suggests. Empty when there are neither.
std::vector<std::array<int, 3>> surface_triangles(const Cloth& cloth);

// A flat mesh as a sheet, moved so that the smallest u and v are zero. A level mesh keeps its
// x as u and its z as v; one that stands in the xy plane keeps x as u, with -y as v, so that north
// is up. In any other plane, u runs along the longer side of the smallest rectangle around the
// mesh, in the direction that leads more towards +x, and v so that triangles turn as those of
// make_grid_mesh() do when one looks at their front. Throws Error naming `source` when the mesh is
// not flat, or no sound sheet (check_mesh).
SheetMesh sheet_mesh(const TriangleMesh& mesh, std::string_view source);

// The rectangle around a mesh that begins at zero.
Sheet sheet_around(const SheetMesh& mesh, double mass);

}  // namespace springtime
