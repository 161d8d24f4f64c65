#include "draw/fabric.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "draw/moduli.h"
#include "geometry/polygon.h"
#include "springtime/error.h"

namespace springtime {

namespace {

constexpr double kUnseenError = std::numeric_limits<double>::infinity();

// ---- Propagation of errors

// A number and its slopes by N parameters.
template <std::size_t N>
struct Sloped {
    double value = 0;
    std::array<double, N> slope{};

    static Sloped parameter(const std::array<double, N>& all, std::size_t i)
    {
        Sloped one{all[i], {}};
        one.slope[i] = 1;
        return one;
    }
};

// f(a, b) with the slopes by_a and by_b of f.
template <std::size_t N>
Sloped<N> combined(double value, const Sloped<N>& a, double by_a, const Sloped<N>& b, double by_b)
{
    Sloped<N> result{value, {}};
    for (std::size_t i = 0; i < N; ++i) result.slope[i] = by_a * a.slope[i] + by_b * b.slope[i];
    return result;
}

template <std::size_t N>
Sloped<N> operator+(const Sloped<N>& a, const Sloped<N>& b)
{
    return combined(a.value + b.value, a, 1, b, 1);
}

template <std::size_t N>
Sloped<N> operator-(const Sloped<N>& a, const Sloped<N>& b)
{
    return combined(a.value - b.value, a, 1, b, -1);
}

template <std::size_t N>
Sloped<N> operator*(const Sloped<N>& a, const Sloped<N>& b)
{
    return combined(a.value * b.value, a, b.value, b, a.value);
}

// Zero where nothing resists.
template <std::size_t N>
Sloped<N> operator/(const Sloped<N>& a, const Sloped<N>& b)
{
    if (b.value == 0) return {};
    const double ratio = a.value / b.value;
    return combined(ratio, a, 1 / b.value, b, -ratio / b.value);
}

// First order; what does not matter may be unknown.
template <std::size_t N>
double error_of(const Sloped<N>& number, const std::array<double, N>& errors)
{
    double square = 0;
    for (std::size_t i = 0; i < N; ++i) {
        if (number.slope[i] == 0) continue;
        square += number.slope[i] * number.slope[i] * errors[i] * errors[i];
    }
    return std::sqrt(square);
}

template <std::size_t N>
void add_sample(FabricSamples& samples, const Sloped<N>& number, double weight,
                const std::array<double, N>* errors)
{
    samples.value.push_back(number.value);
    samples.weight.push_back(weight);
    if (errors) samples.error.push_back(error_of(number, *errors));
}

// ---- Regions

// Numbers what is alike. Values of hinges come from divisions, so ten digits count.
class Alike {
  public:
    int number_of(std::vector<double> values)
    {
        for (double& value : values) value = rounded(value);
        return known_.try_emplace(std::move(values), int(known_.size())).first->second;
    }
    int count() const { return int(known_.size()); }

  private:
    static double rounded(double value)
    {
        if (value == 0 || !std::isfinite(value)) return value;
        const double unit = std::pow(10, std::floor(std::log10(std::abs(value))) - 9);
        return std::round(value / unit) * unit;
    }

    std::map<std::vector<double>, int> known_;
};

// The errors of one kind of parameter; null where they are not known.
const std::vector<double>* errors_of_kind(const Cloth& cloth, Element element,
                                          std::string_view name)
{
    if (!cloth.errors) return nullptr;
    const std::vector<Parameter> parameters = learned_parameters(cloth);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const ParameterKind& kind = *parameters[i].kind;
        if (kind.element == element && kind.name == name) return &cloth.errors->parameters[i];
    }
    return nullptr;
}

// ---- Triangles

double triangle_area(const Cloth& cloth, const std::array<int, 3>& corners)
{
    const auto [a, b, c] = corners;
    return 0.5 * std::abs(turn(cloth.rest[a], cloth.rest[b], cloth.rest[c]));
}

// One entry of an array that a cloth may not have.
double entry(const std::vector<double>& values, std::size_t i)
{
    return values.empty() ? 0 : values[i];
}

double entry(const std::vector<double>* values, std::size_t i)
{
    return values ? (*values)[i] : 0;
}

void add_membrane(FabricElements& all, const std::array<double, 4>& values, double area,
                  const std::array<double, 4>* errors)
{
    const auto parameter = [&](std::size_t i) { return Sloped<4>::parameter(values, i); };
    const auto mu = parameter(0), lambda = parameter(1), warp = parameter(2), weft = parameter(3);
    const auto c11 = mu + lambda + warp, c22 = mu + lambda + weft, c12 = lambda - mu;
    add_sample(all.young_warp, young_modulus(c11, c12, c22), area, errors);
    add_sample(all.young_weft, young_modulus(c22, c12, c11), area, errors);
    add_sample(all.poisson_warp, poisson_ratio(c12, c22), area, errors);
    add_sample(all.poisson_weft, poisson_ratio(c12, c11), area, errors);
    add_sample(all.shear, mu, area, errors);
}

void add_triangles(FabricElements& all, const Cloth& cloth)
{
    const TriangleSet& set = cloth.triangles;
    const auto errors = [&](std::string_view name) {
        return errors_of_kind(cloth, Element::triangle, name);
    };
    const auto *mu = errors("shear_stiffness"), *lambda = errors("area_stiffness"),
               *gamma = errors("damping"), *warp = errors("warp_stiffness"),
               *weft = errors("weft_stiffness");
    Alike regions;
    std::vector<int> unknown;
    for (std::size_t t = 0; t < set.triangle_count(); ++t) {
        const double area = triangle_area(cloth, set.corners[t]);
        const std::array values{set.shear_stiffness[t], set.area_stiffness[t],
                                entry(set.warp_stiffness, t), entry(set.weft_stiffness, t)};
        const std::array spread{entry(mu, t), entry(lambda, t), entry(warp, t), entry(weft, t)};
        add_membrane(all, values, area, mu ? &spread : nullptr);
        const std::array damping_error{entry(gamma, t)};
        add_sample(all.damping, Sloped<1>::parameter({set.damping[t]}, 0), area,
                   mu ? &damping_error : nullptr);
        std::vector<double> key{set.damping[t], damping_error[0]};
        key.insert(key.end(), values.begin(), values.end());
        key.insert(key.end(), spread.begin(), spread.end());
        unknown.push_back(regions.number_of(std::move(key)));
    }
    for (FabricSamples* samples : {&all.young_warp, &all.young_weft, &all.poisson_warp,
                                   &all.poisson_weft, &all.shear, &all.damping}) {
        samples->unknown = unknown;
    }
    all.triangle_regions = regions.count();
}

// ---- Hinges

// The angle of a hinge in a sheet that is curved with 1/m, and the area whose curvature it is.
struct HingeCurve {
    double angle, area;
};

// The heights are t^2/2 with the coordinate t along the curved direction, and linear in every
// triangle. `across` is how steeply they rise in a triangle across the edge; it jumps there by the
// angle. Along the curved direction the edge has the extent |e| n_t, and all jumps over it sum up
// to the curvature times the distance.
HingeCurve hinge_curve(const Cloth& cloth, const std::array<int, 4>& corners, bool along_warp)
{
    const SheetPoint a = cloth.rest[corners[0]], b = cloth.rest[corners[1]];
    const double eu = b.u - a.u, ev = b.v - a.v, length = std::hypot(eu, ev);
    const double tu = eu / length, tv = ev / length;  // along the edge
    const double nu = -tv, nv = tu;                   // across it
    const auto height = [&](const SheetPoint& p) {
        const double t = along_warp ? p.u - a.u : p.v - a.v;
        return 0.5 * t * t;
    };
    const double along = height(b) / length;
    const auto across = [&](int corner) {
        const SheetPoint p = cloth.rest[corner];
        const double du = p.u - a.u, dv = p.v - a.v;
        return (height(p) - along * (tu * du + tv * dv)) / (nu * du + nv * dv);
    };
    const SheetPoint d = cloth.rest[corners[3]];
    const double side = nu * (d.u - a.u) + nv * (d.v - a.v) > 0 ? 1 : -1;
    const double angle = side * (across(corners[3]) - across(corners[2]));
    const double normal = along_warp ? nu : nv;
    return {angle, angle * length * normal * normal};
}

// The rigidity D of a sheet with the bending B in all hinges is B times a factor of the mesh.
// Hinges count by their share of the energy. Nothing where no hinge feels the curvature.
void add_bending(FabricSamples& samples, const Cloth& cloth, const std::vector<double>& shapes,
                 const std::vector<double>* errors, bool along_warp)
{
    std::vector<double> weights;
    double energy = 0, area = 0;
    for (std::size_t h = 0; h < shapes.size(); ++h) {
        const HingeCurve curve = hinge_curve(cloth, cloth.hinges.corners[h], along_warp);
        weights.push_back(shapes[h] * curve.angle * curve.angle);
        energy += weights.back();
        area += curve.area;
    }
    constexpr double kRounding = 1e-9;  // of an angle that is zero, relative to the area
    if (!(area > 0) || !(energy > kRounding * area)) return;
    const double factor = energy / area;
    for (std::size_t h = 0; h < shapes.size(); ++h) {
        const std::array error{factor * entry(errors, h) / shapes[h]};
        add_sample(samples, Sloped<1>{factor * cloth.hinges.stiffness[h] / shapes[h], {1}},
                   weights[h], errors ? &error : nullptr);
    }
}

void add_hinges(FabricElements& all, const Cloth& cloth)
{
    const HingeSet& set = cloth.hinges;
    const std::vector<double> shapes = hinge_shapes(cloth);
    const auto* stiffness = errors_of_kind(cloth, Element::hinge, "stiffness");
    const auto* damping = errors_of_kind(cloth, Element::hinge, "damping");
    add_bending(all.bending_warp, cloth, shapes, stiffness, true);
    add_bending(all.bending_weft, cloth, shapes, stiffness, false);
    Alike regions;
    std::vector<int> unknown;
    for (std::size_t h = 0; h < set.hinge_count(); ++h) {
        const std::array values{set.damping[h], set.stiffness[h]};
        const std::array errors{entry(damping, h), entry(stiffness, h)};
        const auto time = Sloped<2>::parameter(values, 0) / Sloped<2>::parameter(values, 1);
        // A hinge without stiffness has no time.
        add_sample(all.bending_time, time, set.stiffness[h] > 0 ? 1 : 0,
                   stiffness ? &errors : nullptr);
        unknown.push_back(regions.number_of({values[0] / shapes[h], values[1] / shapes[h],
                                             errors[0] / shapes[h], errors[1] / shapes[h]}));
    }
    for (FabricSamples* samples : {&all.bending_warp, &all.bending_weft, &all.bending_time}) {
        if (!samples->value.empty()) samples->unknown = unknown;
    }
    all.hinge_regions = regions.count();
}

// ---- Over the sheet

// The value that a share of the weight lies below.
double weighted_quantile(const std::vector<double>& values, const std::vector<double>& weights,
                         double share)
{
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
    double below = 0;
    for (const std::size_t i : order) {
        below += weights[i];
        if (below >= share * all && weights[i] > 0) return values[i];
    }
    return values[order.back()];
}

// Elements of one unknown err together, all others independently.
void set_mean(FabricValue& value, const FabricSamples& samples)
{
    std::map<int, double> errors;  // by unknown, times weight
    double weight = 0, sum = 0;
    for (std::size_t i = 0; i < samples.value.size(); ++i) {
        const double error = entry(samples.error, i);
        if (std::isinf(error)) continue;
        weight += samples.weight[i];
        sum += samples.weight[i] * samples.value[i];
        errors[samples.unknown[i]] += samples.weight[i] * error;
    }
    if (!(weight > 0)) return;
    value.mean = sum / weight;
    double square = 0;
    for (const auto& [unknown, error] : errors) square += error * error;
    if (!samples.error.empty()) value.mean_error = std::sqrt(square) / weight;
}

FabricValue value_of(const FabricSamples& samples)
{
    constexpr double kLow = 0.05, kHigh = 0.95;
    const auto at = [&](double share) {
        return weighted_quantile(samples.value, samples.weight, share);
    };
    FabricValue value{at(0.5), at(kLow), at(kHigh)};
    value.mean = value.median;
    if (!samples.error.empty()) {
        value.error = weighted_quantile(samples.error, samples.weight, 0.5);
        value.mean_error = kUnseenError;
    }
    set_mean(value, samples);
    return value;
}

std::optional<FabricValue> value_if_any(const FabricSamples& samples)
{
    const bool any = std::any_of(samples.weight.begin(), samples.weight.end(),
                                 [](double weight) { return weight > 0; });
    if (!any) return {};
    return value_of(samples);
}

}  // namespace

FabricElements fabric_elements(const Cloth& cloth)
{
    check_cloth(cloth, "fabric: cloth");
    if (cloth.triangles.triangle_count() == 0) {
        throw Error(
            "fabric: the cloth has no triangles; springs have no moduli, so learn or generate a "
            "cloth of triangles");
    }
    FabricElements all;
    add_triangles(all, cloth);
    add_hinges(all, cloth);
    return all;
}

Fabric fabric_of(const Cloth& cloth)
{
    const FabricElements all = fabric_elements(cloth);
    Fabric fabric;
    fabric.orthotropic =
        !cloth.triangles.warp_stiffness.empty() || !cloth.triangles.weft_stiffness.empty();
    fabric.young_warp = value_of(all.young_warp);
    fabric.young_weft = value_of(all.young_weft);
    fabric.poisson_warp = value_of(all.poisson_warp);
    fabric.poisson_weft = value_of(all.poisson_weft);
    fabric.shear = value_of(all.shear);
    fabric.damping = value_of(all.damping);
    fabric.bending_warp = value_if_any(all.bending_warp);
    fabric.bending_weft = value_if_any(all.bending_weft);
    fabric.bending_time = value_if_any(all.bending_time);
    double area = 0;
    for (const auto& corners : cloth.triangles.corners) area += triangle_area(cloth, corners);
    fabric.density = std::accumulate(cloth.mass.begin(), cloth.mass.end(), 0.0) / area;
    return fabric;
}

}  // namespace springtime
