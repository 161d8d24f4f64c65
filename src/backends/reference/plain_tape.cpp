#include "backends/reference/reference.h"
#include "physics/euler.h"
#include "sim/forces.h"
#include "sim/stretch_tape.h"

namespace springtime {

namespace {

// Double precision, plain loops, one lane: the oracle of gradients.
class PlainTape : public StretchTape<double> {
  public:
    PlainTape(const Cloth& cloth, const SimulationOptions& options, const TapeOptions& tape)
        : StretchTape(cloth.particle_count(), 1, options, tape),
          table_(cloth, options.environment),
          dt_(options.dt),
          force_(cloth.particle_count()),
          parameters_(learned_parameters(cloth)),
          gradient_(kSlotsBesideRanges + cloth.springs.ranges.size(),
                    std::vector<double>(cloth.springs.spring_count())),
          bend_gradient_(kBendSlots, std::vector<double>(cloth.bends.bend_count()))
    {
    }

    void set_parameters(const ParameterValues& values) override
    {
        for (std::size_t k = 0; k < parameters_.size(); ++k) {
            for (std::size_t e = 0; e < values[k].size(); ++e) {
                table_.parameter(parameters_[k], e) = values[k][e];
            }
        }
        const bool masses = values.size() > parameters_.size();
        mass_gradient_.assign(masses ? particle_count() : 0, 0);
        if (!masses) return;
        for (std::size_t p = 0; p < particle_count(); ++p) {
            table_.inverse_mass[p] = 1 / values.back()[p];
        }
    }

    void add_gradient(ParameterValues& gradient) const override
    {
        for (std::size_t p = 0; p < mass_gradient_.size(); ++p) {
            gradient.back()[p] += mass_gradient_[p];
        }
        for (std::size_t k = 0; k < parameters_.size(); ++k) {
            const bool bend = parameters_[k].kind->element == Element::bend;
            const ParameterValues& sums = bend ? bend_gradient_ : gradient_;
            for (std::size_t e = 0; e < gradient[k].size(); ++e) {
                gradient[k][e] += sums[parameters_[k].slot][e];
            }
        }
    }
    void add_lane_gradient(int, ParameterValues& gradient) const override
    {
        add_gradient(gradient);
    }

  protected:
    void step(const double* position, const double* velocity, double* to_position,
              double* to_velocity) override
    {
        add_forces(position, velocity);
        for (std::size_t p = 0; p < particle_count(); ++p) {
            Vec3d x = at(position, p), v = at(velocity, p);
            euler_step(x, v, particle_acceleration(table_, p, force_[p], v), mobility()[p], dt_);
            put(to_position, p, x);
            put(to_velocity, p, v);
        }
    }

    void compute_acceleration(const double* position, const double* velocity,
                              double* result) override
    {
        add_forces(position, velocity);
        for (std::size_t p = 0; p < particle_count(); ++p) {
            const Vec3d a = particle_acceleration(table_, p, force_[p], at(velocity, p));
            put(result, p, mobility()[p] > 0 ? a : Vec3d{});
        }
    }

    void step_adjoint(const double* position, const double* velocity,
                      const double* to_velocity) override
    {
        for (std::size_t p = 0; p < particle_count(); ++p) {
            Vec3d back_velocity = at(adjoint_of_velocity(), p);
            const Vec3d a =
                euler_adjoint(at(adjoint_of_position(), p), back_velocity, mobility()[p], dt_);
            put(adjoint_of_velocity(), p, back_velocity + external_adjoint(a, table_.drag));
            force_[p] = table_.inverse_mass[p] * a;
        }
        for (std::size_t p = 0; p < mass_gradient_.size(); ++p) {
            const Vec3d v = at(velocity, p);
            const Vec3d external =
                external_acceleration(v, table_.gravity, table_.wind, table_.drag);
            mass_gradient_[p] += mass_adjoint(v, at(to_velocity, p), external, 1 / dt_, force_[p]);
        }
        element_adjoints(position, velocity);
    }

    void acceleration_adjoint(const double* position, const double* velocity,
                              const double* adjoint) override
    {
        for (std::size_t p = 0; p < particle_count(); ++p) {
            const Vec3d a = at(adjoint, p);
            put(adjoint_of_velocity(), p,
                at(adjoint_of_velocity(), p) + external_adjoint(a, table_.drag));
            force_[p] = table_.inverse_mass[p] * a;
        }
        element_adjoints(position, velocity);
    }

    void clear_gradient() override
    {
        std::fill(mass_gradient_.begin(), mass_gradient_.end(), 0.0);
        for (auto& kind : gradient_) std::fill(kind.begin(), kind.end(), 0.0);
        for (auto& kind : bend_gradient_) std::fill(kind.begin(), kind.end(), 0.0);
    }

  private:
    static Vec3d at(const double* array, std::size_t p)
    {
        return {array[3 * p], array[3 * p + 1], array[3 * p + 2]};
    }
    static void put(double* array, std::size_t p, const Vec3d& value)
    {
        for (int axis = 0; axis < 3; ++axis) array[3 * p + axis] = value[axis];
    }

    void add_forces(const double* position, const double* velocity)
    {
        std::fill(force_.begin(), force_.end(), Vec3d{});
        for (std::size_t s = 0; s < table_.ends.size(); ++s) {
            const auto [a, b] = table_.ends[s];
            const Vec3d f = table_.force_of_spring(s, at(position, b) - at(position, a),
                                                   at(velocity, b) - at(velocity, a));
            force_[a] += f;
            force_[b] -= f;
        }
        for (const auto& [particles, stiffness, damping] : table_.bends) {
            const Vec3d f = bend_force(difference_at(position, particles),
                                       difference_at(velocity, particles), stiffness, damping);
            force_[particles[0]] += f;
            force_[particles[1]] -= 2.0 * f;
            force_[particles[2]] += f;
        }
    }

    static Vec3d difference_at(const double* array, const std::array<int, 3>& particles)
    {
        const auto [a, m, b] = particles;
        return second_difference(at(array, a), at(array, m), at(array, b));
    }
    static void add(double* array, std::size_t p, const Vec3d& value)
    {
        put(array, p, at(array, p) + value);
    }

    // From the adjoints of the forces, in force_, to those of states and parameters.
    void element_adjoints(const double* position, const double* velocity)
    {
        spring_adjoints(position, velocity);
        bend_adjoints(position, velocity);
    }

    void bend_adjoints(const double* position, const double* velocity)
    {
        for (std::size_t i = 0; i < table_.bends.size(); ++i) {
            const auto& [particles, stiffness, damping] = table_.bends[i];
            const auto [a, m, b] = particles;
            const auto back = bend_adjoint(difference_at(position, particles),
                                           difference_at(velocity, particles), stiffness, damping,
                                           second_difference(force_[a], force_[m], force_[b]));
            for (const auto& [particle, weight] : {std::pair{a, 1.0}, {m, -2.0}, {b, 1.0}}) {
                add(adjoint_of_position(), particle, weight * back.e);
                add(adjoint_of_velocity(), particle, weight * back.rate);
            }
            bend_gradient_[0][i] += back.stiffness;
            bend_gradient_[1][i] += back.damping;
        }
    }

    void spring_adjoints(const double* position, const double* velocity)
    {
        for (std::size_t s = 0; s < table_.ends.size(); ++s) {
            const auto [a, b] = table_.ends[s];
            const auto back =
                adjoint_of_spring(s, at(position, b) - at(position, a),
                                  at(velocity, b) - at(velocity, a), force_[a] - force_[b]);
            add(adjoint_of_position(), a, -back.d);
            add(adjoint_of_position(), b, back.d);
            add(adjoint_of_velocity(), a, -back.v);
            add(adjoint_of_velocity(), b, back.v);
            gradient_[0][s] += back.stiffness;
            gradient_[1][s] += back.damping;
        }
    }

    // Adds the gradient by the kinds beyond stiffness and damping.
    SpringAdjoint<double> adjoint_of_spring(std::size_t s, const Vec3d& d, const Vec3d& v,
                                            const Vec3d& force)
    {
        const double rest = table_.rest_length[s], k = table_.stiffness[s], b = table_.damping[s];
        if (table_.plain) return spring_adjoint(d, v, rest, k, b, force);
        return spring_adjoint(d, v, rest, k, b, table_.law(s), force, [&](int j, double value) {
            gradient_[kFirstRangeSlot + j][s] += value;
        });
    }

    ForceTable<double> table_;
    double dt_;
    std::vector<Vec3d> force_;
    std::vector<Parameter> parameters_;
    ParameterValues gradient_;           // [slot][spring]
    ParameterValues bend_gradient_;      // [slot][bend]
    std::vector<double> mass_gradient_;  // by particle; empty unless masses are learned
};

}  // namespace

std::unique_ptr<Tape<double>> make_plain_tape(const Cloth& cloth, const SimulationOptions& options,
                                              const TapeOptions& tape)
{
    check_tape_cloth(cloth);
    check_tape_options(options);
    return std::make_unique<PlainTape>(cloth, options, tape);
}

}  // namespace springtime
