#include "backends/cuda/list_accelerations.h"

#include <numeric>

#include "backends/cuda/launch.h"
#include "physics/external.h"
#include "sim/forces.h"

namespace springtime::cuda {

namespace {

// The numbers of an element.
template <class T>
struct IncidentNumbers {
    const IncidentCloth<T>& cloth;
    const IncidentView<T>& list;
    int element;

    SPRINGTIME_HD T operator()(int i) const { return list.number[i * list.count + element]; }
    SPRINGTIME_HD int range_count() const { return cloth.range_count; }
    SPRINGTIME_HD SpringRange<T> range(int j) const
    {
        return cloth.ranges[j * list.count + element];
    }
};

// A vector of a state, [row][particle].
template <class T>
__device__ __forceinline__ Vec3<T> vector_of(const float* rows, std::size_t particles, int p)
{
    return {T(rows[p]), T(rows[particles + p]), T(rows[2 * particles + p])};
}

// The forces of the elements of one type on a particle.
template <class Kind, class T>
__device__ __forceinline__ void add_forces(const IncidentCloth<T>& cloth, const float* state,
                                           std::size_t particles, int p, Vec3<T>& force)
{
    constexpr int N = Kind::kCorners;
    const IncidentView<T>& list = cloth.lists[int(Kind::kElement)];
    if (list.count == 0) return;
    for (int i = list.first[p]; i < list.first[p + 1]; ++i) {
        const int element = list.incident[i] / IncidentView<T>::kMostCorners;
        const int own = list.incident[i] % IncidentView<T>::kMostCorners;
        Corners<T, N> x, v;
        SPRINGTIME_UNROLL
        for (int c = 0; c < N; ++c) {
            const int corner = list.corner[c * list.count + element];
            x.of[c] = vector_of<T>(state, particles, corner);
            v.of[c] = vector_of<T>(state + 3 * particles, particles, corner);
        }
        const auto forces =
            Kind::template forces<T>(IncidentNumbers<T>{cloth, list, element}, x, v);
        SPRINGTIME_UNROLL
        for (int c = 0; c < N; ++c) {
            if (c == own) force += forces.of[c];
        }
    }
}

template <class T>
struct AddForces {
    const IncidentCloth<T>& cloth;
    const float* state;
    std::size_t particles;
    int p;
    Vec3<T>& force;

    template <class Kind>
    __device__ void operator()() const
    {
        add_forces<Kind>(cloth, state, particles, p, force);
    }
};

// One thread for each particle of a state: an element is computed once for each of its corners.
template <class T>
__global__ void accelerate(IncidentCloth<T> cloth, LaneView lanes, StatesView states, float* to)
{
    const std::size_t particles = std::size_t(lanes.particles);
    const std::size_t item =
        std::size_t(blockIdx.x) * std::size_t(blockDim.x) + std::size_t(threadIdx.x);
    const std::size_t index = item / particles, per_lane = std::size_t(states.per_lane);
    const std::size_t lane = index / per_lane;
    if (lane >= std::size_t(lanes.count)) return;
    const int p = int(item % particles);
    const float* state = states.from + lane * states.lane_stride + index % per_lane * states.stride;
    Vec3<T> a{};
    if (lanes.mobility[lane * particles + std::size_t(p)] > 0) {
        Vec3<T> force{};
        for_each_element_type(cloth.laws, AddForces<T>{cloth, state, particles, p, force});
        const auto v = vector_of<T>(state + 3 * particles, particles, p);
        a = cloth.inverse_mass[p] * force +
            external_acceleration(v, cloth.gravity, cloth.wind, cloth.drag);
    }
    float* row = to + index * 3 * particles + std::size_t(p);
    for (int axis = 0; axis < 3; ++axis) row[std::size_t(axis) * particles] = float(a[axis]);
}

// From [element][item] to [item][element].
template <class To, class From>
std::vector<To> turned(const std::vector<From>& values, int items)
{
    std::vector<To> to(values.size());
    const std::size_t width = std::size_t(items), count = items > 0 ? values.size() / width : 0;
    for (std::size_t e = 0; e < count; ++e) {
        for (std::size_t i = 0; i < width; ++i) to[i * count + e] = To(values[e * width + i]);
    }
    return to;
}

}  // namespace

Accelerations::Accelerations(const Cloth& cloth, const Environment& environment)
    : elements_(cloth), environment_(environment)
{
    for (int k = 0; k < kElementTypes; ++k) {
        const ElementList& list = elements_.of(kElements[std::size_t(k)]);
        if (list.count() == 0) continue;
        corner_[k].assign(turned<int>(list.corner, list.corners));
        std::vector<int> first(cloth.particle_count() + 1, 0), incident(list.corner.size());
        for (const int p : list.corner) ++first[std::size_t(p) + 1];
        std::partial_sum(first.begin(), first.end(), first.begin());
        std::vector<int> next(first.begin(), first.end() - 1);
        for (int i = 0; i < int(list.corner.size()); ++i) {
            const int place = next[std::size_t(list.corner[std::size_t(i)])]++;
            incident[std::size_t(place)] =
                i / list.corners * IncidentView<float>::kMostCorners + i % list.corners;
        }
        first_[k].assign(first);
        incident_[k].assign(incident);
    }
}

void Accelerations::set_parameters(const ParameterValues& values)
{
    elements_.set_parameters(values);
    float_.sent = double_.sent = false;
}

template <class T>
void Accelerations::send(Numbers<T>& to)
{
    for (int k = 0; k < kElementTypes; ++k) {
        const ElementList& list = elements_.of(kElements[std::size_t(k)]);
        to.number[k].assign(turned<T>(list.number, list.numbers));
    }
    std::vector<SpringRange<T>> ranges;
    for (const SpringRange<double>& range : elements_.ranges()) {
        ranges.push_back({T(range.from), T(range.to), T(range.stiffness)});
    }
    to.ranges.assign(ranges);
    const auto& inverse_mass = elements_.inverse_mass();
    to.inverse_mass.assign(std::vector<T>(inverse_mass.begin(), inverse_mass.end()));
    to.sent = true;
}

template <class T>
void Accelerations::start(Numbers<T>& numbers, const LaneView& lanes, const StatesView& states,
                          float* to)
{
    const std::size_t count = std::size_t(lanes.count) * std::size_t(states.per_lane);
    if (count == 0) return;
    if (!numbers.sent) send(numbers);
    IncidentCloth<T> cloth;
    for (int k = 0; k < kElementTypes; ++k) {
        cloth.lists[k] = {elements_.of(kElements[std::size_t(k)]).count(), corner_[k].data(),
                          numbers.number[k].data(), first_[k].data(), incident_[k].data()};
    }
    cloth.laws = elements_.laws();
    cloth.range_count = elements_.range_count();
    cloth.ranges = numbers.ranges.data();
    cloth.inverse_mass = numbers.inverse_mass.data();
    cloth.gravity = vec3_cast<T>(environment_.gravity);
    cloth.wind = vec3_cast<T>(environment_.wind);
    cloth.drag = T(environment_.drag);
    constexpr std::size_t kThreads = 128;
    const std::size_t items = count * std::size_t(lanes.particles);
    launch({int((items + kThreads - 1) / kThreads), int(kThreads)}, accelerate<T>, cloth, lanes,
           states, to);
}

void Accelerations::run(const LaneView& lanes, const StatesView& states, float* to)
{
    start(float_, lanes, states, to);
}

void Accelerations::run_exact(const LaneView& lanes, const StatesView& states, float* to)
{
    start(double_, lanes, states, to);
}

}  // namespace springtime::cuda
