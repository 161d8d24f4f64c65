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
          force_(number_count(), 0),
          slots_(has_law(cloth.springs) ? kSlotsBesideRanges + cloth.springs.ranges.size()
                                        : kFirstRangeSlot),
          bends_at_(slots_ * cloth.springs.spring_count()),
          masses_at_(bends_at_ + kBendSlots * cloth.bends.bend_count()),
          parameters_((masses_at_ + cloth.particle_count()) * kernels.width, 0),
          gradient_(parameters_.size(), 0),
          zeros_stay_(tape.zeros_stay)
    {
    }

    void set_parameters(const ParameterValues& parameters) override
    {
        table_.set_parameters(parameters);
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
        kernels_.lane_step(table_.view(), air_, {force_.data(), mobility()}, {position, velocity},
                           to_position, to_velocity);
    }

    void compute_acceleration(const float* position, const float* velocity, float* result) override
    {
        kernels_.lane_acceleration(table_.view(), air_, {force_.data(), mobility()},
                                   {position, velocity}, result);
    }

    void step_adjoint(const float* position, const float* velocity,
                      const float* to_velocity) override
    {
        kernels_.lane_step_adjoint(view_back(), air_, mobility(), {position, velocity}, to_velocity,
                                   adjoint());
        // Sums over many steps go to double: a float would lose the late, small ones.
        constexpr int kFlush = 128;
        if (++unflushed_ == kFlush) flush();
    }

    void acceleration_adjoint(const float* position, const float* velocity,
                              const float* adjoint_of_acceleration) override
    {
        kernels_.lane_acceleration_adjoint(view_back(), air_, {position, velocity},
                                           adjoint_of_acceleration, adjoint());
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
        return {adjoint_of_position(),
                adjoint_of_velocity(),
                back_force_.data(),
                parameters_.data(),
                parameters_.data() + bends_at_ * kernels_.width,
                learns_masses_ ? parameters_.data() + masses_at_ * kernels_.width : nullptr};
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
            const bool bend = parameter.kind->element == Element::bend;
            const std::size_t first = bend ? bends_at_ : 0, slots = bend ? kBendSlots : slots_;
            const std::vector<int>& order = table_.order(parameter.kind->element);
            for (std::size_t i = 0; i < order.size(); ++i) {
                gradient[k][order[i]] += sum_at(first + slots * i + parameter.slot, begin, end);
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
    AlignedVector<float> force_, back_force_;
    std::size_t slots_;      // parameters of the formula of a spring
    std::size_t bends_at_;   // parameters of all springs: those of bends follow
    std::size_t masses_at_;  // then masses
    // [spring in sweep order][slot][lane], then [bend in sweep order][slot][lane], then
    // [particle][lane]
    AlignedVector<float> parameters_;
    AlignedVector<double> gradient_;  // what was flushed, likewise
    bool zeros_stay_, learns_masses_ = false;
    int unflushed_ = 0;
};

}  // namespace

std::unique_ptr<Tape<float>> make_simd_tape(const Cloth& cloth, const SimulationOptions& options,
                                            const TapeOptions& tape, const KernelSet& kernels)
{
    check_tape_cloth(cloth);
    check_tape_options(options);
    return std::make_unique<LaneTape>(cloth, options, tape, kernels);
}

}  // namespace springtime
