#include "sim/stability.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/random.h"
#include "sim/forces.h"

namespace springtime {

namespace {

using Displacements = std::vector<Vec3d>;  // of every particle: along u, along v, upwards

// Adds A x, where A is the flat sheet's matrix with `weight` (stiffness or damping) on every
// spring.
void add_spring_product(const Cloth& cloth, const std::vector<double>& weight,
                        const Displacements& x, Displacements& product)
{
    for (std::size_t s = 0; s < weight.size(); ++s) {
        const auto [a, b] = cloth.springs.ends[s];
        const Vec3d d{cloth.rest[b].u - cloth.rest[a].u, cloth.rest[b].v - cloth.rest[a].v, 0};
        const Vec3d f = weight[s] * dot(d, x[b] - x[a]) / std::max(dot(d, d), 1e-20) * d;
        product[b] += f;
        product[a] -= f;
    }
}

// Adds A x, where A has `weight` on every spring in all directions.
void add_isotropic_product(const Cloth& cloth, const std::vector<double>& weight,
                           const Displacements& x, Displacements& product)
{
    for (std::size_t s = 0; s < weight.size(); ++s) {
        const auto [a, b] = cloth.springs.ends[s];
        const Vec3d f = weight[s] * (x[b] - x[a]);
        product[b] += f;
        product[a] -= f;
    }
}

// Adds A x, where A has `weight` on every bend. A bend is linear: it resists in all directions, the
// same in every shape.
void add_bend_product(const Cloth& cloth, const std::vector<double>& weight, const Displacements& x,
                      Displacements& product)
{
    for (std::size_t i = 0; i < weight.size(); ++i) {
        const auto [a, m, b] = cloth.bends.particles[i];
        const Vec3d f = bend_force(second_difference(x[a], x[m], x[b]), {}, weight[i], 0.0);
        product[a] -= f;
        product[m] += 2.0 * f;
        product[b] -= f;
    }
}

// Adds A x, where A bounds the couplings in every shape: their strength on both of their edges, in
// all directions (see stability.h).
void add_coupling_bound(const Cloth& cloth, const Displacements& x, Displacements& product)
{
    const CouplingSet& set = cloth.couplings;
    for (std::size_t i = 0; i < set.coupling_count(); ++i) {
        const auto [apex, b, c] = set.corners[i];
        for (const int end : {b, c}) {
            const Vec3d f = std::abs(set.stiffness[i]) * (x[end] - x[apex]);
            product[end] += f;
            product[apex] -= f;
        }
    }
}

// Adds A x of the rod of a cloth, if it has one. The particles of its clamps are held.
void add_rod_product(const Cloth& cloth, double Rod::*weight, const Displacements& x,
                     Displacements& product)
{
    // A rope that is bent by itself is stiffer than a straight one.
    constexpr double kGrowth = 1.2;
    if (!cloth.rod) return;
    const std::size_t count = x.size();
    const auto hold = [&](Displacements& field) {
        if (cloth.rod->first) field[0] = field[1] = {};
        if (cloth.rod->last) field[count - 2] = field[count - 1] = {};
    };
    Displacements free = x, part(count);
    hold(free);
    RodForces(cloth).add_product(kGrowth * (*cloth.rod).*weight, free, part);
    hold(part);
    for (std::size_t p = 0; p < count; ++p) product[p] += part[p];
}

// The largest of all stiffnesses that a spring has.
std::vector<double> largest_stiffness(const Cloth& cloth)
{
    std::vector<double> largest = cloth.springs.stiffness;
    for (const Parameter& parameter : parameters_in(cloth, Element::spring)) {
        if (parameter.is_damping()) continue;
        const std::vector<double>& values = values_of(cloth, parameter);
        for (std::size_t s = 0; s < largest.size(); ++s) {
            largest[s] = std::max(largest[s], values[s]);
        }
    }
    return largest;
}

double largest_length(const Displacements& x)
{
    double square = 0;
    for (const Vec3d& v : x) square = std::max(square, dot(v, v));
    return std::sqrt(square);
}

// The triangles and hinges of the flat sheet at rest, and its couplings if these are wanted, seen
// through their forces.
class FlatElements {
  public:
    FlatElements(const Cloth& cloth, bool with_couplings)
        : table_(only_these_elements(cloth, with_couplings), {}),
          // A hundred-thousandth of a cell: the forces are straight there to 1e-10, and still
          // 1e11 times their rounding.
          reach_(1e-5 * std::sqrt(cloth.sheet.length * cloth.sheet.width /
                                  double(cloth.particle_count()))),
          still_(cloth.particle_count())
    {
        for (const SheetPoint& p : cloth.rest) position_.push_back({p.u, p.v, 0});
    }

    // Springs and couplings of a flat sheet act in its plane.
    bool in_plane() const { return table_.triangles.empty() && table_.hinges.empty(); }

    // Adds K x times a factor, by a central difference of the forces along x.
    void add_stiffness_product(double factor, const Displacements& x, Displacements& product) const
    {
        if (in_plane() && table_.couplings.empty()) return;
        const double step = reach_ / std::max(largest_length(x), 1e-300);
        Displacements up = position_, down = position_, force(x.size());
        for (std::size_t p = 0; p < x.size(); ++p) {
            up[p] += step * x[p];
            down[p] -= step * x[p];
        }
        add_element_forces(table_, up, still_, force);
        for (Vec3d& f : force) f = -f;
        add_element_forces(table_, down, still_, force);
        for (std::size_t p = 0; p < x.size(); ++p) product[p] += (0.5 * factor / step) * force[p];
    }

    // Adds C x times a factor: at rest the forces are linear in the velocities.
    void add_damping_product(double factor, const Displacements& x, Displacements& product) const
    {
        if (in_plane()) return;  // couplings have no damping
        Displacements force(x.size());
        add_element_forces(table_, position_, x, force);
        for (std::size_t p = 0; p < x.size(); ++p) product[p] -= factor * force[p];
    }

  private:
    static Cloth only_these_elements(Cloth cloth, bool with_couplings)
    {
        cloth.springs = {};
        cloth.bends = {};
        if (!with_couplings) cloth.couplings = {};
        cloth.rod.reset();
        return cloth;
    }

    ForceTable<double> table_;
    double reach_;
    Displacements position_, still_;
};

// A symmetric matrix with nothing beside its diagonal and the numbers next to it.
struct Tridiagonal {
    std::vector<double> diagonal, beside;

    // Sylvester: as many eigenvalues lie above a shift as pivots of A - shift are positive.
    bool has_eigenvalue_above(double shift) const
    {
        double pivot = 1;
        for (std::size_t i = 0; i < diagonal.size(); ++i) {
            const double b = i > 0 ? beside[i - 1] : 0;
            pivot = diagonal[i] - shift - b * b / pivot;
            if (pivot > 0) return true;
            if (pivot == 0) pivot = -1e-300;
        }
        return false;
    }

    // By bisection, to the last bits. `least` must not lie above it.
    double largest_eigenvalue(double least) const
    {
        double most = least;
        for (std::size_t i = 0; i < diagonal.size(); ++i) {  // Gershgorin
            const double before = i > 0 ? std::abs(beside[i - 1]) : 0;
            const double after = i + 1 < diagonal.size() ? std::abs(beside[i]) : 0;
            most = std::max(most, diagonal[i] + before + after);
        }
        for (int i = 0; i < 60; ++i) {
            const double middle = 0.5 * (least + most);
            (has_eigenvalue_above(middle) ? least : most) = middle;
        }
        return most;
    }
};

double dot(const Displacements& a, const Displacements& b)
{
    double sum = 0;
    for (std::size_t p = 0; p < a.size(); ++p) sum += dot(a[p], b[p]);
    return sum;
}

// Springs and couplings of a flat sheet act in its plane, so without other elements all of it stays
// there. Of
// isotropic dashpots and of bends, which act alike in all directions, the plane feels no less than
// the direction across it.
Displacements random_field(std::size_t count, bool in_plane)
{
    Displacements x(count);
    Random random(1);
    for (Vec3d& v : x) {
        for (int axis = 0; axis < (in_plane ? 2 : 3); ++axis) v[axis] = random.uniform() - 0.5;
    }
    const double scale = 1 / std::sqrt(dot(x, x));
    for (Vec3d& v : x) v = scale * v;
    return x;
}

// Largest eigenvalue of M^-1 A [1/s^2 or 1/s], given what adds A x: the iteration of Lanczos on
// M^-1/2 A M^-1/2, from below.
template <class AddProduct>
double largest_eigenvalue(const Cloth& cloth, bool in_plane, AddProduct add_product)
{
    const std::size_t count = cloth.particle_count();
    std::vector<double> root(count);
    for (std::size_t p = 0; p < count; ++p) root[p] = 1 / std::sqrt(cloth.mass[p]);
    Displacements x = random_field(count, in_plane), before(count), scaled(count), next(count);
    Tridiagonal matrix;
    double eigenvalue = 0;
    for (int iteration = 0; iteration < 200; ++iteration) {
        for (std::size_t p = 0; p < count; ++p) scaled[p] = root[p] * x[p];
        std::fill(next.begin(), next.end(), Vec3d{});
        add_product(scaled, next);
        const double back = matrix.beside.empty() ? 0 : matrix.beside.back();
        for (std::size_t p = 0; p < count; ++p) next[p] = root[p] * next[p] - back * before[p];
        const double along = dot(x, next);
        for (std::size_t p = 0; p < count; ++p) next[p] -= along * x[p];
        matrix.diagonal.push_back(along);
        const double last = eigenvalue;
        eigenvalue = matrix.largest_eigenvalue(std::max(0.0, last));
        const double rest = std::sqrt(dot(next, next));
        if (rest <= 1e-9 * eigenvalue) break;  // nothing new: x lies in few modes
        if (iteration > 10 && eigenvalue - last < 1e-6 * eigenvalue) break;
        matrix.beside.push_back(rest);
        for (std::size_t p = 0; p < count; ++p) {
            before[p] = x[p];
            x[p] = (1 / rest) * next[p];
        }
    }
    return eigenvalue;
}

// How many times stiffer triangles and hinges get than they are in the flat sheet, measured with
// scripts/bench margin on a sheet that stretches threefold: 1.8 to 1.9 when stiffness limits the
// step, 1.8 to 1.9 when damping of all deformation does, 2.0 to 2.1 when damping of strain does.
constexpr double kStiffnessGrowth = 2;

double damping_growth(TriangleDamping kind)
{
    return kind == TriangleDamping::strain ? 2.3 : 2;
}

}  // namespace

ClothSpectrum flat_spectrum(const Cloth& cloth)
{
    const FlatElements elements(cloth, true);
    const std::vector<double> stiffness = largest_stiffness(cloth);
    const double w2 = largest_eigenvalue(
        cloth, elements.in_plane(), [&](const Displacements& x, Displacements& product) {
            add_spring_product(cloth, stiffness, x, product);
            add_bend_product(cloth, cloth.bends.stiffness, x, product);
            add_rod_product(cloth, &Rod::bending, x, product);
            elements.add_stiffness_product(1, x, product);
        });
    const double c = largest_eigenvalue(
        cloth, elements.in_plane(), [&](const Displacements& x, Displacements& product) {
            add_spring_product(cloth, cloth.springs.damping, x, product);
            add_isotropic_product(cloth, cloth.springs.isotropic_damping, x, product);
            add_bend_product(cloth, cloth.bends.damping, x, product);
            add_rod_product(cloth, &Rod::bending_damping, x, product);
            elements.add_damping_product(1, x, product);
        });
    return {w2, c};
}

ClothSpectrum worst_spectrum(const Cloth& cloth)
{
    const FlatElements elements(cloth, false);
    const std::vector<double> stiffness = largest_stiffness(cloth);
    const double w2 = largest_eigenvalue(
        cloth, elements.in_plane(), [&](const Displacements& x, Displacements& product) {
            add_isotropic_product(cloth, stiffness, x, product);
            add_coupling_bound(cloth, x, product);
            add_bend_product(cloth, cloth.bends.stiffness, x, product);
            add_rod_product(cloth, &Rod::bending, x, product);
            elements.add_stiffness_product(kStiffnessGrowth, x, product);
        });
    const double c = largest_eigenvalue(
        cloth, elements.in_plane(), [&](const Displacements& x, Displacements& product) {
            add_isotropic_product(cloth, cloth.springs.damping, x, product);
            add_isotropic_product(cloth, cloth.springs.isotropic_damping, x, product);
            add_bend_product(cloth, cloth.bends.damping, x, product);
            add_rod_product(cloth, &Rod::bending_damping, x, product);
            elements.add_damping_product(damping_growth(cloth.triangles.damping_kind), x, product);
        });
    return {w2, c};
}

// A mode with frequency w^2 and damping c obeys z^2 - (2 - h c - h^2 w^2) z + (1 - h c) = 0, whose
// roots stay inside the unit circle while h^2 w^2 + 2 h c <= 4.
double step_limit(const ClothSpectrum& spectrum, double drag)
{
    const double rate = spectrum.damping + drag;
    const double denominator = rate + std::sqrt(rate * rate + 4 * spectrum.stiffness);
    return denominator > 0 ? 4 / denominator : HUGE_VAL;
}

double safe_step(const ClothSpectrum& worst, double drag)
{
    // Networks without diagonals are sound up to the limit of the worst shape and shake at 1.02
    // times it.
    constexpr double kShare = 0.97;
    return kShare * step_limit(worst, drag);
}

int stable_substeps(const ClothSpectrum& worst, double drag, double dt)
{
    const double wanted = std::ceil(dt / safe_step(worst, drag));
    // Written so that NaN counts as endless, too.
    return wanted < kMostSubsteps ? std::max(1, static_cast<int>(wanted)) : kMostSubsteps;
}

double largest_stable_step(const Cloth& cloth, const Environment& environment)
{
    return step_limit(flat_spectrum(cloth), environment.drag);
}

double safe_step(const Cloth& cloth, const Environment& environment)
{
    return safe_step(worst_spectrum(cloth), environment.drag);
}

int stable_substeps(const Cloth& cloth, const Environment& environment, double dt)
{
    return stable_substeps(worst_spectrum(cloth), environment.drag, dt);
}

}  // namespace springtime
