#include "learn/balance.h"

#include <algorithm>
#include <cmath>

#include "core/assert.h"
#include "core/parallel.h"

namespace springtime {

BalanceRows::BalanceRows(const Cloth& cloth, std::size_t count)
    : place_count(count),
      needed(cloth.particle_count() * count * 3),
      free(cloth.particle_count() * count, 1)
{
    for (const Element type : kElements) {
        const std::size_t elements = element_count(cloth, type);
        if (elements == 0) continue;
        Group& of = group(type);
        of.kinds = static_cast<int>(parameters_in(cloth, type).size());
        of.vectors = vector_count(type);
        of.unit.resize(elements * of.kinds * of.vectors * count * 3);
        of.seen.assign(elements * count, 1);
    }
}

void BalanceRows::subtract(const BalanceRows& rows)
{
    const auto subtract_all = [](std::vector<double>& from, const std::vector<double>& values) {
        for (std::size_t i = 0; i < from.size(); ++i) from[i] -= values[i];
    };
    for (std::size_t i = 0; i < groups.size(); ++i) {
        subtract_all(groups[i].unit, rows.groups[i].unit);
    }
    subtract_all(needed, rows.needed);
}

std::size_t row_bytes(const Cloth& cloth)
{
    std::size_t numbers = cloth.particle_count() * 3;
    for (const Element type : kElements) {
        numbers += element_count(cloth, type) * parameters_in(cloth, type).size() *
                   std::size_t(vector_count(type)) * 3;
    }
    return numbers * sizeof(double);
}

NormalBlocks::NormalBlocks(const Cloth& cloth, const std::optional<Regions>& regions,
                           const std::optional<ParticleRange>& range)
    : range_(range.value_or(ParticleRange{0, cloth.particle_count()})),
      blocks_(cloth.particle_count())
{
    const Unknowns unknowns(cloth, regions);
    unknown_count_ = unknowns.size();
    for (const Element type : kElements) {
        for (std::size_t e = 0; e < element_count(cloth, type); ++e) {
            for (const ParticleShare& share : particle_shares(cloth, type, e)) {
                if (!range_.has(std::size_t(share.particle))) continue;
                add_member(unknowns, type, e, share);
            }
        }
    }
    for (Block& block : blocks_) {
        const auto size = static_cast<Eigen::Index>(block.unknowns.size());
        block.matrix.setZero(size, size);
        block.right.setZero(size);
    }
}

void NormalBlocks::add_member(const Unknowns& unknowns, Element type, std::size_t element,
                              const ParticleShare& share)
{
    Block& block = blocks_[share.particle];
    Member member{type, static_cast<int>(element), share.weight, {}};
    for (std::size_t k = 0; k < unknowns.parameters().size(); ++k) {
        if (unknowns.parameters()[k].kind->element != type) continue;
        const int unknown = static_cast<int>(unknowns.number(k, element));
        const auto found = std::find(block.unknowns.begin(), block.unknowns.end(), unknown);
        member.rows.push_back(
            {static_cast<int>(found - block.unknowns.begin()), unknowns.scale(k, element)});
        if (found == block.unknowns.end()) block.unknowns.push_back(unknown);
    }
    block.members.push_back(std::move(member));
}

std::vector<int> NormalBlocks::usable(const Block& block, const BalancePair& rows,
                                      std::size_t particle)
{
    const std::size_t count = rows.one.place_count;
    std::vector<int> places;
    for (std::size_t i = 0; i < count; ++i) {
        const auto seen = [&](const BalanceRows& look) {
            return look.free[particle * count + i] &&
                   std::all_of(
                       block.members.begin(), block.members.end(), [&](const Member& member) {
                           return look.group(member.type).seen[member.element * count + i] != 0;
                       });
        };
        if (seen(rows.one) && seen(rows.other)) places.push_back(static_cast<int>(i));
    }
    return places;
}

void NormalBlocks::gather(const Block& block, const BalanceRows& rows, std::size_t particle,
                          const std::vector<int>& places, Gathered& to)
{
    const auto columns = static_cast<Eigen::Index>(places.size() * 3);
    to.unit.setZero(static_cast<Eigen::Index>(block.unknowns.size()), columns);
    to.needed.resize(columns);
    for (std::size_t i = 0; i < places.size(); ++i) {
        const std::size_t from = (particle * rows.place_count + places[i]) * 3;
        for (int axis = 0; axis < 3; ++axis) {
            to.needed[static_cast<Eigen::Index>(i * 3 + axis)] = rows.needed[from + axis];
        }
    }
    for (const Member& member : block.members) {
        const int vectors = rows.group(member.type).vectors;
        for (std::size_t k = 0; k < member.rows.size(); ++k) {
            const auto [row, scale] = member.rows[k];
            for (int v = 0; v < vectors; ++v) {
                const double share = scale * member.weight[v];
                if (share == 0) continue;
                const double* unit =
                    rows.unit_of(member.type, member.element, static_cast<int>(k), v);
                for (std::size_t i = 0; i < places.size(); ++i) {
                    for (int axis = 0; axis < 3; ++axis) {
                        to.unit(row, static_cast<Eigen::Index>(i * 3 + axis)) +=
                            share * unit[places[i] * 3 + axis];
                    }
                }
            }
        }
    }
}

void NormalBlocks::add(const BalancePair& rows, int threads)
{
    const bool instruments = &rows.one != &rows.other;
    parallel_for(static_cast<int>(range_.size()), threads, [&](int i) {
        thread_local Gathered one, other;
        const std::size_t p = range_.begin + static_cast<std::size_t>(i);
        Block& block = blocks_[p];
        const std::vector<int> places = usable(block, rows, p);
        if (places.empty()) return;
        gather(block, rows.one, p, places, one);
        if (instruments) gather(block, rows.other, p, places, other);
        const Gathered& second = instruments ? other : one;
        const Eigen::MatrixXd product = one.unit * second.unit.transpose();
        block.matrix += 0.5 * (product + product.transpose());
        block.right += 0.5 * (one.unit * second.needed + second.unit * one.needed);
        block.squares += one.needed.dot(second.needed);
        block.rows += static_cast<long>(places.size() * 3);
    });
}

void NormalBlocks::add(const NormalBlocks& blocks)
{
    for (std::size_t p = 0; p < blocks_.size(); ++p) {
        blocks_[p].matrix += blocks.blocks_[p].matrix;
        blocks_[p].right += blocks.blocks_[p].right;
        blocks_[p].squares += blocks.blocks_[p].squares;
        blocks_[p].rows += blocks.blocks_[p].rows;
    }
}

// Column by column, from the blocks that have the unknown of the column.
BoundedSystem NormalBlocks::assemble() const
{
    struct Use {
        const Block* block;
        Eigen::Index at;
    };
    std::vector<std::vector<Use>> uses(unknown_count());
    for (const Block& block : blocks_) {
        for (std::size_t i = 0; i < block.unknowns.size(); ++i) {
            uses[block.unknowns[i]].push_back({&block, static_cast<Eigen::Index>(i)});
        }
    }
    const auto size = static_cast<Eigen::Index>(unknown_count());
    BoundedSystem system{Eigen::SparseMatrix<double>(size, size), Eigen::VectorXd::Zero(size)};
    std::vector<double> sum(unknown_count(), 0);
    std::vector<char> touched(unknown_count(), 0);
    std::vector<int> rows;
    for (std::size_t column = 0; column < unknown_count(); ++column) {
        rows.clear();
        for (const auto& [block, at] : uses[column]) {
            system.right[static_cast<Eigen::Index>(column)] += block->right[at];
            for (std::size_t i = 0; i < block->unknowns.size(); ++i) {
                const int row = block->unknowns[i];
                if (!touched[row]) rows.push_back(row);
                touched[row] = 1;
                sum[row] += block->matrix(static_cast<Eigen::Index>(i), at);
            }
        }
        std::sort(rows.begin(), rows.end());
        system.matrix.startVec(static_cast<Eigen::Index>(column));
        for (const int row : rows) {
            system.matrix.insertBack(row, static_cast<Eigen::Index>(column)) = sum[row];
            sum[row] = 0;
            touched[row] = 0;
        }
    }
    system.matrix.finalize();
    return system;
}

Elimination NormalBlocks::elimination(const std::vector<SheetPoint>& rest) const
{
    std::vector<Extent> extents(unknown_count(), {{HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL}});
    for (std::size_t p = 0; p < blocks_.size(); ++p) {
        const std::array point{rest[p].u, rest[p].v};
        for (const int unknown : blocks_[p].unknowns) {
            for (std::size_t axis = 0; axis < point.size(); ++axis) {
                Extent& extent = extents[unknown];
                extent.low[axis] = std::min(extent.low[axis], point[axis]);
                extent.high[axis] = std::max(extent.high[axis], point[axis]);
            }
        }
    }
    return Elimination(assemble().matrix, extents);
}

double NormalBlocks::work_per_place() const
{
    // What surrounds the products costs about as much as this many columns of them. It is a guess,
    // and only decides how progress is shared out.
    constexpr double kBeside = 100;
    double sum = 0;
    for (const Block& block : blocks_) {
        const auto size = double(block.unknowns.size());
        sum += 3 * size * (size + kBeside);
    }
    return sum;
}

double NormalBlocks::residual(const Eigen::VectorXd& parameters) const
{
    double sum = 0;
    for (const Block& block : blocks_) {
        const Eigen::VectorXd x = parameters(block.unknowns);
        sum += block.squares - 2 * x.dot(block.right) + x.dot(block.matrix * x);
    }
    return sum;
}

double NormalBlocks::least_residual(double rows_per_equation) const
{
    constexpr double kRidge = 1e-12;  // of the mean of the diagonal: some elements see no motion
    double sum = 0;
    for (const Block& block : blocks_) {
        if (block.rows == 0) continue;
        Eigen::MatrixXd matrix = block.matrix;
        matrix.diagonal().array() += kRidge * matrix.trace() / double(matrix.rows());
        const Eigen::VectorXd x = matrix.ldlt().solve(block.right);
        const double left = block.squares - 2 * x.dot(block.right) + x.dot(block.matrix * x);
        const double equations = double(block.rows) / rows_per_equation;
        const double spare = equations - double(block.unknowns.size());
        sum += spare > 0 ? std::min(block.squares, left * equations / spare) : block.squares;
    }
    return sum;
}

double NormalBlocks::squares() const
{
    double sum = 0;
    for (const Block& block : blocks_) sum += block.squares;
    return sum;
}

long NormalBlocks::row_count() const
{
    long sum = 0;
    for (const Block& block : blocks_) sum += block.rows;
    return sum;
}

NormalBlocks::Scores::Scores(std::size_t unknowns, int groups)
    : of_group(Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(unknowns), groups)),
      information(of_group)
{
}

void NormalBlocks::Scores::add(const Scores& scores)
{
    of_group += scores.of_group;
    information += scores.information;
    squares += scores.squares;
}

std::vector<NormalBlocks::Scores> NormalBlocks::score_parts(
    const BalancePair& rows, const std::vector<Eigen::VectorXd>& values,
    const std::vector<int>& group_of_place, int groups, int threads) const
{
    const bool instruments = &rows.one != &rows.other;
    std::vector<Scores> parts(range_.size(), Scores(0, groups));
    parallel_for(static_cast<int>(range_.size()), threads, [&](int i) {
        thread_local Gathered one, other;
        const std::size_t p = range_.begin + static_cast<std::size_t>(i);
        const Block& block = blocks_[p];
        const std::vector<int> places = usable(block, rows, p);
        if (places.empty()) return;
        gather(block, rows.one, p, places, one);
        if (instruments) gather(block, rows.other, p, places, other);
        const Gathered& second = instruments ? other : one;
        const Eigen::VectorXd& x = values[i];
        const Eigen::VectorXd left = one.needed - one.unit.transpose() * x;
        const Eigen::VectorXd right = second.needed - second.unit.transpose() * x;
        Scores& part = parts[i] = Scores(block.unknowns.size(), groups);
        for (std::size_t n = 0; n < places.size(); ++n) {
            const auto at = static_cast<Eigen::Index>(3 * n);
            const auto here = one.unit.middleCols<3>(at);
            const auto there = second.unit.middleCols<3>(at);
            const int group = group_of_place[places[n]];
            part.of_group.col(group) +=
                0.5 * (here * right.segment<3>(at) + there * left.segment<3>(at));
            part.information.col(group) += here.cwiseProduct(there).rowwise().sum();
        }
        part.squares = 0.25 * (left + right).squaredNorm();
    });
    return parts;
}

NormalBlocks::Scores NormalBlocks::sum_of(const std::vector<Scores>& parts, int groups) const
{
    Scores sum(unknown_count(), groups);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (parts[i].of_group.size() > 0) {
            const std::vector<int>& unknowns = blocks_[range_.begin + i].unknowns;
            sum.of_group(unknowns, Eigen::all) += parts[i].of_group;
            sum.information(unknowns, Eigen::all) += parts[i].information;
        }
        sum.squares += parts[i].squares;
    }
    return sum;
}

std::vector<Eigen::VectorXd> NormalBlocks::values_of_blocks(const Eigen::VectorXd& parameters) const
{
    std::vector<Eigen::VectorXd> values;
    for (std::size_t p = range_.begin; p < range_.end; ++p) {
        values.emplace_back(parameters(blocks_[p].unknowns));
    }
    return values;
}

NormalBlocks::Scores NormalBlocks::scores(const BalancePair& rows,
                                          const Eigen::VectorXd& parameters,
                                          const std::vector<int>& group_of_place, int groups,
                                          int threads) const
{
    return sum_of(score_parts(rows, values_of_blocks(parameters), group_of_place, groups, threads),
                  groups);
}

void NormalBlocks::take(const NormalBlocks& part, ParticleRange range)
{
    for (std::size_t p = range.begin; p < range.end; ++p) {
        Block& to = blocks_[p];
        const Block& from = part.blocks_[p];
        to.matrix = from.matrix;
        to.right = from.right;
        to.squares = from.squares;
        to.rows = from.rows;
    }
}

void NormalBlocks::write(WireWriter& to) const
{
    for (std::size_t p = range_.begin; p < range_.end; ++p) {
        const Block& block = blocks_[p];
        to(block.squares, block.rows, std::span(block.matrix.data(), block.matrix.size()),
           std::span(block.right.data(), block.right.size()));
    }
}

void NormalBlocks::read(WireReader& from, ParticleRange range)
{
    std::vector<double> numbers;
    const auto fill = [&](auto& values) {
        from(numbers);
        SPRINGTIME_ASSERT(numbers.size() == std::size_t(values.size()));
        std::copy(numbers.begin(), numbers.end(), values.data());
    };
    for (std::size_t p = range.begin; p < range.end; ++p) {
        Block& block = blocks_[p];
        from(block.squares, block.rows);
        fill(block.matrix);
        fill(block.right);
    }
}

}  // namespace springtime
