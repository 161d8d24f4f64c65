#pragma once

#include <vector>

#include "physics/rod.h"
#include "springtime/cloth.h"

namespace springtime {

// The forces of the rod of a cloth. Twist waves run along a rope far faster than the rope moves, so
// the frames of its edges are those of least energy: a function of the positions alone. One thread
// at a time may ask.
class RodForces {
  public:
    // The cloth must have a rod.
    explicit RodForces(const Cloth& cloth);

    // Adds the forces of one state. [N]
    template <class Real>
    void add(const std::vector<Vec3<Real>>& position, const std::vector<Vec3<Real>>& velocity,
             std::vector<Vec3<Real>>& force) const
    {
        for (std::size_t p = 0; p < position_.size(); ++p) {
            position_[p] = {double(position[p].x), double(position[p].y), double(position[p].z)};
            velocity_[p] = {double(velocity[p].x), double(velocity[p].y), double(velocity[p].z)};
            force_[p] = {};
        }
        compute();
        for (std::size_t p = 0; p < position_.size(); ++p) {
            force[p] += Vec3<Real>{Real(force_[p].x), Real(force_[p].y), Real(force_[p].z)};
        }
    }

    double energy(const std::vector<Vec3d>& position) const;  // [J]

    // Adds A x, where A is the linear bending of the straight rope with weight B or its damping.
    void add_product(double weight, const std::vector<Vec3d>& x, std::vector<Vec3d>& product) const;

  private:
    void compute() const;
    void place_edges() const;
    void place_frames() const;
    void settle_frames() const;
    double settle_once() const;
    void turn_frames() const;

    Rod rod_;
    std::vector<double> rest_;  // of every edge [m]
    std::vector<JointMaterial> joints_;
    // Room for one state, so that nothing is allocated while a simulation runs.
    mutable std::vector<Vec3d> position_, velocity_, force_;
    mutable std::vector<RodEdge> edges_;
    mutable std::vector<Vec3d> level_;   // a direction across every edge, carried without twist
    mutable std::vector<double> angle_;  // from there to m1
    mutable std::vector<double> diagonal_, beside_, right_;
};

}  // namespace springtime
