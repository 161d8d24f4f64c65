#include "backends/cuda/contacts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "sim/obstacle_placement.h"

namespace springtime::cuda {

namespace {

Vec3<float> in_float(const Vec3d& v)
{
    return {float(v.x), float(v.y), float(v.z)};
}

SolidPlacement<float> in_float(const ObstaclePlacement& placement)
{
    SolidPlacement<float> result;
    for (int i = 0; i < 3; ++i) {
        result.axes[i] = in_float(placement.axes[i]);
        result.spin[i] = in_float(placement.spin[i]);
    }
    result.position = in_float(placement.position);
    result.drift = in_float(placement.drift);
    return result;
}

// The box in the world around one in the axes of an obstacle. Without an end it has none anywhere.
ContactBounds world_bounds(const ContactBounds& own, const ObstaclePlacement& placement)
{
    const float infinity = std::numeric_limits<float>::infinity();
    Vec3d middle, half;
    for (int axis = 0; axis < 3; ++axis) {
        if (own.high[axis] - own.low[axis] == infinity) {
            return {{-infinity, -infinity, -infinity}, {infinity, infinity, infinity}};
        }
        middle[axis] = 0.5 * (double(own.low[axis]) + double(own.high[axis]));
        half[axis] = 0.5 * (double(own.high[axis]) - double(own.low[axis]));
    }
    middle = placement.position + placement.to_world(middle);
    ContactBounds world;
    for (int axis = 0; axis < 3; ++axis) {
        double reach = 0;
        for (int i = 0; i < 3; ++i) reach += std::abs(placement.axes[i][axis]) * half[i];
        // Wider by what float may round.
        reach += 1e-5 * (1 + std::abs(middle[axis]) + reach);
        world.low[axis] = float(middle[axis] - reach);
        world.high[axis] = float(middle[axis] + reach);
    }
    return world;
}

}  // namespace

Contacts::Contacts(const SimulationOptions& options)
    : obstacles_(options.obstacles), dt_(options.dt)
{
    if (obstacles_.empty()) return;
    view_.obstacles = int(obstacles_.size());
    view_.thickness = float(options.thickness);
    send_shapes();
    std::vector<InPieces<ContactBounds>> bounds;
    for (const Obstacle& obstacle : obstacles_) {
        bounds_.push_back(contact_bounds(obstacle, options.thickness));
        bounds.push_back({bounds_.back()});
    }
    device_bounds_.assign(bounds);
    view_.bounds = device_bounds_.data();
}

void Contacts::send_shapes()
{
    std::vector<InPieces<ContactShape>> all;
    std::map<const DistanceGrid*, const float*> sent;  // once, though several shapes share it
    for (const Obstacle& obstacle : obstacles_) {
        std::vector<ContactShape> shapes = contact_shapes(obstacle);
        for (std::size_t s = 0; s < shapes.size(); ++s) {
            const auto* shape = std::get_if<GridShape>(&obstacle.shapes[s]);
            if (!shape) continue;
            const float*& distance = sent[shape->grid.get()];
            if (!distance) {
                grids_.emplace_back(std::span(shape->grid->distance));
                distance = grids_.back().data();
            }
            shapes[s].distance = distance;
        }
        ObstacleView view{};
        view.first_shape = int(all.size());
        view.shape_count = int(shapes.size());
        view.friction = float(obstacle.friction);
        obstacle_views_.push_back(view);
        for (const ContactShape& shape : shapes) all.push_back({shape});
    }
    shapes_.assign(all);
    view_.shapes = shapes_.data();
}

const ContactView* Contacts::send(const LaneSet& lanes, int first, int count, const FrameWalk& walk)
{
    std::vector<double> start_time;
    for (int lane = 0; lane < lanes.count(); ++lane) start_time.push_back(lanes.time(lane, 0));
    return send(start_time, first, count, walk);
}

const ContactView* Contacts::send(std::span<const double> start_time, int first, int count,
                                  const FrameWalk& walk)
{
    if (obstacles_.empty()) return nullptr;
    group_lanes(start_time);
    placements_.clear();
    bool moves = false;
    for (std::size_t o = 0; o < obstacles_.size(); ++o) {
        ObstacleView& view = obstacle_views_[o];
        view.first_placement = int(placements_.size());
        view.per_group = view.per_step = 0;
        const FrameMotion::Solid* solid = walk.solid(o);
        if (solid) {
            add_led(o, *solid, count, walk);
            view.per_step = 1;
        } else if (obstacles_[o].moving()) {
            add_keyed(o, first, count);
            view.per_step = 1;
            view.per_group = count;
        } else {
            add(o, placement_of(obstacles_[o], 0, dt_));
        }
        moves |= view.per_step > 0;
    }
    const bool changed = sent_views_ != obstacle_views_;
    if (changed) {
        std::vector<InPieces<ObstacleView>> views;
        for (const ObstacleView& view : obstacle_views_) views.push_back({view});
        device_obstacles_.assign(views);
        view_.obstacle = device_obstacles_.data();
        sent_views_ = obstacle_views_;
    }
    if (moves || changed) {
        device_placements_.assign(placements_);
        view_.placements = device_placements_.data();
    }
    return &view_;
}

void Contacts::group_lanes(std::span<const double> start_time)
{
    group_time_.assign(start_time.begin(), start_time.end());
    std::sort(group_time_.begin(), group_time_.end());
    group_time_.erase(std::unique(group_time_.begin(), group_time_.end()), group_time_.end());
    std::vector<int> group;
    for (const double time : start_time) {
        group.push_back(int(std::lower_bound(group_time_.begin(), group_time_.end(), time) -
                            group_time_.begin()));
    }
    if (group == group_) return;
    group_ = std::move(group);
    device_group_.assign(group_);
    view_.group = device_group_.data();
}

void Contacts::add_keyed(std::size_t obstacle, int first, int count)
{
    for (const double start : group_time_) {
        for (int step = first + 1; step <= first + count; ++step) {
            add(obstacle, placement_of(obstacles_[obstacle], start + double(step) * dt_, dt_));
        }
    }
}

// It stays where it was placed last in steps in which it does not change.
void Contacts::add_led(std::size_t obstacle, const FrameMotion::Solid& solid, int count,
                       FrameWalk walk)
{
    for (int i = 0; i < count; ++i) {
        walk.next_step();
        if (i > 0 && !walk.changes(solid)) {
            placements_.push_back(placements_.back());
        } else {
            add(obstacle, walk.placement(solid, dt_));
        }
    }
}

void Contacts::add(std::size_t obstacle, const ObstaclePlacement& placement)
{
    placements_.push_back({{world_bounds(bounds_[obstacle], placement)}, {in_float(placement)}});
}

std::size_t Contacts::bytes_per_lane(int steps) const
{
    const auto keyed = std::count_if(obstacles_.begin(), obstacles_.end(),
                                     [](const Obstacle& obstacle) { return obstacle.moving(); });
    return sizeof(int) + std::size_t(keyed) * std::size_t(steps) * sizeof(PlacementView);
}

}  // namespace springtime::cuda
