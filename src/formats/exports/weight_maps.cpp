#include <algorithm>
#include <cmath>
#include <limits>

#include "cloth/hinge_shape.h"
#include "springtime/error.h"
#include "springtime/export.h"

namespace springtime {

namespace {

// Sums over the elements at every particle.
class CornerMeans {
  public:
    explicit CornerMeans(const Cloth& cloth)
        : cloth_(cloth), sum_(cloth.particle_count(), 0), count_(cloth.particle_count(), 0)
    {
    }

    template <class Corners>
    void add(const Corners& corners, double value)
    {
        for (const int corner : corners) {
            sum_[corner] += value;
            ++count_[corner];
        }
        any_ = true;
    }

    // Empty when there was no element at all.
    std::vector<double> values() const
    {
        if (!any_) return {};
        std::vector<double> values(sum_.size());
        for (std::size_t p = 0; p < sum_.size(); ++p) {
            values[p] = count_[p] > 0 ? sum_[p] / count_[p] : mean_of_nearest(p);
        }
        return values;
    }

  private:
    // Of the particles with a value that are as near in the flat sheet as any.
    double mean_of_nearest(std::size_t particle) const
    {
        constexpr double kAsNear = 1 + 1e-9;
        const SheetPoint at = cloth_.rest[particle];
        double nearest = std::numeric_limits<double>::infinity(), sum = 0;
        int count = 0;
        for (std::size_t p = 0; p < sum_.size(); ++p) {
            if (count_[p] == 0) continue;
            const double distance = std::hypot(cloth_.rest[p].u - at.u, cloth_.rest[p].v - at.v);
            if (distance > nearest * kAsNear) continue;
            if (distance * kAsNear < nearest) {
                nearest = distance;
                sum = count = 0;
            }
            sum += sum_[p] / count_[p];
            ++count;
        }
        return sum / count;
    }

    const Cloth& cloth_;
    std::vector<double> sum_;
    std::vector<int> count_;
    bool any_ = false;
};

enum class Direction { any, warp, weft };

Direction direction_of(const Cloth& cloth, const std::array<int, 2>& ends)
{
    const SheetPoint a = cloth.rest[ends[0]], b = cloth.rest[ends[1]];
    return std::abs(b.u - a.u) >= std::abs(b.v - a.v) ? Direction::warp : Direction::weft;
}

std::vector<double> spring_values(const Cloth& cloth, const std::vector<double>& parameter,
                                  std::initializer_list<SpringFamily> families, Direction direction)
{
    CornerMeans means(cloth);
    for (std::size_t s = 0; s < cloth.springs.spring_count(); ++s) {
        const auto& ends = cloth.springs.ends[s];
        if (std::count(families.begin(), families.end(), cloth.springs.family[s]) == 0) continue;
        if (direction != Direction::any && direction_of(cloth, ends) != direction) continue;
        means.add(ends, parameter[s]);
    }
    return means.values();
}

// Each direction counts alike, however many springs it has at a particle.
std::vector<double> mean_of(const std::vector<double>& a, const std::vector<double>& b)
{
    if (a.empty()) return b;
    if (b.empty()) return a;
    std::vector<double> mean(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) mean[i] = (a[i] + b[i]) / 2;
    return mean;
}

// What the maps of one kind of parameter have in common.
struct MapKind {
    std::string before, after;  // around the name
    std::string unit, strain;
};

class MapMaker {
  public:
    MapMaker(const Cloth& cloth, MapScale scale) : cloth_(cloth), scale_(scale) {}

    void add_springs(const std::vector<double>& parameter, const MapKind& kind)
    {
        using enum SpringFamily;
        add_directions("stretch", parameter, structural, kind);
        add("shear", spring_values(cloth_, parameter, {diagonal, antidiagonal}, Direction::any),
            kind);
        add_directions("bend", parameter, bending, kind);
    }

    // Every bend counts at its middle.
    void add_bends(const std::vector<double>& parameter, const MapKind& kind)
    {
        const auto values = [&](bool straight, Direction direction) {
            CornerMeans means(cloth_);
            for (std::size_t i = 0; i < cloth_.bends.bend_count(); ++i) {
                const auto [a, middle, b] = cloth_.bends.particles[i];
                if ((cloth_.bends.family[i] == BendFamily::straight) != straight) continue;
                if (straight && direction_of(cloth_, {a, b}) != direction) continue;
                means.add(std::array{middle}, parameter[i]);
            }
            return means.values();
        };
        const auto warp = values(true, Direction::warp), weft = values(true, Direction::weft);
        add("warp", warp, kind);
        add("weft", weft, kind);
        add("diagonal", values(false, Direction::any), kind);
        add("straight", mean_of(warp, weft), kind);
    }

    void add_elements()
    {
        const TriangleSet& triangles = cloth_.triangles;
        add("shear_modulus", means_of(triangles.corners, triangles.shear_stiffness),
            {"", "", "N/m", ""});
        add("area_modulus", means_of(triangles.corners, triangles.area_stiffness),
            {"", "", "N/m", ""});
        add("damping", means_of(triangles.corners, triangles.damping), {"", "", "N s/m", ""});
        if (!triangles.warp_stiffness.empty()) {
            add("warp_modulus", means_of(triangles.corners, triangles.warp_stiffness),
                {"", "", "N/m", ""});
        }
        if (!triangles.weft_stiffness.empty()) {
            add("weft_modulus", means_of(triangles.corners, triangles.weft_stiffness),
                {"", "", "N/m", ""});
        }
        // A cloth with bending springs too has a map of that name already.
        const bool taken = std::any_of(maps_.begin(), maps_.end(),
                                       [](const WeightMap& map) { return map.name == "bend"; });
        const std::string name = taken ? "bend_hinges" : "bend";
        // That of the material: hinges of one material differ by their shape.
        const HingeSet& hinges = cloth_.hinges;
        std::vector<double> bending, damping;
        for (std::size_t h = 0; h < hinges.hinge_count(); ++h) {
            const double shape = hinge_shape(cloth_.rest, hinges.corners[h]);
            bending.push_back(hinges.stiffness[h] / shape);
            damping.push_back(hinges.damping[h] / shape);
        }
        add(name, means_of(hinges.corners, bending), {"", "", "N m", ""});
        add(name, means_of(hinges.corners, damping), {"damping_", "", "N m s", ""});
    }

    void add_couplings()
    {
        const CouplingSet& set = cloth_.couplings;
        if (scale_ == MapScale::logarithmic &&
            std::any_of(set.stiffness.begin(), set.stiffness.end(),
                        [](double value) { return value < 0; })) {
            throw Error(Field{"scale"},
                        "couplings are negative in places, and have no logarithm there; use the "
                        "linear scale");
        }
        add("coupling", means_of(set.corners, set.stiffness), {"", "", "N/m", ""});
    }

    std::vector<WeightMap> take() { return std::move(maps_); }

  private:
    template <class Corners>
    std::vector<double> means_of(const std::vector<Corners>& corners,
                                 const std::vector<double>& values) const
    {
        CornerMeans means(cloth_);
        for (std::size_t i = 0; i < corners.size(); ++i) means.add(corners[i], values[i]);
        return means.values();
    }

    void add_directions(const std::string& name, const std::vector<double>& parameter,
                        SpringFamily family, const MapKind& kind)
    {
        const auto warp = spring_values(cloth_, parameter, {family}, Direction::warp);
        const auto weft = spring_values(cloth_, parameter, {family}, Direction::weft);
        add(name + "_warp", warp, kind);
        add(name + "_weft", weft, kind);
        add(name, mean_of(warp, weft), kind);
    }

    void add(const std::string& name, std::vector<double> values, const MapKind& kind)
    {
        if (values.empty()) return;
        WeightMap map;
        map.name = kind.before + name + kind.after;
        map.unit = kind.unit;
        map.strain = kind.strain;
        map.value = std::move(values);
        set_weights(map);
        maps_.push_back(std::move(map));
    }

    void set_weights(WeightMap& map) const
    {
        const bool log = scale_ == MapScale::logarithmic;
        std::vector<double> shown = map.value;
        if (log) std::erase(shown, 0.0);
        map.below_low = map.value.size() - shown.size();
        if (shown.empty()) shown.push_back(0);
        const auto [low, high] = std::minmax_element(shown.begin(), shown.end());
        map.low = *low;
        map.high = *high;
        // Numbers that are learned to be equal differ a little, which is not to be blown up to a
        // map from black to white.
        constexpr double kSame = 1e-3;
        if (map.high - map.low <= kSame * std::abs(map.high) && map.below_low == 0) {
            map.low = map.high;
        }
        for (const double value : map.value) map.weight.push_back(weight_of(map, value));
    }

    float weight_of(const WeightMap& map, double value) const
    {
        if (map.constant() && map.below_low == 0) return 1;
        if (value < map.low) return 0;
        if (map.constant()) return 1;
        const double share = scale_ == MapScale::linear
                                 ? (value - map.low) / (map.high - map.low)
                                 : std::log(value / map.low) / std::log(map.high / map.low);
        return float(std::clamp(share, 0.0, 1.0));
    }

    const Cloth& cloth_;
    MapScale scale_;
    std::vector<WeightMap> maps_;
};

// Maps of damping begin with its name. A range below rest without end is compression; others have
// numbers, from compression to tension.
MapKind map_kind(const Cloth& cloth, const Parameter& parameter)
{
    MapKind kind{"", "", std::string(parameter.kind->unit), ""};
    if (parameter.is_damping()) kind.before = fmt::format("{}_", parameter.kind->name);
    if (!parameter.in_range()) return kind;
    const auto& [from, to, stiffness] = cloth.springs.ranges[parameter.range];
    kind.strain = fmt::format("from {} to {}", from, to);
    kind.after =
        std::isinf(from) && to == 0 ? "_compression" : fmt::format("_range{}", parameter.range + 1);
    return kind;
}

}  // namespace

std::vector<WeightMap> weight_maps(const Cloth& cloth, MapScale scale)
{
    check_cloth(cloth, "weight maps: cloth");
    MapMaker maker(cloth, scale);
    for (const bool damping : {false, true}) {
        for (const Parameter& parameter : parameters_in(cloth, Element::spring)) {
            if (parameter.is_damping() != damping) continue;
            maker.add_springs(values_of(cloth, parameter), map_kind(cloth, parameter));
        }
    }
    for (const Parameter& parameter : parameters_in(cloth, Element::bend)) {
        const ParameterKind& kind = *parameter.kind;
        maker.add_bends(values_of(cloth, parameter),
                        {fmt::format("{}_", kind.name), "", std::string(kind.unit), ""});
    }
    maker.add_elements();
    maker.add_couplings();
    return maker.take();
}

}  // namespace springtime
