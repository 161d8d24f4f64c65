#include "backends/cuda/lane_set.h"

#include <algorithm>
#include <limits>

#include "backends/cuda/launch.h"
#include "core/assert.h"

namespace springtime::cuda {

namespace {

// One thread per step and slot of a lane.
__global__ void fill_paths(long items, int first, int count, int width, double dt,
                           const LanePath* lanes, float* to)
{
    const long item = long(blockIdx.x) * long(blockDim.x) + long(threadIdx.x);
    if (item >= items) return;
    const long of_lane = long(count) * width;
    const LanePath& lane = lanes[item / of_lane];
    const int step = first + 1 + int(item % of_lane / width);
    const std::size_t slot = std::size_t(item % width);
    float* row = to + kStateRows * item;
    if (lane.path.keys == 0 || slot >= lane.path.handles) {
        for (int r = 0; r < kStateRows; ++r) row[r] = nanf("");
        return;
    }
    const double time = lane.start_time + double(step - lane.start_step) * dt;
    const HandlePose pose = lane.path.pose(slot, time, dt);
    for (int axis = 0; axis < 3; ++axis) {
        row[axis] = float(pose.position[axis]);
        row[3 + axis] = float(pose.velocity[axis]);
    }
}

}  // namespace

void unpack_state(std::span<const float> rows, State& state)
{
    const std::size_t count = rows.size() / kStateRows;
    state.position.resize(count);
    state.velocity.resize(count);
    for (std::size_t p = 0; p < count; ++p) {
        for (int axis = 0; axis < 3; ++axis) {
            state.position[p][axis] = rows[std::size_t(axis) * count + p];
            state.velocity[p][axis] = rows[std::size_t(3 + axis) * count + p];
        }
    }
}

void LaneSet::begin(int lanes)
{
    const std::size_t numbers = std::size_t(lanes) * particles_;
    handles_.assign(std::size_t(lanes), {});
    start_time_.assign(std::size_t(lanes), 0);
    start_step_.assign(std::size_t(lanes), 0);
    steps_.assign(std::size_t(lanes), 0);
    host_state_.resize(kStateRows * numbers);
    host_mobility_.resize(numbers);
    std::fill_n(host_state_.data(), kStateRows * numbers, 0.0f);
    std::fill_n(host_mobility_.data(), numbers, 0.0f);
    loaded_ = true;
    ahead_ = false;
}

void LaneSet::load(int lane, const State& state, const Handles& handles, std::optional<int> steps,
                   int at)
{
    SPRINGTIME_ASSERT(lane >= 0 && lane < count() && state.position.size() == particles_);
    fetch();
    loaded_ = true;
    handles_[lane] = handles;
    start_time_[lane] = state.time;
    start_step_[lane] = at;
    steps_[lane] = steps ? at + *steps : std::numeric_limits<int>::max();
    float* rows = host_state_.data() + std::size_t(lane) * kStateRows * particles_;
    const auto place = [&](int p, const Vec3d& x, const Vec3d& v) {
        for (int axis = 0; axis < 3; ++axis) {
            rows[std::size_t(axis) * particles_ + std::size_t(p)] = float(x[axis]);
            rows[std::size_t(3 + axis) * particles_ + std::size_t(p)] = float(v[axis]);
        }
    };
    for (std::size_t p = 0; p < particles_; ++p) {
        place(int(p), state.position[p], state.velocity[p]);
    }
    // As with_handles() does.
    for (const int p : handles.particles) place(p, state.position[p], {});
    place_moving_handles(handles, state.time, dt_, place);
    std::fill_n(host_mobility_.data() + std::size_t(lane) * particles_, particles_, float(dt_));
    hold(lane, handles.particles);
}

void LaneSet::restart()
{
    if (ahead_) loaded_ = true;
    ahead_ = false;
}

int LaneSet::renumbered(int step)
{
    constexpr int kMany = 1 << 30;
    if (step < kMany) return step;
    fetch();
    loaded_ = true;
    for (std::size_t lane = 0; lane < handles_.size(); ++lane) {
        start_time_[lane] = time(int(lane), step);
        start_step_[lane] = 0;
        if (steps_[lane] < std::numeric_limits<int>::max()) steps_[lane] -= step;
    }
    return 0;
}

void LaneSet::hold(int lane, std::span<const int> particles)
{
    if (particles.empty()) return;
    fetch();
    loaded_ = true;
    for (const int p : particles) {
        host_mobility_[std::size_t(lane) * particles_ + std::size_t(p)] = 0;
    }
}

void LaneSet::send(int first, int count, const More& more)
{
    if (loaded_) {
        send_states();
        has_keys_ = slots_of_handles_ = false;
    }
    loaded_ = false;
    ahead_ = true;
    driven_steps_ = count;
    if (more) return send_places(first, count, more);
    if (!has_keys_) send_keys();
    if (!slots_of_handles_) send_slots();
    if (driven_width_ == 0 || count == 0) return;
    driven_.resize(handles_.size() * std::size_t(count) * driven_width_ * kStateRows);
    write_paths(first, count);
}

void LaneSet::send_states()
{
    state_.assign(host_state_.span());
    mobility_.assign(host_mobility_.span());
    device_steps_.assign(steps_);
}

void LaneSet::send_keys()
{
    host_key_time_.clear();
    host_key_position_.clear();
    for (const Handles& handles : handles_) {
        host_key_time_.insert(host_key_time_.end(), handles.key_time.begin(),
                              handles.key_time.end());
        host_key_position_.insert(host_key_position_.end(), handles.key_position.begin(),
                                  handles.key_position.end());
    }
    key_time_.assign(host_key_time_);
    key_position_.assign(host_key_position_);
    host_paths_.clear();
    const double* time = key_time_.data();
    const Vec3d* position = key_position_.data();
    for (std::size_t lane = 0; lane < handles_.size(); ++lane) {
        const Handles& handles = handles_[lane];
        host_paths_.push_back({{handles.key_time.size(), handles.particles.size(), time, position},
                               start_time_[lane],
                               start_step_[lane]});
        time += handles.key_time.size();
        position += handles.key_position.size();
    }
    paths_.assign(host_paths_);
    has_keys_ = true;
}

void LaneSet::send_slots()
{
    std::size_t width = 0;
    for (const Handles& handles : handles_) {
        if (handles.moving()) width = std::max(width, handles.particles.size());
    }
    driven_width_ = int(width);
    slots_of_handles_ = true;
    if (width == 0) return;
    host_slot_.assign(handles_.size() * particles_, -1);
    for (std::size_t lane = 0; lane < handles_.size(); ++lane) {
        const Handles& handles = handles_[lane];
        if (!handles.moving()) continue;
        for (std::size_t h = 0; h < handles.particles.size(); ++h) {
            host_slot_[lane * particles_ + std::size_t(handles.particles[h])] = int(h);
        }
    }
    driven_slot_.assign(host_slot_);
}

// Few lanes and steps: all is written here.
void LaneSet::send_places(int first, int count, const More& more)
{
    slots_of_handles_ = false;
    placed_.clear();
    host_slot_.assign(handles_.size() * particles_, -1);
    int width = 0;
    for (int lane = 0; lane < this->count(); ++lane) {
        int slots = 0;
        for (int i = 0; i < count; ++i) {
            const Place place = [&](int p, const Vec3d& x, const Vec3d& v) {
                int& slot = host_slot_[std::size_t(lane) * particles_ + std::size_t(p)];
                if (slot < 0) slot = slots++;
                placed_.push_back({lane, i, p, x, v});
            };
            const int step = first + 1 + i;
            place_moving_handles(handles_[lane], time(lane, step), dt_, place);
            more(lane, step, place);
        }
        width = std::max(width, slots);
    }
    driven_width_ = width;
    if (width == 0) return;
    host_driven_.assign(handles_.size() * std::size_t(count) * width * kStateRows,
                        std::numeric_limits<float>::quiet_NaN());
    for (const Placed& placed : placed_) {
        const int slot =
            host_slot_[std::size_t(placed.lane) * particles_ + std::size_t(placed.particle)];
        float* row = host_driven_.data() +
                     ((std::size_t(placed.lane) * count + placed.step) * width + slot) * kStateRows;
        for (int axis = 0; axis < 3; ++axis) {
            row[axis] = float(placed.position[axis]);
            row[3 + axis] = float(placed.velocity[axis]);
        }
    }
    driven_slot_.assign(host_slot_);
    driven_.assign(host_driven_);
}

void LaneSet::write_paths(int first, int count)
{
    constexpr int kThreads = 128;
    const long items = long(this->count()) * count * driven_width_;
    launch({int((items + kThreads - 1) / kThreads), kThreads}, fill_paths, items, first, count,
           driven_width_, dt_, paths_.data(), driven_.data());
}

void LaneSet::fetch()
{
    if (!ahead_) return;
    state_.fetch(0, host_state_.span());
    ahead_ = false;
}

void LaneSet::state(int lane, State& state) const
{
    const std::size_t size = kStateRows * particles_;
    unpack_state(host_state_.span().subspan(std::size_t(lane) * size, size), state);
}

LaneView LaneSet::view()
{
    LaneView view;
    view.count = count();
    view.particles = int(particles_);
    view.state = state_.data();
    view.mobility = mobility_.data();
    view.steps = device_steps_.data();
    if (driven_width_ > 0) {
        view.driven_slot = driven_slot_.data();
        view.driven = driven_.data();
        view.driven_steps = driven_steps_;
        view.driven_width = driven_width_;
    }
    return view;
}

std::size_t LaneSet::bytes_per_lane(std::size_t particles, std::size_t moving_handles, int steps)
{
    const std::size_t state = kStateRows * particles * sizeof(float);
    const std::size_t slots = moving_handles > 0 ? particles * sizeof(int) : 0;
    const std::size_t driven = std::size_t(steps) * moving_handles * kStateRows * sizeof(float);
    return state + particles * sizeof(float) + slots + driven;
}

}  // namespace springtime::cuda
