// Cost on one thread of the sparse systems that least squares for every spring would make: two
// unknowns per spring of a cloth of 32 x 32, those of springs that share a particle coupled. Prints
// JSON.
#include "learn/bounded_system.h"

#include <fmt/core.h>

#include <Eigen/Dense>

#include "core/random.h"
#include "springtime/springtime.h"
#include "timing.h"

using namespace springtime;

namespace {

constexpr int kUnknownsPerSpring = 2, kRounds = 3;

// Unknowns of the springs at each particle.
std::vector<std::vector<int>> particle_blocks(const Cloth& cloth)
{
    std::vector<std::vector<int>> blocks(cloth.mass.size());
    for (std::size_t s = 0; s < cloth.springs.spring_count(); ++s) {
        for (const int end : cloth.springs.ends[s]) {
            for (int i = 0; i < kUnknownsPerSpring; ++i) {
                blocks[std::size_t(end)].push_back(kUnknownsPerSpring * int(s) + i);
            }
        }
    }
    return blocks;
}

// A dense block of rank three for each particle, for three axes, and a small prior.
BoundedSystem random_system(const Cloth& cloth)
{
    Random random(1);
    std::vector<Eigen::Triplet<double>> entries;
    for (const auto& block : particle_blocks(cloth)) {
        const auto size = Eigen::Index(block.size());
        const Eigen::MatrixXd row =
            Eigen::MatrixXd::NullaryExpr(size, 3, [&] { return random.normal(); });
        Eigen::MatrixXd square = row * row.transpose();
        square.diagonal().array() += 0.01;
        for (Eigen::Index i = 0; i < size; ++i) {
            for (Eigen::Index j = 0; j < size; ++j) {
                entries.emplace_back(block[std::size_t(i)], block[std::size_t(j)], square(i, j));
            }
        }
    }
    const auto count = Eigen::Index(cloth.springs.spring_count()) * kUnknownsPerSpring;
    BoundedSystem system{Eigen::SparseMatrix<double>(count, count), {}};
    system.matrix.setFromTriplets(entries.begin(), entries.end());
    // One in twenty of the unbounded solution is below zero.
    system.right = system.matrix *
                   Eigen::VectorXd::NullaryExpr(count, [&] { return 1 + 0.6 * random.normal(); });
    return system;
}

}  // namespace

int main()
{
    const Cloth cloth = make_grid_cloth({15.5, 15.5, 102.4}, {32, 32, true, true, true, true},
                                        MaterialField::uniform(50), MaterialField::uniform(6));
    const BoundedSystem system = random_system(cloth);
    BoundedSolution solution;
    const auto times =
        bench::best_seconds({[&] { solution = solve_bounded(system); },
                             [&] { FactoredSystem(system.matrix).log_determinant(); },
                             [&] { FactoredSystem(system.matrix).inverse_diagonal(); }},
                            kRounds);
    fmt::print("{{\"unknowns\": {}, \"entries_per_row\": {:.1f}, \"held\": {},\n",
               system.right.size(), double(system.matrix.nonZeros()) / double(system.right.size()),
               solution.held_count);
    fmt::print(" \"solve_s\": {:.3f}, \"solves\": {},\n", times[0], solution.solves);
    fmt::print(" \"log_determinant_s\": {:.3f}, \"inverse_diagonal_s\": {:.3f}}}\n", times[1],
               times[2]);
}
