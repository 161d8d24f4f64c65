#include <fmt/format.h>

#include "backends/cuda/grid_layout.h"
#include "backends/cuda/grid_programs.h"
#include "backends/cuda/kernels.h"
#include "core/assert.h"
#include "sim/forces.h"

namespace springtime::cuda {

namespace {

class GridKernels : public Kernels {
  public:
    GridKernels(const Cloth& cloth, const GridLayout& layout, const GridCut& cut,
                const GridPrograms& programs, const Environment& environment)
        : cloth_(cloth), layout_(layout), cut_(cut), programs_(programs)
    {
        view_.rows = layout.grid.rows;
        view_.cols = layout.grid.cols;
        view_.bands = cut.bands;
        view_.blocks = cut.blocks;
        std::copy(layout.rest_length.begin(), layout.rest_length.end(), view_.rest_length);
        element_.assign(layout.element);
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
        const std::size_t learned = learned_parameters(cloth_).size();
        SPRINGTIME_ASSERT(values.size() == learned || values.size() == learned + 1);
        const bool masses = values.size() > learned;
        parameters_.assign(packed_parameters(cloth_, layout_, cut_, values));
        std::vector<float> inverse_mass;
        for (const double mass : masses ? values.back() : cloth_.mass) {
            inverse_mass.push_back(float(1 / mass));
        }
        inverse_mass_.assign(inverse_mass);
        view_.parameters = reinterpret_cast<const float4*>(parameters_.data());
        view_.inverse_mass = inverse_mass_.data();
        numbers_ = 0;
        for (const auto& array : values) numbers_ += array.size();
        const auto first = first_numbers(cloth_, layout_, masses);
        std::copy(first.begin(), first.end(), back_.first_number);
    }

    void advance(const LaneView& lanes, int first, int count, const Records& records,
                 const ContactView* contact) override
    {
        programs_.advance(view_, layout_.full, lanes, first, count, records, contact);
    }

    void begin_back(const LaneView& lanes) override
    {
        const std::size_t count = std::size_t(lanes.count);
        adjoint_.resize(count * kStateRows * view_.particles());
        adjoint_.clear();
        gradient_.resize(count * numbers_);
        gradient_.clear();
        back_.with_last = true;
    }
    void retreat(const LaneView& lanes, int first, int count, const float* tape,
                 std::size_t lane_stride, const FrameAdjoints& adjoints) override
    {
        back_.adjoint = adjoint_.data();
        back_.gradient = gradient_.data();
        back_.numbers = numbers_;
        back_.element = element_.data();
        programs_.retreat(view_, layout_.full, lanes, first, count, tape, lane_stride, adjoints,
                          back_);
        back_.with_last = false;
    }
    const double* gradient(int) override { return gradient_.data(); }
    std::size_t bytes_per_lane_back() const override
    {
        return kStateRows * view_.particles() * sizeof(float) + numbers_ * sizeof(double);
    }

    std::string name() const override
    {
        return cut_.blocks == 1 ? "grid" : fmt::format("grid in {} blocks", cut_.blocks);
    }

  private:
    Cloth cloth_;
    GridLayout layout_;
    GridCut cut_;
    GridPrograms programs_;
    GridView view_;
    GridBackView back_;
    std::size_t numbers_ = 0;
    DeviceArray<float> parameters_, inverse_mass_, adjoint_;
    DeviceArray<int> element_;
    DeviceArray<double> gradient_;
};

}  // namespace

std::optional<GridPrograms> grid_programs(int rows, int cols)
{
    if (rows == 4 && cols == 1) return grid_programs_4x1();
    if (rows == 2 && cols == 2) return grid_programs_2x2();
    if (rows == 1 && cols == 4) return grid_programs_1x4();
    return std::nullopt;
}

std::unique_ptr<Kernels> make_grid_kernels(const Cloth& cloth, const Environment& environment)
{
    const auto layout = grid_layout(cloth);
    const auto cut = layout ? cut_grid(layout->grid) : std::nullopt;
    const auto programs = cut ? grid_programs(cut->rows, cut->cols) : std::nullopt;
    if (!programs) return nullptr;
    return std::make_unique<GridKernels>(cloth, *layout, *cut, *programs, environment);
}

}  // namespace springtime::cuda
