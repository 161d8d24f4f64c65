#include "backends/cuda/list_kernels.h"

#include <fmt/format.h>

#include "backends/cuda/list_programs.h"
#include "sim/forces.h"

namespace springtime::cuda {

namespace {

// The lists of a cloth on the device, cut for the way there or the way back.
class ListTables {
  public:
    ListTables(std::span<const SheetPoint> rest, const ElementLists& elements,
               const ListNeeds& needs, const ListLimits& limits)
        : layout_(list_layout(rest, elements, needs, limits)), room_(layout_.room(needs))
    {
        block_.assign(layout_.block);
        rounds_.assign(layout_.rounds);
        particle_.assign(layout_.particle);
        guest_.assign(layout_.guest);
        gather_.assign(layout_.gather);
        element_.assign(layout_.element);
    }

    // Brings the numbers of the elements to the device.
    void send(const ElementLists& elements)
    {
        write_numbers(elements, layout_);
        words_.assign(layout_.words);
        ranges_.assign(layout_.ranges);
    }

    // With the tables in it; the rest is the caller's.
    void show(ListView& view) const
    {
        view.blocks = layout_.blocks;
        view.stride = layout_.stride;
        view.slots = layout_.slots;
        view.block = block_.data();
        view.rounds = rounds_.data();
        view.particle = particle_.data();
        view.guest = guest_.data();
        view.gather = gather_.data();
        view.packs = reinterpret_cast<const int4*>(words_.data());
        view.ranges = reinterpret_cast<const float4*>(ranges_.data());
    }
    ListStart start() const
    {
        const int cluster = layout_.in_memory ? 1 : layout_.blocks;
        return {layout_.blocks, cluster, layout_.threads, room_};
    }
    const ListLayout& layout() const { return layout_; }
    const int* element() const { return element_.data(); }

  private:
    ListLayout layout_;
    std::size_t room_;
    DeviceArray<ListBlock> block_;
    DeviceArray<ListRound> rounds_;
    DeviceArray<int> particle_, guest_, gather_, element_, words_;
    DeviceArray<float> ranges_;
};

constexpr ListNeeds kNeedsThere{kListAdvanceRows, kListAdvanceAxes, false};
constexpr ListNeeds kNeedsBack{kListRetreatRows, kListRetreatAxes, true};

class ListKernels : public Kernels {
  public:
    ListKernels(const Cloth& cloth, const Environment& environment, const ListLimits& limits)
        : elements_(cloth),
          rest_(cloth.rest),
          limits_(limits),
          there_(rest_, elements_, kNeedsThere, limits)
    {
        view_.laws = elements_.laws();
        view_.range_count = elements_.range_count();
        set_environment(environment);
        set_parameters(parameters_of(cloth));
    }

    void set_environment(const Environment& environment) override
    {
        view_.gravity = vec3_cast<float>(environment.gravity);
        view_.wind = vec3_cast<float>(environment.wind);
        view_.drag = float(environment.drag);
    }

    void set_parameters(const ParameterValues& values) override
    {
        elements_.set_parameters(values);
        const auto& inverse_mass = elements_.inverse_mass();
        inverse_mass_.assign(std::vector<float>(inverse_mass.begin(), inverse_mass.end()));
        view_.inverse_mass = inverse_mass_.data();
        sent_there_ = sent_back_ = false;
    }

    void advance(const LaneView& lanes, int first, int count, const Records& records,
                 const ContactView* contact) override
    {
        if (!sent_there_) there_.send(elements_);
        sent_there_ = true;
        there_.show(view_);
        const auto start = [&](int begin, int end, const float* from, float* to) {
            start_advance(there_.start(), view_, lanes, {first, begin, end}, from, to, records,
                          contact);
        };
        if (!there_.layout().in_memory) return start(0, count, lanes.state, lanes.state);
        const std::size_t numbers = state_numbers(lanes);
        next_state_.resize(numbers);
        float *from = lanes.state, *to = next_state_.data();
        for (int step = 0; step < count; ++step) {
            start(step, step + 1, from, to);
            std::swap(from, to);
        }
        if (from != lanes.state) copy(from, numbers, lanes.state);
    }

    void begin_back(const LaneView& lanes) override
    {
        adjoint_.resize(state_numbers(lanes));
        adjoint_.clear();
        if (back().layout().in_memory) next_adjoint_.resize(adjoint_.size());
        gradient_.resize(std::size_t(lanes.count) * elements_.number_count());
        gradient_.clear();
        if (!sent_back_) send_back();
        passed_ = false;
    }
    void retreat(const LaneView& lanes, int first, int count, const float* tape,
                 std::size_t lane_stride, const FrameAdjoints& adjoints) override
    {
        back().show(view_);
        gradient_view_.gradient = gradient_.data();
        const int last = first + count;
        const auto start = [&](int from, int to, const float* in, float* out) {
            start_retreat(back().start(), view_, lanes, {first, last, from, to, !passed_}, tape,
                          lane_stride, adjoints, in, out, gradient_view_);
        };
        const bool in_memory = back().layout().in_memory;
        if (!in_memory) start(last, first, adjoint_.data(), adjoint_.data());
        for (int n = last; in_memory && n >= first; --n) {
            start(n, n, adjoint_.data(), next_adjoint_.data());
            std::swap(adjoint_, next_adjoint_);
        }
        passed_ = true;
    }
    const double* gradient(int) override { return gradient_.data(); }

    std::size_t bytes_per_lane_back() const override
    {
        const std::size_t state = kStateRows * std::size_t(elements_.particles()) * sizeof(float);
        const int copies = 1 + (back().layout().in_memory ? 1 : 0);
        return std::size_t(copies) * state + elements_.number_count() * sizeof(double);
    }

    std::string name() const override
    {
        const ListLayout& layout = there_.layout();
        return layout.in_memory     ? "list in global memory"
               : layout.blocks == 1 ? "list"
                                    : fmt::format("list in {} blocks", layout.blocks);
    }

  private:
    // Many a cloth never goes back.
    ListTables& back() const
    {
        if (!back_) back_.emplace(rest_, elements_, kNeedsBack, limits_);
        return *back_;
    }

    static std::size_t state_numbers(const LaneView& lanes)
    {
        return std::size_t(lanes.count) * kStateRows * std::size_t(lanes.particles);
    }
    static void copy(const float* from, std::size_t count, float* to)
    {
        SPRINGTIME_CUDA(cudaMemcpyAsync(to, from, count * sizeof(float), cudaMemcpyDeviceToDevice));
    }

    void send_back()
    {
        back().send(elements_);
        std::vector<int> first_number;
        for (int type = 0; type < kElementTypes; ++type) {
            const ElementList& list = elements_.of(kElements[std::size_t(type)]);
            gradient_view_.first_slot[type] = int(first_number.size());
            gradient_view_.slots[type] = list.slots;
            first_number.insert(first_number.end(), list.first_number.begin(),
                                list.first_number.end());
        }
        first_number_.assign(first_number);
        gradient_view_.numbers = elements_.number_count();
        gradient_view_.element = back().element();
        gradient_view_.first_number = first_number_.data();
        gradient_view_.first_mass = elements_.first_mass();
        gradient_view_.sums = back().layout().most_sums;
        sent_back_ = true;
    }

    ElementLists elements_;
    std::vector<SheetPoint> rest_;
    ListLimits limits_;
    ListTables there_;
    mutable std::optional<ListTables> back_;
    ListView view_;
    ListBackView gradient_view_;
    bool sent_there_ = false, sent_back_ = false;  // since the last set_parameters()
    bool passed_ = false;                          // a stretch on the way back
    DeviceArray<float> inverse_mass_, next_state_, adjoint_, next_adjoint_;
    DeviceArray<int> first_number_;
    DeviceArray<double> gradient_;
};

}  // namespace

std::unique_ptr<Kernels> make_list_kernels(const Cloth& cloth, const Environment& environment,
                                           const ListLimits& limits)
{
    return std::make_unique<ListKernels>(cloth, environment, limits);
}

std::unique_ptr<Kernels> make_list_kernels(const Cloth& cloth, const Environment& environment)
{
    return make_list_kernels(cloth, environment, ListLimits{});
}

}  // namespace springtime::cuda
