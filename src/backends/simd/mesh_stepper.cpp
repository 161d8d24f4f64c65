#include "backends/simd/mesh_stepper.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "backends/simd/element_table.h"
#include "backends/simd/sweep_table.h"
#include "core/assert.h"
#include "sim/forces.h"

namespace springtime {

bool MeshStepper::fits(const Cloth& cloth)
{
    return cloth.springs.spring_count() == 0 && cloth.bends.bend_count() == 0 &&
           cloth.couplings.coupling_count() == 0 && cloth.triangles.triangle_count() > 0;
}

// Lane l of group g holds element l * count + g: elements that share a particle lie in one lane,
// some groups apart, so that no force is waited for. Lanes without an element have the particle
// after the last one at all corners, and zeros for numbers.
template <class Element, class NumbersOf>
MeshStepper::Groups MeshStepper::grouped(const std::vector<Element>& elements,
                                         NumbersOf numbers_of) const
{
    const std::size_t width = kernels_.width, corners = std::size(Element{}.corners);
    const std::size_t numbers = numbers_of(Element{}).size();
    const std::size_t count = (elements.size() + width - 1) / width;
    Groups groups;
    groups.count = static_cast<int>(count);
    groups.corners.assign(count * corners * width, static_cast<int>(particle_count_));
    groups.numbers.assign(count * numbers * width, 0);
    for (std::size_t i = 0; i < elements.size(); ++i) {
        const std::size_t lane = i / count, group = i % count;
        for (std::size_t c = 0; c < corners; ++c) {
            groups.corners[(group * corners + c) * width + lane] = elements[i].corners[c];
        }
        const auto values = numbers_of(elements[i]);
        for (std::size_t n = 0; n < numbers; ++n) {
            groups.numbers[(group * numbers + n) * width + lane] = values[n];
        }
    }
    return groups;
}

MeshStepper::MeshStepper(const Cloth& cloth, const SimulationOptions& options,
                         const KernelSet& kernels)
    : SingleStepper(cloth, options, kernels),
      particle_count_(cloth.particle_count()),
      damps_strain_(cloth.triangles.damping_kind == TriangleDamping::strain),
      woven_(is_woven(cloth.triangles))
{
    SPRINGTIME_ASSERT(fits(cloth));
    const ElementTable table(cloth);
    const auto plain_numbers = [](const SweepTriangle& t) {
        const auto& [shear, area, damping, warp, weft] = t.material;
        return std::array{
            t.rest_area, t.inverse[0][0], t.inverse[0][1], t.inverse[1][0], t.inverse[1][1], shear,
            area,        damping};
    };
    const auto woven_numbers = [](const SweepTriangle& t) {
        const auto& [shear, area, damping, warp, weft] = t.material;
        return std::array{t.rest_area,
                          t.inverse[0][0],
                          t.inverse[0][1],
                          t.inverse[1][0],
                          t.inverse[1][1],
                          shear,
                          area,
                          damping,
                          warp,
                          weft};
    };
    triangles_ = woven_ ? grouped(table.triangles(), woven_numbers)
                        : grouped(table.triangles(), plain_numbers);
    hinges_ = grouped(table.hinges(), [](const SweepHinge& h) {
        return std::array{h.least_square[0], h.least_square[1], h.material[0], h.material[1]};
    });
    // A hinge without area is kept from dividing by zero by the least area that still counts.
    for (std::size_t i = 0; i < hinges_.numbers.size(); ++i) {
        const bool least = i / kernels_.width % 4 < 2;
        if (least && hinges_.numbers[i] == 0) hinges_.numbers[i] = 1;
    }
    const std::size_t width = kernels_.width;
    const std::size_t padded = (particle_count_ + 1 + width - 1) / width * width;
    state_.assign(8 * padded, 0);
    force_.assign(4 * padded, 0);
    mobility_.assign(padded, 0);
    inverse_mass_.assign(padded, 0);
    for (std::size_t p = 0; p < particle_count_; ++p) inverse_mass_[p] = float(1 / cloth.mass[p]);
    if (!contact_.empty()) {
        for (auto& numbers : contact_state_) numbers.assign(padded, 0);
    }
    for (std::size_t p = 0; p < particle_count_; ++p) index_.push_back(static_cast<int>(8 * p));
}

void MeshStepper::load(int, const State& state, const Handles& handles)
{
    course_.load(state, handles);
    std::fill(state_.begin(), state_.end(), 0.0f);  // a blow-up leaves NaN behind
    std::fill(force_.begin(), force_.end(), 0.0f);
    const ScatteredParticles particles = scattered();
    for (std::size_t p = 0; p < particle_count_; ++p) {
        particles.place(static_cast<int>(p), state.position[p], state.velocity[p]);
        mobility_[p] = float(dt_);
    }
    hold(0, handles.particles);
}

void MeshStepper::store(int, State& state) const
{
    state.time = time();
    for (std::size_t p = 0; p < particle_count_; ++p) {
        for (int axis = 0; axis < 3; ++axis) {
            state.position[p][axis] = state_[8 * p + axis];
            state.velocity[p][axis] = state_[8 * p + 4 + axis];
        }
    }
}

void MeshStepper::advance(int steps)
{
    const MeshArrays mesh{static_cast<int>(mobility_.size()),
                          state_.data(),
                          force_.data(),
                          mobility_.data(),
                          inverse_mass_.data(),
                          triangles_.count,
                          hinges_.count,
                          triangles_.corners.data(),
                          hinges_.corners.data(),
                          triangles_.numbers.data(),
                          hinges_.numbers.data(),
                          damps_strain_,
                          woven_};
    for (int i = 0; i < steps; ++i) {
        kernels_.mesh_step(air_, mesh);
        finish_step();
    }
}

ScatteredParticles MeshStepper::scattered()
{
    ScatteredParticles particles{{}, {}, index_.data()};
    for (int axis = 0; axis < 3; ++axis) {
        particles.x[axis] = state_.data() + axis;
        particles.v[axis] = state_.data() + 4 + axis;
    }
    return particles;
}

// The kernel wants x, y and z apart.
void MeshStepper::meet_obstacles(const ContactScene& scene)
{
    const std::size_t padded = mobility_.size();
    const auto number = [](std::size_t p, int i) { return 8 * p + (i < 3 ? i : i + 1); };
    for (std::size_t p = 0; p < padded; ++p) {
        for (int i = 0; i < 6; ++i) contact_state_[i][p] = state_[number(p, i)];
    }
    ContactParticles particles{
        long(padded) / kernels_.width, kernels_.width, kernels_.width, {}, {}, mobility_.data()};
    for (int axis = 0; axis < 3; ++axis) {
        particles.position[axis] = contact_state_[axis].data();
        particles.velocity[axis] = contact_state_[3 + axis].data();
    }
    kernels_.meet_obstacles(scene, particles);
    for (std::size_t p = 0; p < padded; ++p) {
        for (int i = 0; i < 6; ++i) state_[number(p, i)] = contact_state_[i][p];
    }
}

}  // namespace springtime
