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
          position_(cloth.particle_count()),
          velocity_(cloth.particle_count()),
          force_(cloth.particle_count()),
          parameters_(learned_parameters(cloth))
    {
        const auto make_sums = [&](Element element, std::size_t slots) {
            sums_of(element).assign(slots, std::vector<double>(element_count(cloth, element)));
        };
        make_sums(Element::spring, kSlotsBesideRanges + cloth.springs.ranges.size());
        make_sums(Element::bend, kBendSlots);
        make_sums(Element::triangle, kWovenSlots);
        make_sums(Element::hinge, kHingeSlots);
        make_sums(Element::coupling, kCouplingSlots);
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
            const ParameterValues& sums = sums_[std::size_t(parameters_[k].kind->element)];
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
        for (ParameterValues& slots : sums_) {
            for (auto& slot : slots) std::fill(slot.begin(), slot.end(), 0.0);
        }
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

    void read(const double* position, const double* velocity)
    {
        for (std::size_t p = 0; p < particle_count(); ++p) {
            position_[p] = at(position, p);
            velocity_[p] = at(velocity, p);
        }
    }

    void add_forces(const double* position, const double* velocity)
    {
        read(position, velocity);
        std::fill(force_.begin(), force_.end(), Vec3d{});
        add_element_forces(table_, position_, velocity_, force_);
    }

    static void add(double* array, std::size_t p, const Vec3d& value)
    {
        put(array, p, at(array, p) + value);
    }

    // Vectors seen from the first corner of an element.
    template <std::size_t N>
    static std::array<Vec3d, N - 1> from_first(const std::vector<Vec3d>& all,
                                               const std::array<int, N>& corners)
    {
        std::array<Vec3d, N - 1> to;
        for (std::size_t i = 1; i < N; ++i) to[i - 1] = all[corners[i]] - all[corners[0]];
        return to;
    }
    // Adds values to all corners but the first, which takes minus their sum.
    template <std::size_t N>
    static void add_balanced(double* array, const std::array<int, N>& corners,
                             const std::array<Vec3d, N - 1>& values)
    {
        for (std::size_t i = 1; i < N; ++i) {
            add(array, corners[i], values[i - 1]);
            add(array, corners[0], -values[i - 1]);
        }
    }

    ParameterValues& sums_of(Element element) { return sums_[std::size_t(element)]; }
    void add_sum(Element element, int slot, std::size_t index, double value)
    {
        sums_of(element)[slot][index] += value;
    }

    // From the adjoints of the forces, in force_, to those of states and parameters.
    void element_adjoints(const double* position, const double* velocity)
    {
        read(position, velocity);
        spring_adjoints();
        bend_adjoints();
        if (table_.damping_kind == TriangleDamping::strain) {
            triangle_adjoints<DampsStrain>();
        } else {
            triangle_adjoints<DampsDeformation>();
        }
        hinge_adjoints();
        coupling_adjoints();
    }

    void spring_adjoints()
    {
        for (std::size_t s = 0; s < table_.ends.size(); ++s) {
            const auto [a, b] = table_.ends[s];
            const auto back = adjoint_of_spring(s, position_[b] - position_[a],
                                                velocity_[b] - velocity_[a], force_[a] - force_[b]);
            add_balanced<2>(adjoint_of_position(), table_.ends[s], {back.d});
            add_balanced<2>(adjoint_of_velocity(), table_.ends[s], {back.v});
            add_sum(Element::spring, 0, s, back.stiffness);
            add_sum(Element::spring, 1, s, back.damping);
        }
    }

    // Adds the gradient by the kinds beyond stiffness and damping.
    SpringAdjoint<double> adjoint_of_spring(std::size_t s, const Vec3d& d, const Vec3d& v,
                                            const Vec3d& force)
    {
        const double rest = table_.rest_length[s], k = table_.stiffness[s], b = table_.damping[s];
        if (table_.plain) return spring_adjoint(d, v, rest, k, b, force);
        return spring_adjoint(d, v, rest, k, b, table_.law(s), force, [&](int j, double value) {
            add_sum(Element::spring, kFirstRangeSlot + j, s, value);
        });
    }

    void bend_adjoints()
    {
        for (std::size_t i = 0; i < table_.bends.size(); ++i) {
            const auto& [particles, stiffness, damping] = table_.bends[i];
            const auto [a, m, b] = particles;
            const auto difference = [a = a, m = m, b = b](const std::vector<Vec3d>& all) {
                return second_difference(all[a], all[m], all[b]);
            };
            const auto back = bend_adjoint(difference(position_), difference(velocity_), stiffness,
                                           damping, difference(force_));
            for (const auto& [particle, weight] : {std::pair{a, 1.0}, {m, -2.0}, {b, 1.0}}) {
                add(adjoint_of_position(), particle, weight * back.e);
                add(adjoint_of_velocity(), particle, weight * back.rate);
            }
            add_sum(Element::bend, 0, i, back.stiffness);
            add_sum(Element::bend, 1, i, back.damping);
        }
    }

    template <class Damping>
    void triangle_adjoints()
    {
        for (std::size_t i = 0; i < table_.triangles.size(); ++i) {
            const auto& [corners, shape, material] = table_.triangles[i];
            const auto x = from_first(position_, corners), v = from_first(velocity_, corners),
                       s = from_first(force_, corners);
            const auto back =
                triangle_adjoint<Damping>(shape, material, x[0], x[1], v[0], v[1], s[0], s[1]);
            add_balanced<3>(adjoint_of_position(), corners, {back.edge1, back.edge2});
            add_balanced<3>(adjoint_of_velocity(), corners, {back.rate1, back.rate2});
            for (int slot = 0; slot < kWovenSlots; ++slot) {
                add_sum(Element::triangle, slot, i, back.parameters[slot]);
            }
        }
    }

    void hinge_adjoints()
    {
        for (std::size_t i = 0; i < table_.hinges.size(); ++i) {
            const auto& [corners, shape, material] = table_.hinges[i];
            const auto x = from_first(position_, corners), v = from_first(velocity_, corners),
                       s = from_first(force_, corners);
            const auto back = hinge_adjoint(shape, material, x[0], x[1], x[2], v[0], v[1], v[2],
                                            s[0], s[1], s[2]);
            add_balanced<4>(adjoint_of_position(), corners, {back.edge, back.side2, back.side3});
            add_balanced<4>(adjoint_of_velocity(), corners,
                            {back.edge_rate, back.rate2, back.rate3});
            for (int slot = 0; slot < kHingeSlots; ++slot) {
                add_sum(Element::hinge, slot, i, back.parameters[slot]);
            }
        }
    }

    void coupling_adjoints()
    {
        for (std::size_t i = 0; i < table_.couplings.size(); ++i) {
            const auto& [corners, rest, stiffness] = table_.couplings[i];
            const auto x = from_first(position_, corners), s = from_first(force_, corners);
            const auto back = coupling_adjoint(x[0], x[1], rest[0], rest[1], stiffness, s[0], s[1]);
            add_balanced<3>(adjoint_of_position(), corners, {back.d1, back.d2});
            add_sum(Element::coupling, 0, i, back.stiffness);
        }
    }

    ForceTable<double> table_;
    double dt_;
    std::vector<Vec3d> position_, velocity_, force_;  // of the state at hand
    std::vector<Parameter> parameters_;
    std::array<ParameterValues, kElements.size()> sums_;  // by type of element: [slot][element]
    std::vector<double> mass_gradient_;  // by particle; empty unless masses are learned
};

}  // namespace

std::unique_ptr<Tape<double>> make_plain_tape(const Cloth& cloth, const SimulationOptions& options,
                                              const TapeOptions& tape)
{
    check_tape_options(options);
    return std::make_unique<PlainTape>(cloth, options, tape);
}

}  // namespace springtime
