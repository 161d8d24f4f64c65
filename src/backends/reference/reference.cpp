#include "backends/reference/reference.h"

#include "backends/reference/plain_lane.h"

namespace springtime {

namespace {

// Double precision, plain loops: the oracle.
class ReferenceStepper : public Stepper {
  public:
    ReferenceStepper(const Cloth& cloth, const SimulationOptions& options, int lanes)
        : table_(cloth, options.environment), options_(options)
    {
        // Made one by one: a copy would have no room for its lists to grow.
        lanes_.reserve(lanes);
        for (int lane = 0; lane < lanes; ++lane) lanes_.emplace_back(cloth, table_, options_);
    }

    int lane_count() const override { return static_cast<int>(lanes_.size()); }
    void load(int lane, const State& state, const Handles& handles) override
    {
        lanes_[lane].load(state, handles);
    }
    void store(int lane, State& state) const override { lanes_[lane].store(state); }
    void advance(int steps) override
    {
        for (auto& lane : lanes_) lane.advance(steps);
    }
    std::string name() const override { return "reference"; }
    void set_environment(const Environment& environment) override
    {
        table_.set_environment(environment);
    }
    void hold(int lane, std::span<const int> particles) override { lanes_[lane].hold(particles); }
    void begin_frame(const FrameMotion& motion) override
    {
        for (auto& lane : lanes_) lane.begin_frame(motion);
    }

  private:
    ForceTable<double> table_;
    SimulationOptions options_;
    std::vector<PlainLane<double>> lanes_;
};

}  // namespace

std::unique_ptr<Stepper> make_reference_stepper(const Cloth& cloth,
                                                const SimulationOptions& options, int lanes)
{
    return std::make_unique<ReferenceStepper>(cloth, options, lanes);
}

}  // namespace springtime
