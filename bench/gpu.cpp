// What the kernels of a GPU need for clips of the 32 x 32 cloth, there and back, beside the floor
// that their operations and bytes set at the rates that this device reaches, and whole jobs. Prints
// JSON. bench/gpu.py puts the same work in JAX and PyTorch beside it.
#include <fmt/core.h>

#include <cmath>

#include "backends/cuda/cuda.h"
#include "backends/cuda/engine.h"
#include "backends/cuda/kernels.h"
#include "cloths.h"
#include "counted.h"
#include "gpu_ceilings.h"
#include "gpu_jobs.h"
#include "gpu_timing.h"
#include "physics/bend.h"
#include "physics/euler.h"
#include "physics/external.h"
#include "physics/spring.h"
#include "springtime/springtime.h"

using namespace springtime;
using namespace springtime::cuda;

namespace {

constexpr int kRounds = 5;
constexpr int kStride = 40;     // steps from frame to frame
constexpr int kRollouts = 512;  // of the jobs

// Operations of a step of one clip, counted by running the formulas.
struct Operations {
    double there = 0, back = 0;
};

template <class Work>
double operations_of(const Work& work)
{
    bench::Counted::operations = 0;
    work();
    return double(bench::Counted::operations);
}

using bench::Counted;
using Vec = Vec3<Counted>;

Vec some_vector(float x)
{
    return {Counted(x), Counted(0.3f), Counted(-0.2f)};
}

double operations_of_springs(bool full, bool back)
{
    const Vec a = some_vector(0), b = some_vector(1), s = some_vector(0.5f);
    const Counted k(10), c(1), rest(0.5f);
    const CompressionLaw<Counted> law{{k}, c};
    Vec sum = s;
    return operations_of([&] {
        const Vec d = b - a, v = b - a;
        if (!back) {
            const Vec f =
                full ? spring_force(d, v, rest, k, c, law) : spring_force(d, v, rest, k, c);
            sum += f;
            sum -= f;
            return;
        }
        const Vec along = b - a;
        Counted more(0);
        const auto add = [&](int, Counted value) { more += value; };
        const auto found = full ? spring_adjoint(d, v, rest, k, c, law, along, add)
                                : spring_adjoint(d, v, rest, k, c, along);
        more += found.stiffness;
        more += found.damping;
        for (int end = 0; end < 2; ++end) {
            sum += found.d;
            sum += found.v;
        }
    });
}

double operations_of_bends(bool back)
{
    const Vec a = some_vector(0), b = some_vector(1), m = some_vector(0.5f);
    const Counted k(10), c(1);
    Vec sum = m;
    return operations_of([&] {
        const Vec e = second_difference(a, m, b), rate = second_difference(a, m, b);
        if (!back) {
            const Vec f = bend_force(e, rate, k, c);
            sum += f;
            sum -= Counted(2) * f;
            sum += f;
            return;
        }
        const auto found = bend_adjoint(e, rate, k, c, second_difference(a, m, b));
        Counted more = found.stiffness;
        more += found.stiffness;
        more += found.damping;
        for (const Vec& part : {found.e, found.rate}) {
            sum += part;
            sum -= Counted(2) * part;
            sum += part;
        }
    });
}

double operations_of_particles(bool back)
{
    const Counted h(0.001f), drag(0.1f), inverse_mass(10);
    const Vec g = some_vector(1);
    Vec x = g, v = g;
    return operations_of([&] {
        if (!back) {
            euler_step(x, v, inverse_mass * g + external_acceleration(v, g, g, drag), h, h);
            return;
        }
        const Vec a = euler_adjoint(x, v, h, h);
        v += external_adjoint(a, drag);
        x += inverse_mass * a;
    });
}

Operations operations_of_step(const Cloth& cloth, bool full)
{
    const auto all = [&](bool back) {
        return double(cloth.springs.spring_count()) * operations_of_springs(full, back) +
               double(cloth.bends.bend_count()) * operations_of_bends(back) +
               double(cloth.particle_count()) * operations_of_particles(back);
    };
    return {all(false), all(true)};
}

struct Work {
    std::string name;
    bool full;
    int clips, steps;
    bool back;
};

struct Time {
    double there = 0, back = 0;  // [s]
};

// Random starts of the sheet, held at two anchors.
void load(LaneSet& lanes, const Cloth& cloth, int clips, int steps)
{
    const GenerateOptions options;
    lanes.begin(clips);
    for (int lane = 0; lane < clips; ++lane) {
        const RolloutStart start = random_start(cloth, options, lane % 64);
        lanes.load(lane, start.state, start.handles, steps);
    }
    lanes.send(0, steps);
}

Time measure(const Work& work)
{
    const Cloth cloth = work.full ? bench::full_law_cloth(true) : bench::spring_cloth();
    const auto kernels = make_grid_kernels(cloth, Environment{});
    const std::size_t size = kStateRows * cloth.particle_count();
    const std::size_t lane_stride = std::size_t(work.steps + 1) * size;
    LaneSet lanes(cloth.particle_count(), 1e-3);
    load(lanes, cloth, work.clips, work.steps);
    const LaneView view = lanes.view();
    Time best{1e30, 1e30};
    if (!work.back) {
        best.there = bench::best_gpu_seconds(
            kRounds, [&] { kernels->advance(view, 0, work.steps, {}, nullptr); });
        best.back = 0;
        return best;
    }
    DeviceArray<float> tape(std::size_t(work.clips) * lane_stride);
    const int frames = work.steps / kStride + 1;
    DeviceArray<float> adjoint(std::size_t(work.clips) * std::size_t(frames) * size / 2);
    std::vector<float> row(adjoint.size(), 1e-4f);
    adjoint.assign(row);
    const FrameAdjoints frame_adjoints{
        adjoint.data(), nullptr, nullptr, std::size_t(frames) * size / 2, frames, kStride};
    for (int round = 0; round <= kRounds; ++round) {
        load(lanes, cloth, work.clips, work.steps);
        const double there = bench::gpu_seconds([&] {
            SPRINGTIME_CUDA(cudaMemcpy2DAsync(
                tape.data(), lane_stride * sizeof(float), lanes.view().state, size * sizeof(float),
                size * sizeof(float), std::size_t(work.clips), cudaMemcpyDeviceToDevice, nullptr));
            kernels->advance(lanes.view(), 0, work.steps,
                             Records{tape.data() + size, lane_stride, 1}, nullptr);
        });
        const double back = bench::gpu_seconds([&] {
            kernels->begin_back(lanes.view());
            kernels->retreat(lanes.view(), 0, work.steps, tape.data(), lane_stride, frame_adjoints);
        });
        if (round == 0) continue;
        best.there = std::min(best.there, there);
        best.back = std::min(best.back, back);
    }
    return best;
}

std::string line_of(const Work& work, const bench::GpuCeilings& ceilings)
{
    const Cloth cloth = work.full ? bench::full_law_cloth(true) : bench::spring_cloth();
    const Operations one = operations_of_step(cloth, work.full);
    const double clip_steps = double(work.clips) * work.steps;
    // A multiply-add counts as two operations. Few clips do not fill the chip.
    const double share = std::min(1.0, double(work.clips) / multiprocessor_count());
    const double operations =
        clip_steps * (one.there + (work.back ? one.back : 0)) / (ceilings.flops_per_second * share);
    const double bytes =
        work.back ? 2 * clip_steps * double(kStateRows * cloth.particle_count() * sizeof(float))
                  : 0;
    const double memory = bytes / ceilings.copy_bytes_per_second;
    const double floor = std::max(operations, memory);
    const Time time = measure(work);
    const double whole = time.there + time.back;
    return fmt::format(
        "    {{\"work\": \"{}\", \"clips\": {}, \"steps\": {}, \"milliseconds\": {:.3f}, "
        "\"there\": {:.3f}, "
        "\"back\": {:.3f}, \"floor_of_operations\": {:.3f}, \"floor_of_bytes\": {:.3f}, "
        "\"over_floor\": {:.2f}, \"million_clip_steps_per_second\": {:.1f}}}",
        work.name, work.clips, work.steps, whole * 1e3, time.there * 1e3, time.back * 1e3,
        operations * 1e3, memory * 1e3, whole / floor, clip_steps / whole * 1e-6);
}

}  // namespace

// `bench_gpu jobs` leaves the kernels out.
int main(int argc, char** argv)
{
    const bool jobs_alone = argc > 1 && std::string_view(argv[1]) == "jobs";
    check_cuda_device();
    const bench::GpuCeilings ceilings = bench::measure_gpu_ceilings();
    fmt::print("{{\n  \"benchmark\": \"gpu\", \"device\": \"{}\",\n", cuda_device_name());
    fmt::print(
        "  \"copy_gigabytes_per_second\": {:.0f}, \"shared_gigabytes_per_second\": {:.0f}, "
        "\"gigaflops\": {:.0f},\n  \"works\": [\n",
        ceilings.copy_bytes_per_second * 1e-9, ceilings.shared_bytes_per_second * 1e-9,
        ceilings.flops_per_second * 1e-9);
    const std::vector<Work> works{
        {"published law", false, 1, 500, false},   {"published law", false, 32, 500, false},
        {"published law", false, 132, 500, false}, {"published law", false, 1056, 500, false},
        {"published law", false, 32, 500, true},   {"published law", false, 132, 500, true},
        {"full law", true, 128, 500, true},        {"full law", true, 128, 8000, true},
    };
    for (std::size_t i = 0; i < works.size() && !jobs_alone; ++i) {
        fmt::print("{}{}\n", line_of(works[i], ceilings), i + 1 < works.size() ? "," : "");
        std::fflush(stdout);
    }
    fmt::print("  ],\n  \"jobs\": [\n");
    const std::vector<bench::GpuJob> jobs = bench::run_gpu_jobs(kRollouts);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        const bench::GpuJob& job = jobs[i];
        std::string stages;
        for (const auto& [stage, seconds] : job.stages) {
            stages += fmt::format("{}\"{}\": {:.2f}", stages.empty() ? "" : ", ", stage, seconds);
        }
        fmt::print(
            "    {{\"job\": \"{}\", \"seconds\": {:.2f}, \"learning_seconds\": {:.2f}, "
            "\"outcome\": \"{}\", \"stages\": {{{}}}}}{}\n",
            job.name, job.seconds, job.learning_seconds, job.outcome, stages,
            i + 1 < jobs.size() ? "," : "");
    }
    fmt::print("  ]\n}}\n");
    return 0;
}
