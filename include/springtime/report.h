#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "springtime/cloth.h"
#include "springtime/evaluate.h"
#include "springtime/geometry.h"
#include "springtime/identify.h"
#include "springtime/learn.h"
#include "springtime/motion.h"
#include "springtime/obstacle.h"
#include "springtime/simulation.h"

// Output for people: results as text or JSON, and pictures.
namespace springtime {

// ---- Results ----

// The result of a piece of work: an ordered tree of named values with units. Text and JSON are
// printed from the same tree, so they cannot disagree. The names are the keys of the JSON.
class Result {
  public:
    struct Entry;

    Result() = default;  // nothing: not known, or does not apply
    Result(bool value) : value_(value) {}
    template <std::integral T>
    Result(T value) : value_(std::int64_t(value))
    {
    }
    Result(double value) : value_(value) {}
    Result(std::string value) : value_(std::move(value)) {}
    Result(std::string_view value) : value_(std::string(value)) {}
    Result(const char* value) : value_(std::string(value)) {}
    template <class T>
    Result(const std::optional<T>& value)
    {
        if (value) *this = Result(*value);
    }
    template <class T>
    Result(const std::vector<T>& values);

    static Result tree();
    static Result list();

    // Adds a child at the end of a tree, or replaces the child of that name. Returns the child. The
    // next add() may invalidate that reference, so complete a child before adding it.
    Result& add(std::string name, Result value, std::string unit = {});
    Result& push(Result value);   // adds at the end of a list
    void say(std::string words);  // adds a line of text, which JSON leaves out

    // ---- How text shows it; no effect on JSON ----

    Result& label(std::string text);  // shown instead of the name; for a tree, its first line
    Result& percent();                // shows a share in percent
    Result& bars();                   // draws the last column of a table as bars, too
    Result& data_only();              // shows nothing
    Result& unless_zero();            // shows nothing if it is zero or empty
    // For numbers at even intervals of something: shows about ten of them, with bars.
    Result& along(double interval, std::string unit);
    Result& first(std::size_t rows);  // limits the rows of a table; 24 by default

    // ---- Reading ----

    const Result* find(std::string_view name) const;  // child of a tree; null if there is none
    const std::vector<Entry>& entries() const;        // of a tree or list; empty for values
    bool is_nothing() const { return std::holds_alternative<std::monostate>(value_); }
    bool is_tree() const;
    bool is_list() const;
    template <class T>
    const T* get_if() const  // bool, std::int64_t, double or std::string
    {
        return std::get_if<T>(&value_);
    }

    struct Style {
        std::string label, unit;
        bool percent = false, bars = false, data_only = false, unless_zero = false, words = false;
        std::optional<double> interval;
        std::string interval_unit;
        std::size_t rows = 24;
    };
    const Style& style() const { return style_; }

  private:
    struct Children {  // its members are defined where Entry is complete
        explicit Children(bool has_names);
        Children(const Children&);
        Children(Children&&) noexcept;
        Children& operator=(const Children&);
        Children& operator=(Children&&) noexcept;
        ~Children();

        bool named = false;
        std::vector<Entry> entries;
    };
    std::variant<std::monostate, bool, std::int64_t, double, std::string, Children> value_;
    Style style_;
};

struct Result::Entry {
    std::string name;  // empty in lists
    Result value;
};

template <class T>
Result::Result(const std::vector<T>& values) : Result(list())
{
    for (const auto& value : values) push(Result(T(value)));
}

// Aligned lines of values with their units. Trees that are alike become a table. The text ends with
// a new line.
std::string to_text(const Result& result);
// Tables of values with their units, one within the other, for a page or a notebook. What stands in
// names and values stays text, whatever it holds.
std::string to_html(const Result& result);
// The keys are in the order of the tree. Numbers that are not finite are null. The text is one line
// without `indent`.
std::string to_json(const Result& result, std::optional<int> indent = {});

// ---- Reports ----

// Sheet, particles, and how the parameters are spread.
Result report_of(const Cloth& cloth);
// What a motion holds; the ranges of its numbers are over at most so many of its rollouts.
Result report_of(const Motion& motion, std::size_t most_rollouts, const Progress& progress = {});
// How closely a cloth follows a motion.
Result report_of(const Evaluation& evaluation);
// What was learned and how, and how a linear answer was found.
Result report_of(const Learned& learned);
Result report_of(const Identification& found);
// What could be recorded next, and what is known now; experiments as rank_experiments() has them.
Result report_experiments(const Cloth& cloth, const std::vector<Experiment>& ranking);
// How well an identified cloth is known. `held`: particles that are handles in all rollouts
// (held_throughout); empty where that is not known.
Result report_determination(const Cloth& cloth, const std::vector<bool>& held,
                            const std::vector<Experiment>& ranking);

// ---- Fabrics ----

// A number of a fabric over the sheet. Elements count by their area.
struct FabricValue {
    double median = 0;
    double low = 0, high = 0;       // a twentieth of the sheet lies below, and one above
    std::optional<double> error{};  // standard error of one element: the median over the sheet
    double mean = 0;                // over what the motion showed
    std::optional<double> mean_error{};
};

// What a sheet of triangles and hinges is made of, in the words of textile testing. Errors are
// propagated to first order. Parameters of an element count as independent; elements with the same
// parameters and errors are one region and one unknown, all others are independent.
struct Fabric {
    bool orthotropic = false;
    FabricValue young_warp, young_weft;  // of the sheet: modulus times thickness [N/m]
    // Contraction across over extension along warp, along weft.
    FabricValue poisson_warp, poisson_weft;
    FabricValue shear;    // modulus times thickness [N/m]
    FabricValue damping;  // gamma [N s/m]
    // Rigidity of the continuous sheet, when it is curved along warp or weft [N m], and damping of
    // folds over their stiffness [s]. Absent without hinges across that direction.
    std::optional<FabricValue> bending_warp{}, bending_weft{}, bending_time{};
    double density = 0;  // [kg/m^2]
};

// Throws Error for a cloth without triangles.
Fabric fabric_of(const Cloth& cloth);

// A fabric that was measured: Wang, O'Brien and Ramamoorthi 2011 (docs/fabrics.md).
struct MeasuredFabric {
    std::string name, use, fibres;
    double density = 0;                         // [kg/m^2]
    double young_warp = 0, young_weft = 0;      // at small strain [N/m]
    double shear = 0;                           // [N/m]
    double bending_warp = 0, bending_weft = 0;  // at small curvature [N m]
};
std::vector<MeasuredFabric> measured_fabrics();

// The fabric of a cloth beside measured ones, and its regions if it has few.
Result report_fabric(const Cloth& cloth);

// ---- Pictures ----

// 8-bit RGB, row by row from the top.
struct Picture {
    int width = 0, height = 0;
    std::vector<std::uint8_t> rgb;
};

// Draws the cloth at several times side by side, under one camera. Springs are coloured by their
// stiffness, triangles by their shear stiffness. Obstacles are grey.
Picture draw_frames(const Cloth& cloth, const std::vector<State>& frames,
                    const std::vector<Obstacle>& obstacles = {});

// Draws the flat sheet with a scale. Springs are coloured by their stiffness, triangles by their
// shear stiffness.
Picture draw_stiffness(const Cloth& cloth);

// The same for bends, coloured by their stiffness, or for hinges, coloured by the bending of the
// material.
Picture draw_bending(const Cloth& cloth);

// A cloth to be drawn beside others.
struct DrawnCloth {
    std::string title;
    Cloth cloth;
    std::vector<State> frames;  // not needed for the flat sheet
};

// Several cloths at the same times: a row for each, under one camera and in the colours of one
// scale. All need the same number of frames, 1 to 8.
Picture draw_frames(const std::vector<DrawnCloth>& cloths);

// Several flat sheets side by side, in the colours of one scale. All are made of springs, or all of
// triangles.
Picture draw_stiffness(const std::vector<DrawnCloth>& cloths);

// Curves over the same even steps, on a logarithmic scale; values that are not positive are left
// out.
struct DrawnCurve {
    std::string title;
    std::vector<double> values;
};
Picture draw_curves(const std::vector<DrawnCurve>& curves, double interval,
                    const std::string& across, const std::string& up);

// Draws the flat sheet with every spring or triangle coloured by the standard error of its
// stiffness, relative to the stiffness. Those that the motion says nothing about are grey.
Picture draw_determination(const Cloth& cloth);

// The bytes of a PNG file.
std::string to_png(const Picture& picture);
void write_png(const std::filesystem::path& path, const Picture& picture, bool overwrite = true);

// The part of an infinite plane that a picture shows: a square of `side` around the point of the
// plane that is nearest to `middle`.
struct PlaneCut {
    Vec3d middle;
    double side = 10;  // [m]
};

// The surface of an obstacle at a time, for pictures. Shapes are sampled at about a hundred points
// along the longest side, which smooths them.
TriangleMesh obstacle_surface(const Obstacle& obstacle, double time, const PlaneCut& cut = {});

}  // namespace springtime
