#include "backends/simd/grid_stepper.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>

#include "backends/simd/sweep_table.h"
#include "core/assert.h"
#include "sim/forces.h"

namespace springtime {

namespace {

struct PlacedElement {
    int offset;  // index into kGridOffsets
    int first;   // particle it starts from
};

// Where an element lies whose first step leads from one end to the other.
std::optional<PlacedElement> placed(const Grid& grid, std::span<const GridOffset> offsets, int end,
                                    int other)
{
    const auto [low, high] = std::minmax(end, other);
    const int down = high / grid.cols - low / grid.cols;
    const int right = high % grid.cols - low % grid.cols;
    for (std::size_t o = 0; o < offsets.size(); ++o) {
        if (offsets[o].down == down && offsets[o].right == right) {
            return PlacedElement{static_cast<int>(o), low};
        }
    }
    return std::nullopt;
}

std::optional<PlacedElement> placed_spring(const Cloth& cloth, std::size_t spring)
{
    const auto [a, b] = cloth.springs.ends[spring];
    return placed(*cloth.grid, std::span(kGridOffsets).first<kSpringOffsetCount>(), a, b);
}
std::optional<PlacedElement> placed_bend(const Cloth& cloth, std::size_t bend)
{
    const auto [a, middle, b] = cloth.bends.particles[bend];
    return placed(*cloth.grid, std::span(kGridOffsets).first<kGridLineCount>(), a, middle);
}

// Whether `count` elements all have a place, and one of their own.
template <class PlaceOf>
bool all_placed(std::size_t count, PlaceOf place_of)
{
    std::set<std::pair<int, int>> taken;
    for (std::size_t e = 0; e < count; ++e) {
        const std::optional<PlacedElement> place = place_of(e);
        if (!place || !taken.insert({place->offset, place->first}).second) return false;
    }
    return true;
}

}  // namespace

bool GridStepper::fits(const Cloth& cloth)
{
    if (!cloth.grid || cloth.triangles.triangle_count() > 0 || cloth.hinges.hinge_count() > 0 ||
        cloth.couplings.coupling_count() > 0) {
        return false;
    }
    return all_placed(cloth.springs.spring_count(),
                      [&](std::size_t s) { return placed_spring(cloth, s); }) &&
           all_placed(cloth.bends.bend_count(),
                      [&](std::size_t i) { return placed_bend(cloth, i); });
}

GridStepper::GridStepper(const Cloth& cloth, const SimulationOptions& options,
                         const KernelSet& kernels)
    : SingleStepper(cloth, options, kernels)
{
    SPRINGTIME_ASSERT(fits(cloth) && kernels.width <= kGridMargin);
    rows_ = cloth.grid->rows;
    cols_ = cloth.grid->cols;
    pitch_ = (cols_ + kernels.width - 1) / kernels.width * kernels.width;
    // The kernel reads, and multiplies by zero, up to two rows and two columns past the end.
    const std::size_t numbers = kGridMargin + (rows_ + 2) * pitch_ + kGridMargin;
    for (int axis = 0; axis < 3; ++axis) {
        position_[axis].assign(numbers, 0);
        velocity_[axis].assign(numbers, 0);
    }
    mobility_.assign(numbers, 0);
    inverse_mass_.assign(numbers, 0);
    for (std::size_t p = 0; p < cloth.particle_count(); ++p) {
        inverse_mass_[index(p)] = float(1 / cloth.mass[p]);
        index_.push_back(static_cast<int>(index(p)));
    }

    add_springs(cloth, numbers);
    add_bends(cloth, numbers);
    force_.assign((9 * kGridOffsetCount + 3) * (pitch_ + 2 * kGridMargin), 0);
}

void GridStepper::add_springs(const Cloth& cloth, std::size_t numbers)
{
    range_count_ = static_cast<int>(cloth.springs.ranges.size());
    compression_law_ = has_compression_law(cloth.springs);
    law_pitch_ = has_law(cloth.springs) ? long(numbers) : 0;
    for (std::size_t s = 0; s < cloth.springs.spring_count(); ++s) {
        const PlacedElement spring = *placed_spring(cloth, s);
        OffsetSprings& family = springs_[spring.offset];
        if (family.stiffness.empty()) {
            family.rest_length.assign(numbers, 0);
            family.stiffness.assign(numbers, 0);
            family.damping.assign(numbers, 0);
            family.laws.assign(law_number_count(range_count_) * law_pitch_, 0);
        }
        const std::size_t i = index(spring.first);
        family.rest_length[i] = float(cloth.springs.rest_length[s]);
        family.stiffness[i] = float(cloth.springs.stiffness[s]);
        family.damping[i] = float(cloth.springs.damping[s]);
        if (law_pitch_ == 0) continue;
        std::vector<float> law;
        add_law_numbers(cloth.springs, s, law);
        for (std::size_t n = 0; n < law.size(); ++n) family.laws[n * law_pitch_ + i] = law[n];
    }
}

void GridStepper::add_bends(const Cloth& cloth, std::size_t numbers)
{
    for (std::size_t i = 0; i < cloth.bends.bend_count(); ++i) {
        const PlacedElement bend = *placed_bend(cloth, i);
        LineBends& line = bends_[bend.offset];
        if (line.stiffness.empty()) {
            line.stiffness.assign(numbers, 0);
            line.damping.assign(numbers, 0);
        }
        line.stiffness[index(bend.first)] = float(cloth.bends.stiffness[i]);
        line.damping[index(bend.first)] = float(cloth.bends.damping[i]);
        line.damped = line.damped || cloth.bends.damping[i] != 0;
    }
}

void GridStepper::load(int, const State& state, const Handles& handles)
{
    course_.load(state, handles);
    for (int axis = 0; axis < 3; ++axis) {  // a blow-up leaves NaN in the filling behind each row
        std::fill(position_[axis].begin(), position_[axis].end(), 0.0f);
        std::fill(velocity_[axis].begin(), velocity_[axis].end(), 0.0f);
    }
    const ScatteredParticles particles = scattered();
    for (std::size_t p = 0; p < rows_ * cols_; ++p) {
        particles.place(static_cast<int>(p), state.position[p], state.velocity[p]);
        mobility_[index(p)] = float(dt_);
    }
    hold(0, handles.particles);
}

void GridStepper::store(int, State& state) const
{
    state.time = time();
    for (std::size_t p = 0; p < rows_ * cols_; ++p) {
        for (int axis = 0; axis < 3; ++axis) {
            state.position[p][axis] = position_[axis][index(p)];
            state.velocity[p][axis] = velocity_[axis][index(p)];
        }
    }
}

// An offset that springs or bends lead along gets its number among those that the cloth has.
int GridStepper::add_offset(int offset, GridArrays& grid) const
{
    const OffsetSprings& springs = springs_[offset];
    const auto place = [](const AlignedVector<float>& numbers) {
        return numbers.empty() ? nullptr : numbers.data() + kGridMargin;
    };
    const int number = grid.offset_count++;
    grid.offset[number] = kGridOffsets[offset];
    grid.rest_length[number] = place(springs.rest_length);
    grid.stiffness[number] = place(springs.stiffness);
    grid.damping[number] = place(springs.damping);
    grid.laws[number] = place(springs.laws);
    return number;
}

GridArrays GridStepper::arrays()
{
    GridArrays grid{};
    grid.rows = static_cast<int>(rows_);
    grid.pitch = static_cast<int>(pitch_);
    for (int axis = 0; axis < 3; ++axis) {
        grid.position[axis] = position_[axis].data() + kGridMargin;
        grid.velocity[axis] = velocity_[axis].data() + kGridMargin;
    }
    grid.mobility = mobility_.data() + kGridMargin;
    grid.inverse_mass = inverse_mass_.data() + kGridMargin;
    for (int l = 0; l < kGridLineCount; ++l) {
        if (bends_[l].stiffness.empty()) continue;
        const int line = grid.line_count++;
        grid.near[line] = add_offset(l, grid);
        grid.far[line] = add_offset(l + kGridLineCount, grid);
        grid.bend_stiffness[line] = bends_[l].stiffness.data() + kGridMargin;
        grid.bend_damping[line] = bends_[l].damping.data() + kGridMargin;
        grid.damped_bends = grid.damped_bends || bends_[l].damped;
    }
    for (int o = 0; o < kGridOffsetCount; ++o) {
        if (springs_[o].stiffness.empty() || !bends_[o % kGridLineCount].stiffness.empty())
            continue;
        grid.alone[grid.alone_count++] = add_offset(o, grid);
    }
    grid.range_count = range_count_;
    grid.law_pitch = law_pitch_;
    grid.compression_law = compression_law_;
    grid.force = force_.data();
    return grid;
}

void GridStepper::advance(int steps)
{
    const GridArrays grid = arrays();
    for (int i = 0; i < steps; ++i) {
        kernels_.grid_step(air_, grid);
        finish_step();
    }
}

ScatteredParticles GridStepper::scattered()
{
    ScatteredParticles particles{{}, {}, index_.data()};
    for (int axis = 0; axis < 3; ++axis) {
        particles.x[axis] = position_[axis].data();
        particles.v[axis] = velocity_[axis].data();
    }
    return particles;
}

// The filling behind each row has no mobility and stays out of it.
void GridStepper::meet_obstacles(const ContactScene& scene)
{
    ContactParticles particles{
        long(rows_ * pitch_) / kernels_.width, kernels_.width, kernels_.width, {}, {},
        mobility_.data() + kGridMargin};
    for (int axis = 0; axis < 3; ++axis) {
        particles.position[axis] = position_[axis].data() + kGridMargin;
        particles.velocity[axis] = velocity_[axis].data() + kGridMargin;
    }
    kernels_.meet_obstacles(scene, particles);
}

}  // namespace springtime
