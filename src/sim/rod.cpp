#include "sim/rod.h"

#include <algorithm>
#include <cmath>

namespace springtime {

namespace {

Vec3d clamped_direction(const Rod::Clamp& clamp, const Vec3d& tangent)
{
    return transported(clamp.tangent, tangent, clamp.normal);
}

}  // namespace

RodForces::RodForces(const Cloth& cloth)
    : rod_(*cloth.rod),
      rest_(cloth.springs.rest_length),
      position_(cloth.particle_count()),
      velocity_(cloth.particle_count()),
      force_(cloth.particle_count()),
      edges_(rest_.size()),
      level_(rest_.size()),
      angle_(rest_.size()),
      diagonal_(rest_.size()),
      beside_(rest_.size()),
      right_(rest_.size())
{
    for (std::size_t j = 0; j + 1 < rest_.size(); ++j) {
        joints_.push_back(
            {rod_.bending, rod_.twisting, rod_.curvature[j], 0.5 * (rest_[j] + rest_[j + 1])});
    }
}

void RodForces::place_edges() const
{
    for (std::size_t e = 0; e < edges_.size(); ++e) {
        const Vec3d between = position_[e + 1] - position_[e];
        edges_[e].length = length(between);
        edges_[e].tangent = (1 / edges_[e].length) * between;
    }
}

// Without twist from the first edge on, and then evenly twisted so that the last one fits its
// clamp.
void RodForces::place_frames() const
{
    level_[0] = rod_.first ? clamped_direction(*rod_.first, edges_[0].tangent)
                           : direction_across(edges_[0].tangent);
    double total = 0;
    for (std::size_t e = 1; e < edges_.size(); ++e) {
        level_[e] = transported(edges_[e - 1].tangent, edges_[e].tangent, level_[e - 1]);
        total += joints_[e - 1].length;
    }
    const RodEdge& last = edges_.back();
    const double end = rod_.last ? angle_about(last.tangent, level_.back(),
                                               clamped_direction(*rod_.last, last.tangent))
                                 : 0;
    double along = 0;
    for (std::size_t e = 0; e < edges_.size(); ++e) {
        angle_[e] = rod_.first ? end * along / total : end;
        if (e < joints_.size()) along += joints_[e].length;
    }
}

void RodForces::turn_frames() const
{
    for (std::size_t e = 0; e < edges_.size(); ++e) {
        edges_[e].m1 = rolled(edges_[e].tangent, level_[e], angle_[e]);
        edges_[e].m2 = cross(edges_[e].tangent, edges_[e].m1);
    }
}

// Newton's method on the angles that no clamp holds. The matrix is tridiagonal; where it is not
// positive, the energy falls towards a fold, and a step as of twist alone leads there. Returns the
// largest change.
double RodForces::settle_once() const
{
    constexpr double kMost = 0.5;  // [rad]
    std::fill(diagonal_.begin(), diagonal_.end(), 0.0);
    std::fill(beside_.begin(), beside_.end(), 0.0);  // of an edge with the next one
    std::fill(right_.begin(), right_.end(), 0.0);
    for (std::size_t j = 0; j < joints_.size(); ++j) {
        const JointTorques bend = joint_torques(joints_[j], edges_[j], edges_[j + 1]);
        const double twist = joints_[j].twisting / joints_[j].length;
        const double torque = twist * (angle_[j + 1] - angle_[j]);
        right_[j] -= bend.by_e - torque;
        right_[j + 1] -= bend.by_f + torque;
        diagonal_[j] += twist + bend.by_ee;
        diagonal_[j + 1] += twist + bend.by_ff;
        beside_[j] += bend.by_ef - twist;
    }
    const std::size_t begin = rod_.first ? 1 : 0, end = edges_.size() - (rod_.last ? 1 : 0);
    for (std::size_t e = begin; e < end; ++e) {
        if (e > begin) {
            const double factor = beside_[e - 1] / diagonal_[e - 1];
            diagonal_[e] -= factor * beside_[e - 1];
            right_[e] -= factor * right_[e - 1];
        }
        const JointMaterial& joint = joints_[std::min(e, joints_.size() - 1)];
        const double least = 0.1 * joint.twisting / joint.length;
        diagonal_[e] = std::max(diagonal_[e], least);
    }
    double largest = 0;
    for (std::size_t e = end; e-- > begin;) {
        const double next = e + 1 < end ? beside_[e] * right_[e + 1] : 0;
        right_[e] = (right_[e] - next) / diagonal_[e];
        angle_[e] += std::clamp(right_[e], -kMost, kMost);
        largest = std::max(largest, std::abs(right_[e]));
    }
    return largest;
}

void RodForces::settle_frames() const
{
    constexpr int kMostTimes = 12;
    constexpr double kSettled = 1e-3;  // [rad]; after the change that is left, a millionth is off
    place_frames();
    turn_frames();
    for (int i = 0; i < kMostTimes; ++i) {
        const double change = settle_once();
        turn_frames();
        if (!(change > kSettled)) break;
    }
}

void RodForces::compute() const
{
    place_edges();
    settle_frames();
    for (std::size_t j = 0; j < joints_.size(); ++j) {
        const auto [by_e, by_f] =
            joint_gradient(joints_[j], edges_[j], edges_[j + 1], angle_[j + 1] - angle_[j]);
        force_[j] += by_e;
        force_[j + 1] += by_f - by_e;
        force_[j + 2] -= by_f;
    }
    for (Vec3d& v : velocity_) v = -v;
    add_product(rod_.bending_damping, velocity_, force_);
}

double RodForces::energy(const std::vector<Vec3d>& position) const
{
    position_ = position;
    place_edges();
    settle_frames();
    double energy = 0;
    for (std::size_t j = 0; j < joints_.size(); ++j) {
        energy += joint_energy(joints_[j], joint_curvature(edges_[j], edges_[j + 1]),
                               angle_[j + 1] - angle_[j]);
    }
    return energy;
}

// The change of tangent of the straight rope is e = (x_2 - x_1)/L_f - (x_1 - x_0)/L_e, and its
// energy B/(2 l) |e|^2.
void RodForces::add_product(double weight, const std::vector<Vec3d>& x,
                            std::vector<Vec3d>& product) const
{
    for (std::size_t j = 0; j < joints_.size(); ++j) {
        const double before = 1 / rest_[j], after = 1 / rest_[j + 1];
        const Vec3d bend = (weight / joints_[j].length) *
                           (after * (x[j + 2] - x[j + 1]) - before * (x[j + 1] - x[j]));
        product[j] += before * bend;
        product[j + 1] -= (before + after) * bend;
        product[j + 2] += after * bend;
    }
}

}  // namespace springtime
