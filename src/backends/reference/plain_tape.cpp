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
        : StretchTape(cloth.particle_count(), 1, options.dt, tape),
          table_(cloth, options.environment),
          dt_(options.dt),
          force_(cloth.particle_count()),
          parameters_(learned_parameters(cloth)),
          gradient_(kSlotsBesideRanges + cloth.springs.ranges.size(),
                    std::vector<double>(cloth.springs.spring_count()))
    {
    }

    void set_parameters(const ParameterValues& values) override
    {
        for (std::size_t k = 0; k < parameters_.size(); ++k) {
            for (std::size_t s = 0; s < table_.ends.size(); ++s) {
                table_.parameter(parameters_[k].slot, s) = values[k][s];
            }
        }
    }

    void add_gradient(ParameterValues& gradient) const override
    {
        for (std::size_t k = 0; k < gradient.size(); ++k) {
            for (std::size_t s = 0; s < table_.ends.size(); ++s) {
                gradient[k][s] += gradient_[parameters_[k].slot][s];
            }
        }
    }

    void add_lane_gradient(int, ParameterValues& gradient) const override
    {
        add_gradient(gradient);  // there is one lane
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

    void step_adjoint(const double* position, const double* velocity) override
    {
        for (std::size_t p = 0; p < particle_count(); ++p) {
            Vec3d back_velocity = at(adjoint_of_velocity(), p);
            const Vec3d a =
                euler_adjoint(at(adjoint_of_position(), p), back_velocity, mobility()[p], dt_);
            put(adjoint_of_velocity(), p, back_velocity + external_adjoint(a, table_.drag));
            force_[p] = table_.inverse_mass[p] * a;
        }
        spring_adjoints(position, velocity);
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
        spring_adjoints(position, velocity);
    }

    void clear_gradient() override
    {
        for (auto& kind : gradient_) std::fill(kind.begin(), kind.end(), 0.0);
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
    }

    // From the adjoints of the forces, in force_, to those of states and parameters.
    void spring_adjoints(const double* position, const double* velocity)
    {
        for (std::size_t s = 0; s < table_.ends.size(); ++s) {
            const auto [a, b] = table_.ends[s];
            const auto back =
                adjoint_of_spring(s, at(position, b) - at(position, a),
                                  at(velocity, b) - at(velocity, a), force_[a] - force_[b]);
            put(adjoint_of_position(), a, at(adjoint_of_position(), a) - back.d);
            put(adjoint_of_position(), b, at(adjoint_of_position(), b) + back.d);
            put(adjoint_of_velocity(), a, at(adjoint_of_velocity(), a) - back.v);
            put(adjoint_of_velocity(), b, at(adjoint_of_velocity(), b) + back.v);
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
    ParameterValues gradient_;  // [slot][spring]
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
