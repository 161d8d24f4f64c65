#include "learn/displacement_balance.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "core/random.h"

namespace springtime {

namespace {

// Sums over places are split into so many parts, whatever the number of threads.
constexpr int kSums = 16;
// Stretches of motion that count as independent, at least.
constexpr std::size_t kLeastStretches = 4;

double inertia_of(const TestFunction& test)
{
    double second = 0, value = 0;
    for (std::size_t i = 0; i < test.value.size(); ++i) {
        second += test.second[i] * test.second[i];
        value += test.value[i] * test.value[i];
    }
    return std::sqrt(second / value);
}

double* component(Vec3d* vectors, int index)
{
    Vec3d& vector = vectors[index / 3];
    return index % 3 == 0 ? &vector.x : index % 3 == 1 ? &vector.y : &vector.z;
}

// Minus the derivative of the elastic forces of an element by its relative vectors, without what
// would make the sheet unstable: a compressed element softens others, and here it only has no
// stiffness.
Eigen::MatrixXd element_stiffness(const ElementFormula& formula, std::size_t element,
                                  Vec3d* relative, const std::vector<double>& parameters)
{
    const int size = 3 * formula.vectors();
    double length = 0;
    for (int v = 0; v < formula.vectors(); ++v) {
        length = std::max(length, std::sqrt(dot(relative[v], relative[v])));
    }
    const double step = 1e-5 * length;
    ElementForces forces = formula.room();
    const auto elastic = [&](int row) {
        double sum = 0;
        for (std::size_t k = 0; k < parameters.size(); ++k) {
            const ElementFormula::Term& term = formula.terms()[k];
            if (term.damping) continue;
            Vec3d* const unit = forces.elastic.data() + term.elastic * formula.vectors();
            sum += parameters[k] * *component(unit, row);
        }
        return sum;
    };
    Eigen::MatrixXd slope(size, size);
    for (int column = 0; column < size; ++column) {
        double* const moved = component(relative, column);
        const double at = *moved;
        for (const int side : {1, -1}) {
            *moved = at + side * step;
            formula.at(element, relative, forces);
            for (int row = 0; row < size; ++row) {
                const double change = -side * elastic(row) / (2 * step);
                slope(row, column) = side > 0 ? change : slope(row, column) + change;
            }
        }
        *moved = at;
    }
    // The weights of particles and vectors decide the sign of what a formula calls a force.
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver((slope + slope.transpose()) / 2);
    Eigen::VectorXd values = solver.eigenvalues();
    if (values.sum() < 0) values = -values;
    return solver.eigenvectors() * values.cwiseMax(0).asDiagonal() *
           solver.eigenvectors().transpose();
}

}  // namespace

FactorPattern::FactorPattern(const Eigen::SparseMatrix<float>& pattern)
{
    const Solver solver(pattern);
    const auto& lower = solver.matrixL().nestedExpression();
    order_ = solver.permutationP().indices();
    column_ends_.assign(lower.outerIndexPtr() + 1, lower.outerIndexPtr() + 1 + lower.cols());
    rows_.assign(lower.innerIndexPtr(), lower.innerIndexPtr() + lower.nonZeros());
}

FactorPattern::Values FactorPattern::factor(Solver& solver,
                                            const Eigen::SparseMatrix<float>& matrix)
{
    solver.factorize(matrix);
    const auto& lower = solver.matrixL().nestedExpression();
    return {lower.valuePtr(), lower.valuePtr() + lower.nonZeros()};
}

// The diagonal comes first in each column.
void FactorPattern::solve(const Values& values, Eigen::VectorXf& x) const
{
    const auto size = static_cast<int>(column_ends_.size());
    thread_local Eigen::VectorXf ordered;
    ordered.resize(size);
    for (int i = 0; i < size; ++i) ordered[order_[i]] = x[i];
    for (int j = 0, entry = 0; j < size; ++j) {
        const float value = ordered[j] /= values[entry++];
        for (; entry < column_ends_[j]; ++entry) ordered[rows_[entry]] -= values[entry] * value;
    }
    for (int j = size - 1; j >= 0; --j) {
        const int first = j == 0 ? 0 : column_ends_[j - 1];
        float sum = ordered[j];
        for (int entry = first + 1; entry < column_ends_[j]; ++entry) {
            sum -= values[entry] * ordered[rows_[entry]];
        }
        ordered[j] = sum / values[first];
    }
    for (int i = 0; i < size; ++i) x[i] = ordered[order_[i]];
}

void FactorPattern::solve(const Values& values, Columns& x) const
{
    const auto size = static_cast<int>(column_ends_.size());
    Columns ordered(x.rows(), x.cols());
    for (int i = 0; i < size; ++i) ordered.row(order_[i]) = x.row(i);
    for (int j = 0, entry = 0; j < size; ++j) {
        ordered.row(j) /= values[entry++];
        for (; entry < column_ends_[j]; ++entry) {
            ordered.row(rows_[entry]) -= values[entry] * ordered.row(j);
        }
    }
    for (int j = size - 1; j >= 0; --j) {
        const int first = j == 0 ? 0 : column_ends_[j - 1];
        for (int entry = first + 1; entry < column_ends_[j]; ++entry) {
            ordered.row(j) -= values[entry] * ordered.row(rows_[entry]);
        }
        ordered.row(j) /= values[first];
    }
    for (int i = 0; i < size; ++i) x.row(i) = ordered.row(order_[i]);
}

DisplacementBalance::DisplacementBalance(const BalanceReader& reader,
                                         const std::optional<Regions>& regions,
                                         const Scheme& scheme, std::size_t most_bytes, Work& work)
    : reader_(reader),
      work_(work),
      cloth_(reader.cloth()),
      unknowns_(cloth_, regions),
      inertia_(inertia_of(reader.test_function(scheme)))
{
    list_members();
    Place flat;
    flat.free.assign(cloth_.particle_count(), 1);
    for (const SheetPoint& point : cloth_.rest) flat.position.push_back({point.u, point.v, 0});
    pattern_.emplace(matrix_of(cloth_, flat));
    std::size_t windows = 0;
    for (std::size_t r = 0; r < reader.rollouts().size(); ++r) {
        for (const Piece& piece : reader.pieces(scheme, r)) windows += piece.place_count();
    }
    const std::size_t bytes = 4 * (2 * numbers_ + pattern_->size()) + 50 * cloth_.particle_count();
    every_ = std::max<std::size_t>(1, (windows * bytes + most_bytes - 1) / most_bytes);
    std::size_t count = 0;
    for (std::size_t r = 0; r < reader.rollouts().size(); ++r) {
        add_places(scheme, r, count);
    }
}

void DisplacementBalance::list_members()
{
    for (const Element type : kElements) {
        for (std::size_t e = 0; e < element_count(cloth_, type); ++e) {
            Member member{type, e, numbers_, vector_count(type), particle_shares(cloth_, type, e),
                          {},   {}};
            for (std::size_t k = 0; k < unknowns_.parameters().size(); ++k) {
                if (unknowns_.parameters()[k].kind->element != type) continue;
                member.unknowns.push_back(unknowns_.number(k, e));
                member.scales.push_back(float(unknowns_.scale(k, e)));
            }
            numbers_ += member.unknowns.size() * std::size_t(3 * member.vectors);
            members_.push_back(std::move(member));
        }
    }
}

void DisplacementBalance::add_places(const Scheme& scheme, std::size_t rollout, std::size_t& count)
{
    const TestFunction test = reader_.test_function(scheme);
    const std::size_t rollouts = reader_.rollouts().size();
    const std::size_t cuts = (kLeastStretches + rollouts - 1) / rollouts;
    const std::size_t frames = reader_.frame_count(reader_.rollouts()[rollout]);
    for (const Piece& piece : reader_.pieces(scheme, rollout)) {
        std::vector<std::size_t> chosen;
        for (std::size_t i = 0; i < piece.place_count(); ++i) {
            if (count++ % every_ == 0) chosen.push_back(i);
        }
        if (chosen.empty()) continue;
        const std::size_t first = places_.size();
        places_.resize(first + chosen.size());
        reader_.with_windows(scheme, piece, [&](const BalancePair& rows, const Tracks& tracks) {
            parallel_for(static_cast<int>(chosen.size()), reader_.threads(), [&](int i) {
                Place& place = places_[first + std::size_t(i)];
                place = read_place(rows, tracks, test, piece, chosen[std::size_t(i)]);
                const std::size_t frame = piece.frame_of(chosen[std::size_t(i)]);
                place.stretch = rollout * cuts + frame * cuts / frames;
                work_.add(work_per_place());
            });
        });
    }
}

DisplacementBalance::Place DisplacementBalance::read_place(const BalancePair& rows,
                                                           const Tracks& tracks,
                                                           const TestFunction& test,
                                                           const Piece& piece,
                                                           std::size_t place) const
{
    Place read;
    read.fold = piece.fold;
    const std::size_t particles = cloth_.particle_count(), places = rows.one.place_count;
    for (std::size_t p = 0; p < particles; ++p) {
        read.free.push_back(rows.one.free[p * places + place]);
    }
    for (const Member& member : members_) {  // where one is missing, the balance is unknown
        if (rows.one.group(member.type).seen[member.element * places + place]) continue;
        for (const ParticleShare& share : member.shares) read.free[share.particle] = 0;
    }
    read.observed = look_at(rows.one, nullptr, place, read.free);
    if (rows.noise) read.noisier = look_at(rows.one, rows.noise, place, read.free);
    const std::size_t first = piece.middles[place] - std::size_t(test.half_width);
    for (std::size_t p = 0; p < particles; ++p) {
        Vec3d sum{};
        double weights = 0;
        for (std::size_t i = 0; i < test.value.size(); ++i) {
            const Vec3d& x = tracks.of(p)[first + i];
            if (!std::isfinite(x.x)) continue;
            sum += test.value[i] * x;
            weights += test.value[i];
        }
        read.position.push_back((1 / weights) * sum);  // NaN where it is never seen
    }
    return read;
}

DisplacementBalance::Look DisplacementBalance::look_at(const BalanceRows& rows,
                                                       const BalanceRows* change, std::size_t place,
                                                       const std::vector<char>& free) const
{
    Look look;
    look.unit.resize(numbers_);
    const auto read = [&](const double* at, const double* added, int axis) {
        return at[axis] + (added ? added[axis] : 0);
    };
    for (const Member& member : members_) {
        if (!rows.group(member.type).seen[member.element * rows.place_count + place]) continue;
        float* to = look.unit.data() + member.first;
        for (std::size_t k = 0; k < member.unknowns.size(); ++k) {
            for (int v = 0; v < member.vectors; ++v) {
                const auto at = [&](const BalanceRows& of) {
                    return of.unit_of(member.type, member.element, int(k), v) + 3 * place;
                };
                for (int axis = 0; axis < 3; ++axis) {
                    *to++ = member.scales[k] *
                            float(read(at(rows), change ? at(*change) : nullptr, axis));
                }
            }
        }
    }
    look.needed.setZero(static_cast<Eigen::Index>(3 * free.size()));
    for (std::size_t p = 0; p < free.size(); ++p) {
        if (!free[p]) continue;
        const std::size_t row = 3 * (p * rows.place_count + place);
        for (int axis = 0; axis < 3; ++axis) {
            look.needed[static_cast<Eigen::Index>(3 * p) + axis] = float(read(
                rows.needed.data() + row, change ? change->needed.data() + row : nullptr, axis));
        }
    }
    return look;
}

// The pattern does not depend on the place. Where a particle is not free, its row is that of one
// that nothing holds, and nothing pulls at it either.
Eigen::SparseMatrix<float> DisplacementBalance::matrix_of(const Cloth& cloth,
                                                          const Place& place) const
{
    const auto size = static_cast<int>(3 * cloth.particle_count());
    std::vector<Eigen::Triplet<float>> entries;
    ParameterValues values = parameters_of(cloth);
    for (const Element type : kElements) {
        const bool bends = type == Element::hinge || type == Element::bend;
        if (bends || element_count(cloth, type) == 0) continue;  // softer than inertia
        const std::unique_ptr<ElementFormula> formula = formula_of(cloth_, type);
        for (const Member& member : members_) {
            if (member.type != type) continue;
            std::vector<double> parameters;
            for (std::size_t k = 0; k < values.size(); ++k) {
                if (unknowns_.parameters()[k].kind->element == type) {
                    parameters.push_back(values[k][member.element]);
                }
            }
            Vec3d relative[kMostVectors]{};
            for (const ParticleShare& share : member.shares) {
                for (int v = 0; v < member.vectors; ++v) {
                    relative[v] += share.weight[v] * place.position[share.particle];
                }
            }
            const int vectors = member.vectors;
            Eigen::MatrixXd stiffness = Eigen::MatrixXd::Zero(3 * vectors, 3 * vectors);
            if (std::all_of(relative, relative + vectors,
                            [](const Vec3d& x) { return std::isfinite(x.x); })) {
                stiffness = element_stiffness(*formula, member.element, relative, parameters);
            }
            for (const ParticleShare& a : member.shares) {
                for (const ParticleShare& b : member.shares) {
                    const bool free = place.free[a.particle] && place.free[b.particle];
                    Eigen::Matrix3d block = Eigen::Matrix3d::Zero();
                    for (int i = 0; free && i < vectors; ++i) {
                        for (int j = 0; j < vectors; ++j) {
                            block +=
                                a.weight[i] * b.weight[j] * stiffness.block<3, 3>(3 * i, 3 * j);
                        }
                    }
                    for (int i = 0; i < 9; ++i) {
                        entries.emplace_back(3 * a.particle + i / 3, 3 * b.particle + i % 3,
                                             float(block(i / 3, i % 3)));
                    }
                }
            }
        }
    }
    for (int i = 0; i < size; ++i) {
        entries.emplace_back(i, i, float(inertia_ * cloth.mass[std::size_t(i / 3)]));
    }
    Eigen::SparseMatrix<float> matrix(size, size);
    matrix.setFromTriplets(entries.begin(), entries.end());
    return matrix;
}

void DisplacementBalance::weigh(const Cloth& cloth)
{
    const int threads = reader_.threads();
    std::vector<std::unique_ptr<FactorPattern::Solver>> solvers{std::size_t(threads)};
    parallel_for(static_cast<int>(places_.size()), threads, [&](int i, int thread) {
        Place& place = places_[std::size_t(i)];
        const Eigen::SparseMatrix<float> matrix = matrix_of(cloth, place);
        auto& solver = solvers[std::size_t(thread)];
        if (!solver) {
            solver = std::make_unique<FactorPattern::Solver>();
            solver->analyzePattern(matrix);
        }
        place.factor = FactorPattern::factor(*solver, matrix);
        work_.add(kWorkOfWeighing * work_per_place());
    });
}

void DisplacementBalance::exert(const Look& look, const std::vector<char>& free,
                                const Eigen::VectorXd& parameters, Eigen::VectorXf& forces) const
{
    forces.setZero(static_cast<Eigen::Index>(3 * free.size()));
    for (const Member& member : members_) {
        const float* unit = look.unit.data() + member.first;
        float force[3 * kMostVectors]{};
        const int size = 3 * member.vectors;
        for (std::size_t k = 0; k < member.unknowns.size(); ++k, unit += size) {
            const auto value = float(parameters[static_cast<Eigen::Index>(member.unknowns[k])]);
            for (int i = 0; i < size; ++i) force[i] += unit[i] * value;
        }
        for (const ParticleShare& share : member.shares) {
            if (!free[share.particle]) continue;
            for (int i = 0; i < size; ++i) {
                forces[3 * share.particle + i % 3] += float(share.weight[i / 3]) * force[i];
            }
        }
    }
}

void DisplacementBalance::pull_back(const Look& look, const std::vector<char>& free,
                                    const Eigen::VectorXf& forces, Eigen::VectorXd& sums) const
{
    for (const Member& member : members_) {
        const float* unit = look.unit.data() + member.first;
        float force[3 * kMostVectors]{};
        const int size = 3 * member.vectors;
        for (const ParticleShare& share : member.shares) {
            if (!free[share.particle]) continue;
            for (int i = 0; i < size; ++i) {
                force[i] += float(share.weight[i / 3]) * forces[3 * share.particle + i % 3];
            }
        }
        for (std::size_t k = 0; k < member.unknowns.size(); ++k, unit += size) {
            float sum = 0;
            for (int i = 0; i < size; ++i) sum += unit[i] * force[i];
            sums[static_cast<Eigen::Index>(member.unknowns[k])] += sum;
        }
    }
}

template <class Sum, class Add>
Sum DisplacementBalance::sum_over(const Part& part, const Sum& zero, const Add& add) const
{
    std::vector<Sum> sums(kSums, zero);
    parallel_for(kSums, reader_.threads(), [&](int s) {
        for (std::size_t i = std::size_t(s); i < places_.size(); i += kSums) {
            const Place& place = places_[i];
            if (part.fold && place.fold != *part.fold) continue;
            add(i, place, sums[std::size_t(s)]);
            work_.add(work_per_place());
        }
    });
    for (int s = 1; s < kSums; ++s) sums[0] += sums[std::size_t(s)];
    return sums[0];
}

Eigen::VectorXd DisplacementBalance::multiply(const Part& part, const Eigen::VectorXd& x) const
{
    const Eigen::VectorXd zero = Eigen::VectorXd::Zero(x.size());
    return sum_over(part, zero, [&](std::size_t, const Place& place, Eigen::VectorXd& sum) {
        Eigen::VectorXf forces;
        exert(look(part, place), place.free, x, forces);
        for (int i = 0; i < 2; ++i) pattern_->solve(place.factor, forces);
        pull_back(look(part, place), place.free, forces, sum);
    });
}

Eigen::VectorXd DisplacementBalance::right(const Part& part) const
{
    const Eigen::VectorXd zero = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(unknowns_.size()));
    return sum_over(part, zero, [&](std::size_t, const Place& place, Eigen::VectorXd& sum) {
        Eigen::VectorXf forces = look(part, place).needed;
        for (int i = 0; i < 2; ++i) pattern_->solve(place.factor, forces);
        pull_back(look(part, place), place.free, forces, sum);
    });
}

Eigen::MatrixXd DisplacementBalance::shared_system(const Part& part,
                                                   const std::vector<std::size_t>& shared,
                                                   std::size_t size) const
{
    const Eigen::Index count = index_of(size);
    const Eigen::MatrixXd zero = Eigen::MatrixXd::Zero(count, count + 1);
    return sum_over(part, zero, [&](std::size_t, const Place& place, Eigen::MatrixXd& sum) {
        const Look& seen = look(part, place);
        FactorPattern::Columns columns =
            FactorPattern::Columns::Zero(seen.needed.size(), count + 1);
        columns.col(count) = seen.needed;
        for (const Member& member : members_) {
            const float* unit = seen.unit.data() + member.first;
            const int numbers = 3 * member.vectors;
            for (const std::size_t unknown : member.unknowns) {
                const Eigen::Index column = index_of(shared[unknown]);
                for (const ParticleShare& share : member.shares) {
                    if (!place.free[share.particle]) continue;
                    for (int i = 0; i < numbers; ++i) {
                        columns(3 * share.particle + i % 3, column) +=
                            float(share.weight[i / 3]) * unit[i];
                    }
                }
                unit += numbers;
            }
        }
        pattern_->solve(place.factor, columns);
        sum += (columns.leftCols(count).transpose() * columns).cast<double>();
        work_.add(0.5 * double(count) * work_per_place());
    });
}

// For z of random signs at every place, A^T W z has the products A^T W W A on the mean.
template <class Sum, class Add>
Sum DisplacementBalance::probed(const Sum& zero, const Add& add) const
{
    constexpr int kProbes = 4;  // at every place
    return sum_over({}, zero, [&](std::size_t index, const Place& place, Sum& sum) {
        Random random = Random::stream(1, index);
        Eigen::VectorXf probe(place.observed.needed.size());
        for (int i = 0; i < kProbes; ++i) {
            for (float& value : probe) value = random.uniform() < 0.5 ? -1.0f : 1.0f;
            pattern_->solve(place.factor, probe);
            Eigen::VectorXd pulled =
                Eigen::VectorXd::Zero(static_cast<Eigen::Index>(unknowns_.size()));
            pull_back(place.observed, place.free, probe, pulled);
            add(std::sqrt(1.0 / kProbes) * pulled, sum);
        }
    });
}

Eigen::VectorXd DisplacementBalance::diagonal() const
{
    const Eigen::VectorXd zero = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(unknowns_.size()));
    return probed(zero, [](const Eigen::VectorXd& pulled, Eigen::VectorXd& sum) {
        sum += pulled.cwiseAbs2();
    });
}

DisplacementBalance::Blocks DisplacementBalance::blocks() const
{
    Blocks result;
    result.first.resize(unknowns_.size());
    std::size_t most = 0;
    for (const Member& member : members_) {
        for (const std::size_t unknown : member.unknowns) {
            result.first[unknown] = member.unknowns.front();
        }
        most = std::max(most, member.unknowns.size());
    }
    const Eigen::MatrixXd zero = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(unknowns_.size()),
                                                       static_cast<Eigen::Index>(most));
    result.values = probed(zero, [&](const Eigen::VectorXd& pulled, Eigen::MatrixXd& sum) {
        for (const Member& member : members_) {
            for (const std::size_t i : member.unknowns) {
                for (const std::size_t j : member.unknowns) {
                    const auto column = static_cast<Eigen::Index>(j - result.first[i]);
                    sum(static_cast<Eigen::Index>(i), column) +=
                        pulled[static_cast<Eigen::Index>(i)] * pulled[static_cast<Eigen::Index>(j)];
                }
            }
        }
    });
    return result;
}

DisplacementBalance::Squares DisplacementBalance::squares(const Part& part,
                                                          const Eigen::VectorXd* parameters) const
{
    const Eigen::Vector2d sums = sum_over(
        part, Eigen::Vector2d(0, 0), [&](std::size_t, const Place& place, Eigen::Vector2d& sum) {
            const Look& seen = look(part, place);
            Eigen::VectorXf left = Eigen::VectorXf::Zero(seen.needed.size());
            if (parameters) exert(seen, place.free, *parameters, left);
            left -= seen.needed;
            sum[1] += left.squaredNorm();
            pattern_->solve(place.factor, left);
            sum[0] += left.squaredNorm();
        });
    return {sums[0], sums[1]};
}

Eigen::VectorXd DisplacementBalance::squares_by_stretch(const Part& part,
                                                        const Eigen::VectorXd& parameters,
                                                        int groups) const
{
    const Eigen::VectorXd zero = Eigen::VectorXd::Zero(groups);
    return sum_over(part, zero, [&](std::size_t, const Place& place, Eigen::VectorXd& sum) {
        Eigen::VectorXf left;
        exert(look(part, place), place.free, parameters, left);
        left -= look(part, place).needed;
        pattern_->solve(place.factor, left);
        sum[static_cast<Eigen::Index>(place.stretch % std::size_t(groups))] += left.squaredNorm();
    });
}

Eigen::MatrixXd DisplacementBalance::scores(const Part& part, const Eigen::VectorXd& parameters,
                                            int groups) const
{
    const Eigen::MatrixXd zero = Eigen::MatrixXd::Zero(parameters.size(), groups);
    return sum_over(part, zero, [&](std::size_t, const Place& place, Eigen::MatrixXd& sum) {
        Eigen::VectorXf left;
        exert(look(part, place), place.free, parameters, left);
        left = look(part, place).needed - left;
        for (int i = 0; i < 2; ++i) pattern_->solve(place.factor, left);
        Eigen::VectorXd score = Eigen::VectorXd::Zero(parameters.size());
        pull_back(look(part, place), place.free, left, score);
        sum.col(static_cast<Eigen::Index>(place.stretch % std::size_t(groups))) += score;
    });
}

long DisplacementBalance::equation_count() const
{
    long count = 0;
    for (const Place& place : places_) {
        count += 3 * std::count(place.free.begin(), place.free.end(), char(1));
    }
    return count;
}

}  // namespace springtime
