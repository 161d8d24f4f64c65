#include "backends/cuda/engine.h"

#include "backends/cuda/kernels.h"
#include "backends/cuda/list_accelerations.h"

namespace springtime::cuda {

struct Engine::Impl {
    Impl(const Cloth& cloth, const Environment& environment)
        : particles(cloth.particle_count()),
          kernels(make_grid_kernels(cloth, environment)),
          accelerations(cloth, environment)
    {
        if (!kernels) kernels = make_list_kernels(cloth, environment);
    }

    std::size_t particles, numbers = 0;
    std::unique_ptr<Kernels> kernels;
    Accelerations accelerations;
};

Engine::Engine(const Cloth& cloth, const Environment& environment)
    : impl_(std::make_unique<Impl>(cloth, environment))
{
    for (const auto& array : parameters_of(cloth)) impl_->numbers += array.size();
}

Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;

void Engine::set_environment(const Environment& environment)
{
    impl_->kernels->set_environment(environment);
    impl_->accelerations.set_environment(environment);
}

void Engine::set_parameters(const ParameterValues& values)
{
    impl_->kernels->set_parameters(values);
    impl_->accelerations.set_parameters(values);
    impl_->numbers = 0;
    for (const auto& array : values) impl_->numbers += array.size();
}

void Engine::advance(LaneSet& lanes, int first, int count, const Records& records,
                     const ContactView* contact)
{
    impl_->kernels->advance(lanes.view(), first, count, records, contact);
}

void Engine::accelerations(const LaneView& lanes, const StatesView& states, float* to)
{
    impl_->accelerations.run(lanes, states, to);
}

void Engine::exact_accelerations(const LaneView& lanes, const StatesView& states, float* to)
{
    impl_->accelerations.run_exact(lanes, states, to);
}

void Engine::begin_back(LaneSet& lanes)
{
    impl_->kernels->begin_back(lanes.view());
}

void Engine::retreat(LaneSet& lanes, int first, int count, const float* tape,
                     std::size_t lane_stride, const FrameAdjoints& adjoints)
{
    impl_->kernels->retreat(lanes.view(), first, count, tape, lane_stride, adjoints);
}

const double* Engine::gradient(int lanes)
{
    return impl_->kernels->gradient(lanes);
}

std::size_t Engine::number_count() const
{
    return impl_->numbers;
}

std::size_t Engine::particle_count() const
{
    return impl_->particles;
}

std::size_t Engine::bytes_per_lane_back() const
{
    return impl_->kernels->bytes_per_lane_back();
}

std::string Engine::kernel_name() const
{
    return impl_->kernels->name();
}

}  // namespace springtime::cuda
