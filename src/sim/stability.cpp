#include <cmath>
#include <vector>

#include "core/random.h"
#include "springtime/simulation.h"

namespace springtime {

namespace {

// Largest eigenvalue of M^-1 A [1/s^2 or 1/s], where A is the flat sheet's in-plane matrix with
// `weight` (stiffness or damping) on every spring. Power iteration on M^-1/2 A M^-1/2.
double largest_eigenvalue(const Cloth& cloth, const std::vector<double>& weight)
{
    const std::size_t count = cloth.particle_count();
    std::vector<double> x(2 * count), y(2 * count), root(count);
    Random random(1);
    for (double& value : x) value = random.uniform() - 0.5;
    for (std::size_t p = 0; p < count; ++p) root[p] = 1 / std::sqrt(cloth.mass[p]);

    double eigenvalue = 0;
    for (int iteration = 0; iteration < 1000; ++iteration) {
        std::fill(y.begin(), y.end(), 0.0);
        for (std::size_t s = 0; s < weight.size(); ++s) {
            const auto [a, b] = cloth.springs.ends[s];
            const double du = cloth.rest[b].u - cloth.rest[a].u;
            const double dv = cloth.rest[b].v - cloth.rest[a].v;
            const double square = std::max(du * du + dv * dv, 1e-20);
            const double along = du * (root[b] * x[2 * b] - root[a] * x[2 * a]) +
                                 dv * (root[b] * x[2 * b + 1] - root[a] * x[2 * a + 1]);
            const double f = weight[s] * along / square;
            y[2 * b] += root[b] * f * du;
            y[2 * b + 1] += root[b] * f * dv;
            y[2 * a] -= root[a] * f * du;
            y[2 * a + 1] -= root[a] * f * dv;
        }
        double xx = 0, xy = 0, yy = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            xx += x[i] * x[i];
            xy += x[i] * y[i];
            yy += y[i] * y[i];
        }
        if (yy == 0) return 0;
        const double last = eigenvalue;
        eigenvalue = xy / xx;
        const double scale = 1 / std::sqrt(yy);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = scale * y[i];
        if (std::abs(eigenvalue - last) < 1e-6 * eigenvalue) break;
    }
    return eigenvalue;
}

}  // namespace

// A mode with frequency w^2 and damping c obeys z^2 - (2 - h c - h^2 w^2) z + (1 - h c) = 0, whose
// roots stay inside the unit circle while h^2 w^2 + 2 h c <= 4.
double largest_stable_step(const Cloth& cloth, const Environment& environment)
{
    const double w2 = largest_eigenvalue(cloth, cloth.springs.stiffness);
    const double c = largest_eigenvalue(cloth, cloth.springs.damping) + environment.drag;
    const double denominator = c + std::sqrt(c * c + 4 * w2);
    return denominator > 0 ? 4 / denominator : HUGE_VAL;
}

int stable_substeps(const Cloth& cloth, const Environment& environment, double dt)
{
    return std::max(1, static_cast<int>(std::ceil(
                           dt / (kStableMargin * largest_stable_step(cloth, environment)))));
}

}  // namespace springtime
