#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "springtime/geometry.h"
#include "springtime/vec3.h"

// A cloth: its flat rest shape, its particles, and the elements that join them. From top to bottom:
// the sheet, numbers that vary over it, springs, bends, triangles, hinges, couplings, rods, the
// cloth, laws of springs, parameters by name, functions that build a cloth, and functions that ask
// about one.
namespace springtime {

// ---- The sheet

// The flat rest shape: a rectangle. u runs along the length (west to east, the columns of a grid)
// and v along the width (north to south, the rows of a grid). The origin is the north-west corner.
struct Sheet {
    double length = 0;  // [m]
    double width = 0;   // [m]
    double mass = 0;    // [kg], of the whole sheet
};

// Throws Error unless all three are finite and positive.
void check_sheet(const Sheet& sheet);

// Particle r * cols + c lies in row r and column c.
struct Grid {
    int rows = 0, cols = 0;
};

// The points of a regular grid over the sheet, row by row from the north-west corner. A grid of one
// row or one column is a rope. It lies along the middle of the sheet, whose size across it is
// nominal.
std::vector<SheetPoint> grid_points(const Sheet& sheet, const Grid& grid);

// ---- Numbers that vary over the sheet

// A rectangle of values. Row 0 lies at the north edge of the sheet.
struct ValueMap {
    int rows = 0, cols = 0;
    std::vector<double> values;  // rows x cols
};

// A number that varies over the sheet. It is painted in layers: each layer covers a region of the
// unit square (u to the east, v to the south) and either sets the value there or multiplies it.
class MaterialField {
  public:
    struct Range {
        double from = 0, to = 1;
    };
    // Bands of the full height, each by its range of u.
    struct ColumnStripes {
        std::vector<Range> bands;
    };
    // Bands of the full length, each by its range of v.
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
    // The values of a map, interpolated bilinearly between cell centres.
    struct Map {
        ValueMap map;
    };
    using Region = std::variant<Everywhere, ColumnStripes, RowStripes, Patch, Checker, Map>;

    struct Layer {
        Region region;
        double value = 1;         // a Map multiplies its values by this
        bool multiplies = false;  // scales the layers beneath instead of replacing them
    };

    static MaterialField uniform(double value);

    MaterialField& paint(Layer layer);
    double at(double u, double v) const;  // u and v in [0, 1]

  private:
    std::vector<Layer> layers_;
};

// Reads the file of a `map` layer. An image is scaled to `range`, from black to white. A table of
// numbers is taken as it is, and then there is no range.
using MapReader = std::function<ValueMap(const std::string& path,
                                         const std::optional<MaterialField::Range>& range)>;

// Parses the text form, layers separated by ';', for example
//   "25; columns 0.10-0.30 0.70-0.90 = 50; patch 0.34-0.66 0.34-0.66 = x4"
// docs/materials.md has the grammar. Throws Error that quotes the wrong layer.
MaterialField parse_material(std::string_view text, const MapReader& read_map);

// ---- Springs

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

// Parallel arrays, one entry per spring. parameter_kinds() describes those that are parameters.
struct SpringSet {
    std::vector<std::array<int, 2>> ends;  // particle indices
    std::vector<SpringFamily> family;
    std::vector<double> rest_length;        // [m]
    std::vector<double> stiffness;          // [N/m], outside of all ranges
    std::vector<double> damping;            // [N s/m], along the spring
    std::vector<StiffnessRange> ranges{};   // in ascending order, without overlap
    std::vector<double> isotropic_damping;  // [N s/m], in all directions; empty: there is none

    std::size_t spring_count() const { return ends.size(); }
};

// ---- Bends

enum class BendFamily : std::uint8_t { straight, diagonal, antidiagonal };
inline constexpr std::array kBendFamilies{BendFamily::straight, BendFamily::diagonal,
                                          BendFamily::antidiagonal};
std::string_view name_of(BendFamily family);

// Bending that is quadratic in positions: of three neighbours in line, along a row or a column
// (straight) or along a diagonal of a grid. Parallel arrays, one entry per bend. With
// e = x_a - 2 x_m + x_b the energy is kappa/2 |e|^2, and eta resists the rate of e.
struct BendSet {
    std::vector<std::array<int, 3>> particles;  // a, the middle m, b; from north to south, or east
    std::vector<BendFamily> family;
    std::vector<double> stiffness;  // kappa [N/m]
    std::vector<double> damping;    // eta [N s/m]

    std::size_t bend_count() const { return particles.size(); }
};

// ---- Triangles and hinges

// What the damping of a triangle resists.
enum class TriangleDamping : std::uint8_t {
    deformation,  // every change of the deformation gradient: the common form. It also slows a
                  // rigid rotation, as if the sheet turned in syrup.
    strain,       // the rate of strain alone: a sheet that turns rigidly turns for ever
};
inline constexpr std::array kTriangleDampings{TriangleDamping::deformation,
                                              TriangleDamping::strain};
std::string_view name_of(TriangleDamping damping);

// Parallel arrays, one entry per triangle. The numbers are per length or area of the sheet, so they
// do not depend on the size of the mesh. The rest shape is flat.
struct TriangleSet {
    std::vector<std::array<int, 3>> corners;  // particle indices, all turning the same way
    std::vector<double> shear_stiffness;      // mu [N/m]
    std::vector<double> area_stiffness;       // lambda [N/m]
    std::vector<double> damping;              // gamma [N s/m]
    // Added to stretch along the sheet's u (warp) and v (weft). [N/m]; empty: there is none
    std::vector<double> warp_stiffness{}, weft_stiffness{};
    TriangleDamping damping_kind = TriangleDamping::deformation;

    std::size_t triangle_count() const { return corners.size(); }
};

// Parallel arrays, one entry per interior edge of the mesh. A hinge resists folding along its edge
// and is flat at rest.
struct HingeSet {
    // The two ends of the edge, then the corners across it: the triangles are (0, 1, 2) and
    // (1, 0, 3).
    std::vector<std::array<int, 4>> corners;
    std::vector<double> stiffness;  // [N m] per radian
    std::vector<double> damping;    // [N m s] per radian

    std::size_t hinge_count() const { return corners.size(); }
};

// ---- Couplings

// Products of the stretches of two edges that meet in a particle: with them, springs resist area
// and shear as a continuous sheet does (Delingette 2008). Parallel arrays, one entry per coupling.
// The energy is c (l1 - L1)(l2 - L2) with the lengths l of the edges from the apex to the two
// others. c may be negative: the diagonal of a cell and its sides stretch together.
struct CouplingSet {
    std::vector<std::array<int, 3>> corners;         // the apex, then the ends of the edges
    std::vector<std::array<double, 2>> rest_length;  // L1, L2 [m]
    std::vector<double> stiffness;                   // c [N/m]

    std::size_t coupling_count() const { return corners.size(); }
};

// ---- Rods

// How a rope bends and twists, beside the springs along it: as an elastic rod that is as stiff all
// along but need not be straight by itself. Edges run from each particle to the next and meet in
// joints. Every edge has a frame, two directions across it that turn with the material.
struct Rod {
    // A held end. Its first direction is `normal` while its edge points along `tangent`, and has
    // turned with the edge on the shortest way where that points elsewhere. Both are unit vectors.
    struct Clamp {
        Vec3d tangent{}, normal{};
    };
    double bending = 0;          // B [N m^2]
    double bending_damping = 0;  // [N m^2 s]
    double twisting = 0;         // G [N m^2]
    // By itself, of every joint, along the two directions of the frame. [1/m]
    std::vector<std::array<double, 2>> curvature{};
    // An end without a clamp turns freely about itself. At least one end has one.
    std::optional<Clamp> first{}, last{};
};

// ---- The cloth

// Numbers for the learned parameters of a cloth: one array for each of learned_parameters(), with
// one number per element.
using ParameterValues = std::vector<std::vector<double>>;

// How well the parameters of an identified cloth are known.
struct StandardErrors {
    ParameterValues parameters;  // infinite where the motion said nothing
    double force = 0;            // density of the noise in the force balance [N s^(1/2)]
};

// A number that was fitted, with its standard error; without one it was given.
struct FittedNumber {
    double value = 0;
    std::optional<double> error{};
};

// Where a held landmark really is, beside its stated path. [m]
struct HeldOffset {
    int landmark = 0;
    Vec3d offset{}, error{};  // the errors are zero if the offset was given
};

// How a tracker shows a cloth beside where it is. It follows edges and spreads landmarks between
// them, so the same ones are off in the same way in every frame. [m]
struct TrackerBias {
    std::vector<Vec3d> common{};   // seen minus real, by landmark, alike in all recordings
    std::vector<Vec3d> hanging{};  // landmarks from the mean of held ones, in a cloth at rest
    // A recording that begins at rest shows its own bias beside `common` and `hanging` in the first
    // frame, with noise. This share of what it shows is in all of its frames.
    double own = 0;
};

// What a capture states only roughly and all of its recordings share. It is fitted before the
// springs, because it moves the cloth more than they do. with_globals() (motion.h) applies it to a
// motion. Mass is not among it: all forces scale with it, so motion alone does not show it.
struct Globals {
    double stated_length = 0, stated_width = 0;  // of the sheet [m]
    FittedNumber length, width;                  // [m]
    FittedNumber drag;                           // [1/s]
    // Mass of the air that moves with the cloth, over the mass of the cloth. Gravity pulls the
    // cloth alone, so all falls slower.
    FittedNumber air{};
    Vec3d gravity{};                     // tilted, and weaker by the air [m/s^2]
    FittedNumber tilt_x, tilt_z;         // of gravity towards x and z [rad]
    FittedNumber delay;                  // of the cloth behind the stated paths [s]
    std::array<FittedNumber, 3> turn{};  // of stated paths: rotation vector [rad]
    // Of stated paths, before the turn: strains xx, yy, zz, yz, zx, xy. Arms and cameras measure
    // lengths with errors of some percent.
    std::array<FittedNumber, 6> stretch{};
    std::vector<HeldOffset> offsets{};
    std::optional<TrackerBias> tracker{};
    // If the stated paths are noisy: held points move as one solid that does not turn, and its path
    // is smoothed over this time to either side. [s]
    std::optional<double> steadied{};
};

// Particles and elements with their parameters. It is constant while it runs. A surrogate is a
// cloth of springs, with bends or without; a finite-element sheet is a cloth of triangles and
// hinges.
struct Cloth {
    Sheet sheet;
    std::optional<Grid> grid;      // set when the particles form a regular grid
    std::vector<SheetPoint> rest;  // one per particle
    std::vector<double> mass;      // [kg], one per particle
    SpringSet springs;
    BendSet bends{};
    TriangleSet triangles{};
    HingeSet hinges{};
    CouplingSet couplings{};
    std::optional<Rod> rod{};                // of a rope, whose springs join neighbours in order
    std::optional<StandardErrors> errors{};  // of an identified cloth
    std::optional<Globals> globals{};        // of a cloth that was learned from captured motion

    std::size_t particle_count() const { return rest.size(); }
};

// Throws Error naming `source` unless the arrays have matching sizes, indices are in range and
// numbers are valid.
void check_cloth(const Cloth& cloth, std::string_view source);

// What is odd about a cloth that can run all the same: springs twice, rest lengths unlike the
// distance of their ends, particles at one place, masses unlike the sheet's, a grid that its rest
// positions contradict. A sentence for each.
std::vector<std::string> doubts_of(const Cloth& cloth);
// What a sheet may have at all.
struct Extremes {
    double least, most;
};
inline constexpr Extremes kSheetSide{1e-4, 1e4};  // [m]
inline constexpr Extremes kSheetMass{1e-9, 1e7};  // [kg]
// A sentence where a sheet weighs what no fabric does, for its size; otherwise nothing.
std::optional<std::string> doubt_about_mass(const Sheet& sheet);

// ---- Laws of springs

// What a network can do beyond one stiffness and a dashpot along every spring.
struct SpringLaw {
    // Strains at which the stiffness changes, in ascending order. {0} gives tension and compression
    // a stiffness each.
    std::vector<double> knots;
    bool isotropic = false;  // a second dashpot, against all relative velocity
    bool bends = false;      // quadratic bending along rows, columns and both diagonals of a grid
    bool couplings = false;  // of the edges of every triangle
};

// Laws by name: "published" is a stiffness and a dashpot along the spring; "full" has a stiffness
// of its own in compression, isotropic dashpots and bends; "coupled" has isotropic dashpots, bends
// and couplings. Throws Error for another name.
SpringLaw law_named(std::string_view name);

// Makes a cloth follow a law. Every range begins with the stiffness that the springs have;
// isotropic dashpots, bends and couplings begin with zero. `stiffness` is that just above rest; the
// others are ranges. Throws Error for bends of a cloth that is not a grid, unless it has couplings,
// too: then the bends are left out. Throws Error for couplings where no springs form a triangle.
void set_law(Cloth& cloth, const SpringLaw& law);

// ---- Parameters by name

// The element that a parameter belongs to.
enum class Element : std::uint8_t { spring, bend, triangle, hinge, coupling };
inline constexpr std::array kElements{Element::spring, Element::bend, Element::triangle,
                                      Element::hinge, Element::coupling};
std::string_view name_of(Element element);
std::size_t element_count(const Cloth& cloth, Element element);

enum class ParameterRole : std::uint8_t {
    stiffness,  // resists deformation
    damping,    // resists the rate of deformation
};

enum class ParameterPresence : std::uint8_t {
    always,     // every element has it
    optional,   // all elements of a cloth have it, or none
    per_range,  // a spring has it once for each range of strain
};

// A kind of parameter: elements have one number of each of their kinds. Simulation, learning, files
// and printing loop over the table of kinds. A new kind needs its array in the element set above,
// its row in the table, and its term in the formula of the element.
struct ParameterKind {
    std::string_view name;   // in files and results: "isotropic_damping"
    std::string_view label;  // for people: "isotropic damping"
    std::string_view unit;   // "N s/m"
    Element element;
    ParameterRole role;
    ParameterPresence presence;
    double lower_bound;        // the smallest valid value
    bool learned;              // the force is linear in it, and its gradient is known
    int file_version;          // of the first cloth files that have it
    std::string_view meaning;  // one sentence
    // The array of a cloth; `range` counts for ParameterPresence::per_range alone.
    std::vector<double>& (*values)(Cloth& cloth, std::size_t range);
};

// The table. The kinds of an element come in the order in which its formula takes them.
std::span<const ParameterKind> parameter_kinds();

// One array of parameters that a cloth has.
struct Parameter {
    const ParameterKind* kind;
    std::size_t range;  // index into SpringSet::ranges, for ParameterPresence::per_range
    // Its number among all parameters that the formula of its element takes, whether the cloth has
    // them or not.
    std::size_t slot;

    bool is_damping() const { return kind->role == ParameterRole::damping; }
    bool in_range() const { return kind->presence == ParameterPresence::per_range; }
};

// The parameters of one type of element, in the order of the table; those of all elements that a
// cloth has; and those of them that can be learned.
std::vector<Parameter> parameters_in(const Cloth& cloth, Element element);
std::vector<Parameter> parameters_in(const Cloth& cloth);
std::vector<Parameter> learned_parameters(const Cloth& cloth);

std::vector<double>& values_of(Cloth& cloth, const Parameter& parameter);
const std::vector<double>& values_of(const Cloth& cloth, const Parameter& parameter);

// For people: "stiffness from strain 0.1 to inf".
std::string label_of(const Cloth& cloth, const Parameter& parameter);

// Elements whose parameters are compared with each other: springs or bends of one family, or all
// elements of another type.
struct ElementFamily {
    std::string_view name;  // "structural"
    std::vector<std::size_t> members;
};
// The families that have members.
std::vector<ElementFamily> families_of(const Cloth& cloth, Element element);

// The values of all learned parameters.
ParameterValues parameters_of(const Cloth& cloth);
void set_parameters(Cloth& cloth, const ParameterValues& values);

// ---- Builders

// A grid of springs. By default it has all four families.
struct GridOptions {
    int rows = 0, cols = 0;
    bool structural = true, diagonal = true, antidiagonal = true, bending = true;
};

// A regular grid over the sheet. All particles have the same mass. A spring takes the value of the
// material fields at its midpoint.
Cloth make_grid_cloth(const Sheet& sheet, const GridOptions& options,
                      const MaterialField& stiffness, const MaterialField& damping);

// A triangle mesh of a flat sheet.
struct SheetMesh {
    std::vector<SheetPoint> points;             // [m]
    std::vector<std::array<int, 3>> triangles;  // all turning the same way
    std::optional<Grid> grid;                   // set when the points form a regular grid
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

// Throws Error naming `source` unless the mesh is one valid sheet: indices in range, no triangle
// without area, none upside down, no edge with more than two triangles, no point without one.
void check_mesh(const SheetMesh& mesh, std::string_view source);

// The area of all triangles together. [m^2]
double mesh_area(const SheetMesh& mesh);

// Turns a flat mesh in space into one of a sheet, moved so that the smallest u and v are zero. A
// level mesh keeps its x as u and its z as v. A mesh that stands in the xy plane keeps x as u, and
// -y becomes v, so that north is up. In any other plane, u runs along the longer side of the
// smallest rectangle around the mesh, in the direction that leads more towards +x; v is such that
// triangles turn as those of make_grid_mesh() do when seen from their front. Throws Error naming
// `source` when the mesh is not flat, or not a valid sheet (check_mesh).
SheetMesh sheet_mesh(const TriangleMesh& mesh, std::string_view source);

// The rectangle around a mesh that begins at zero.
Sheet sheet_around(const SheetMesh& mesh, double mass);

// The material of a finite-element sheet, per length and area, so that the same sheet can be cut
// into meshes of any size.
struct MeshMaterial {
    MaterialField shear_stiffness = MaterialField::uniform(300);  // mu [N/m]
    MaterialField area_stiffness = MaterialField::uniform(300);   // lambda [N/m]
    MaterialField damping = MaterialField::uniform(0.3);          // gamma [N s/m]
    // Added along u and v [N/m]; where one is given, the other is zero unless given too.
    std::optional<MaterialField> warp_stiffness{}, weft_stiffness{};
    MaterialField bending = MaterialField::uniform(0.023);  // B [N m]; a third of D
    double bending_time = 1e-3;  // tau [s]: hinge damping over hinge stiffness
    TriangleDamping damping_kind = TriangleDamping::deformation;
};

// A cloth of triangles and hinges. A triangle takes the material at its centroid, a hinge at the
// middle of its edge. Every triangle gives a third of its mass to each corner. The points must lie
// within the sheet.
Cloth make_mesh_cloth(const Sheet& sheet, const SheetMesh& mesh, const MeshMaterial& material);

// A network of springs on the same points, with the same masses: along the edges of the triangles
// (structural), and between the corners across every inner edge, against folding (bending), unless
// these are joined already.
Cloth make_mesh_network(const Sheet& sheet, const SheetMesh& mesh, const MaterialField& stiffness,
                        const MaterialField& damping);

// ---- Queries

// What the shape of every hinge in the flat sheet makes of the bending B of the material: its
// stiffness is K = B times 3 |e|^2 / (A1 + A2), with the edge e and the areas of the triangles
// beside it.
std::vector<double> hinge_shapes(const Cloth& cloth);

// The value of a material field at the midpoint of every spring, and at the middle of every bend.
std::vector<double> at_springs(const Cloth& cloth, const MaterialField& field);
std::vector<double> at_bends(const Cloth& cloth, const MaterialField& field);

// The smallest distance at rest between two particles that an element joins. [m]
double smallest_spacing(const Cloth& cloth);

// The largest curvature that a rod has by itself. [1/m]
double largest_curvature(const Rod& rod);

// The particles within `radius` of a point of the flat sheet, or the nearest particle when there
// are none.
std::vector<int> particles_within(const Cloth& cloth, const SheetPoint& center, double radius);

// The particles that a name stands for: corner-nw, corner-ne, corner-sw, corner-se, edge-north,
// edge-south, edge-west, edge-east, center, particle:INDEX or grid:ROW,COL.
std::vector<int> particles_named(const Cloth& cloth, std::string_view name);

// The triangles of a cloth: its own, or those that its grid suggests. Empty when there are neither.
std::vector<std::array<int, 3>> surface_triangles(const Cloth& cloth);

}  // namespace springtime
