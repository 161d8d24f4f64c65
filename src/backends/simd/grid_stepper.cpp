#include "backends/simd/grid_stepper.h"

#include <algorithm>
#include <optional>
#include <set>

#include "backends/simd/sweep_table.h"
#include "core/assert.h"
#include "sim/forces.h"

namespace springtime {

namespace {

struct PlacedSpring {
    int offset;  // index into kGridOffsets
    int first;   // particle it starts from
};

std::optional<PlacedSpring> placed(const Grid& grid, std::array<int, 2> ends)
{
    const auto [low, high] = std::minmax(ends[0], ends[1]);
    const int down = high / grid.cols - low / grid.cols;
    const int right = high % grid.cols - low % grid.cols;
    for (int o = 0; o < kGridOffsetCount; ++o) {
        if (kGridOffsets[o].down == down && kGridOffsets[o].right == right) {
            return PlacedSpring{o, low};
        }
    }
    return std::nullopt;
}

}  // namespace

bool GridStepper::fits(const Cloth& cloth)
{
    if (!cloth.grid || cloth.bends.bend_count() > 0 || cloth.triangles.triangle_count() > 0 ||
        cloth.hinges.hinge_count() > 0) {
        return false;
    }
    std::set<std::pair<int, int>> taken;
    return std::all_of(cloth.springs.ends.begin(), cloth.springs.ends.end(), [&](const auto& ends) {
        const auto spring = placed(*cloth.grid, ends);
        return spring && taken.insert({spring->offset, spring->first}).second;
    });
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

    range_count_ = static_cast<int>(cloth.springs.ranges.size());
    law_pitch_ = has_law(cloth.springs) ? long(numbers) : 0;
    std::array<OffsetSprings, kGridOffsetCount> all;
    for (std::size_t s = 0; s < cloth.springs.spring_count(); ++s) {
        const PlacedSpring spring = *placed(*cloth.grid, cloth.springs.ends[s]);
        OffsetSprings& family = all[spring.offset];
        if (family.stiffness.empty()) {
            family.offset = kGridOffsets[spring.offset];
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
    for (OffsetSprings& family : all) {
        if (!family.stiffness.empty()) springs_.push_back(std::move(family));
    }
    force_.assign((springs_.size() * 9 + 3) * (pitch_ + 2 * kGridMargin), 0);
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

void GridStepper::advance(int steps)
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
    grid.offset_count = static_cast<int>(springs_.size());
    for (int o = 0; o < grid.offset_count; ++o) {
        grid.offset[o] = springs_[o].offset;
        grid.rest_length[o] = springs_[o].rest_length.data() + kGridMargin;
        grid.stiffness[o] = springs_[o].stiffness.data() + kGridMargin;
        grid.damping[o] = springs_[o].damping.data() + kGridMargin;
        grid.laws[o] = law_pitch_ > 0 ? springs_[o].laws.data() + kGridMargin : nullptr;
    }
    grid.range_count = range_count_;
    grid.law_pitch = law_pitch_;
    grid.force = force_.data();
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
