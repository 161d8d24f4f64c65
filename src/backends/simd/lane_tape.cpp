#include <array>

#include "backends/simd/element_table.h"
#include "backends/simd/simd.h"
#include "backends/simd/sweep_table.h"
#include "sim/forces.h"
#include "sim/stretch_tape.h"

namespace springtime {

namespace {

// One state per lane of a register.
class LaneTape : public StretchTape<float> {
  public:
    LaneTape(const Cloth& cloth, const SimulationOptions& options, const TapeOptions& tape,
             const KernelSet& kernels)
        : StretchTape(cloth.particle_count(), kernels.width, options, tape),
          kernels_(kernels),
          air_(air_of(options.environment, options.dt)),
          table_(cloth),
          elements_(cloth),
          force_(number_count(), 0),
          zeros_stay_(tape.zeros_stay)
    {
        for (const Element element : kElements) {
            const auto i = std::size_t(element);
            slots_[i] = slot_count(cloth, element);
            first_[i] = masses_at_;
            masses_at_ += slots_[i] * element_count(cloth, element);
        }
        parameters_.assign((masses_at_ + cloth.particle_count()) * kernels.width, 0);
        gradient_.assign(parameters_.size(), 0);
    }

    void set_parameters(const ParameterValues& parameters) override
    {
        table_.set_parameters(parameters);
        elements_.set_parameters(parameters);
        learns_masses_ = parameters.size() > table_.parameters().size();
    }

    void add_gradient(ParameterValues& gradient) const override
    {
        add_sums(gradient, 0, kernels_.width);
    }
    void add_lane_gradient(int lane, ParameterValues& gradient) const override
    {
        add_sums(gradient, lane, lane + 1);
    }

  protected:
    void step(const float* position, const float* velocity, float* to_position,
              float* to_velocity) override
    {
        add_element_forces({position, velocity});
        kernels_.lane_step(table_.view(), air_, {force_.data(), mobility()}, {position, velocity},
                           to_position, to_velocity);
    }

    void compute_acceleration(const float* position, const float* velocity, float* result) override
    {
        add_element_forces({position, velocity});
        kernels_.lane_acceleration(table_.view(), air_, {force_.data(), mobility()},
                                   {position, velocity}, result);
    }

    void step_adjoint(const float* position, const float* velocity,
                      const float* to_velocity) override
    {
        const LaneAdjoint back = adjoint();
        kernels_.lane_step_adjoint(view_back(), air_, mobility(), {position, velocity}, to_velocity,
                                   back);
        add_element_adjoints({position, velocity}, back);
        // Sums over many steps go to double: a float would lose the late, small ones.
        constexpr int kFlush = 128;
        if (++unflushed_ == kFlush) flush();
    }

    void acceleration_adjoint(const float* position, const float* velocity,
                              const float* adjoint_of_acceleration) override
    {
        const LaneAdjoint back = adjoint();
        kernels_.lane_acceleration_adjoint(view_back(), air_, {position, velocity},
                                           adjoint_of_acceleration, back);
        add_element_adjoints({position, velocity}, back);
    }

    void clear_gradient() override
    {
        std::fill(parameters_.begin(), parameters_.end(), 0.0f);
        std::fill(gradient_.begin(), gradient_.end(), 0.0);
        unflushed_ = 0;
    }

  private:
    // The force array is zero between forward calls and must be so after; backward needs room too.
    LaneAdjoint adjoint()
    {
        back_force_.resize(number_count());
        const auto sums_of = [&](Element element) {
            return parameters_.data() + first_[std::size_t(element)] * kernels_.width;
        };
        return {adjoint_of_position(),
                adjoint_of_velocity(),
                back_force_.data(),
                sums_of(Element::spring),
                sums_of(Element::bend),
                sums_of(Element::triangle),
                sums_of(Element::hinge),
                sums_of(Element::coupling),
                learns_masses_ ? parameters_.data() + masses_at_ * kernels_.width : nullptr};
    }

    void add_element_forces(const LaneState& state)
    {
        if (elements_.empty()) return;
        kernels_.lane_element_forces(elements_.view(), state, force_.data());
    }
    void add_element_adjoints(const LaneState& state, const LaneAdjoint& back)
    {
        if (elements_.empty()) return;
        kernels_.lane_element_adjoints(elements_.view(), state, back);
    }

    // How many parameters the formula of an element has.
    std::size_t slot_count(const Cloth& cloth, Element element) const
    {
        if (element == Element::bend) return kBendSlots;
        if (element != Element::spring) return elements_.slot_count(element);
        return has_law(cloth.springs) ? kSlotsBesideRanges + cloth.springs.ranges.size()
                                      : kFirstRangeSlot;
    }

    SweepCloth view_back() const
    {
        SweepCloth view = table_.view();
        view.zeros_stay = zeros_stay_;
        return view;
    }

    // Of all steps, for lanes from `begin` to `end`.
    double sum_at(std::size_t number, int begin, int end) const
    {
        double sum = 0;
        for (int lane = begin; lane < end; ++lane) {
            const std::size_t at = number * kernels_.width + lane;
            sum += gradient_[at] + parameters_[at];
        }
        return sum;
    }

    // Adds the gradient of lanes from `begin` to `end`.
    void add_sums(ParameterValues& gradient, int begin, int end) const
    {
        const std::size_t count = table_.parameters().size();
        for (std::size_t p = 0; gradient.size() > count && p < particle_count(); ++p) {
            gradient.back()[p] += sum_at(masses_at_ + p, begin, end);
        }
        for (std::size_t k = 0; k < count; ++k) {
            const Parameter& parameter = table_.parameters()[k];
            const Element element = parameter.kind->element;
            const std::size_t first = first_[std::size_t(element)] + parameter.slot;
            const std::size_t slots = slots_[std::size_t(element)];
            const std::vector<int>& order =
                is_swept(element) ? table_.order(element) : elements_.order(element);
            for (std::size_t i = 0; i < order.size(); ++i) {
                gradient[k][order[i]] += sum_at(first + slots * i, begin, end);
            }
        }
    }

    void flush()
    {
        for (std::size_t i = 0; i < gradient_.size(); ++i) gradient_[i] += parameters_[i];
        std::fill(parameters_.begin(), parameters_.end(), 0.0f);
        unflushed_ = 0;
    }

    KernelSet kernels_;
    Air air_;
    SweepTable table_;
    ElementTable elements_;
    AlignedVector<float> force_, back_force_;
    // By type of element: the parameters of its formula, and where those of all such elements begin
    std::array<std::size_t, kElements.size()> slots_{}, first_{};
    std::size_t masses_at_ = 0;  // after those of all elements
    // [element in sweep order][slot][lane] for one type after the other, then [particle][lane]
    AlignedVector<float> parameters_;
    AlignedVector<double> gradient_;  // what was flushed, likewise
    bool zeros_stay_, learns_masses_ = false;
    int unflushed_ = 0;
};

}  // namespace

std::unique_ptr<Tape<float>> make_simd_tape(const Cloth& cloth, const SimulationOptions& options,
                                            const TapeOptions& tape, const KernelSet& kernels)
{
    check_tape_options(options);
    return std::make_unique<LaneTape>(cloth, options, tape, kernels);
}

}  // namespace springtime
