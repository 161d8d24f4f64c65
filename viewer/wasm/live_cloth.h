#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "springtime/export.h"
#include "springtime/simulation.h"

// A cloth that somebody plays with: it runs, and what the simulation keeps constant can change all
// the same, because a new simulation then goes on from the present state.
namespace springtime::live {

// A number that is kept for a hold until it is released.
using HoldNumber = int;

class LiveCloth {
  public:
    // `name` stands in messages.
    LiveCloth(std::string_view json, std::string_view name);

    const Cloth& cloth() const { return cloth_; }
    const Simulation& simulation() const { return *simulation_; }

    // Frames of dt, each cut into so many sub-steps, or into as many as are safe.
    void set_frame(double dt, std::optional<int> substeps);
    void set_environment(const Environment& environment);
    // Keeps points of the cloth apart, by the smallest distance between neighbours at rest.
    void set_self_collision(bool on);

    // Nothing, floor, sphere, table or animal, fitted as the command line does it.
    void set_obstacle(std::string_view name);
    // The same for a closed mesh, from the text of an OBJ file.
    void set_obstacle_mesh(std::string_view obj, std::string_view name);
    // Its surface, for drawing; empty without an obstacle.
    const TriangleMesh& obstacle_surface() const { return surface_; }
    void set_obstacle_pose(const Pose& pose);

    // Advances by frames; the message of a blow-up, which leaves the state as it was.
    std::optional<std::string> advance(int frames);
    // Flat and at rest, `height` above where it starts otherwise. Holds go back with it.
    void reset(double height);

    // Those of the particles that are free. Nothing when none is.
    std::optional<HoldNumber> hold(std::span<const int> particles);
    void move(HoldNumber number, const Vec3d& target, const Vec3d& turn);
    void release(HoldNumber number);
    Vec3d center(HoldNumber number) const;
    bool is_held(int particle) const;

    // Multiplies all stiffnesses by a factor per particle, counted from the file, not from the last
    // call. An element takes the geometric mean over its particles.
    void paint(std::span<const float> factors);
    // The cloth as it is now. Standard errors are those of the file, so paint removes them.
    std::string json() const;

    // How much longer than at rest the edges at each particle are, on average.
    std::span<const float> strain();
    // Speeds of the particles. [m/s]
    std::span<const float> speed();
    const std::vector<WeightMap>& maps();

    // Pairs of particles that a picture of a rope joins; triangles of a sheet.
    const std::vector<std::array<int, 2>>& edges() const { return edges_; }
    const std::vector<std::array<int, 3>>& triangles() const { return triangles_; }

  private:
    struct Hold {
        HoldNumber number;
        std::vector<int> particles;
        HandleId id;
    };

    void find_edges();
    const Hold& hold_of(HoldNumber number) const;
    void take_obstacle(Obstacle obstacle);
    void rebuild(const State& state);
    void rebuild();

    Cloth original_, cloth_;
    SimulationOptions options_;
    std::optional<Simulation> simulation_;
    std::vector<Hold> holds_;
    HoldNumber last_number_ = 0;
    TriangleMesh surface_;
    std::vector<std::array<int, 3>> triangles_;
    std::vector<std::array<int, 2>> edges_;
    std::vector<float> edge_length_;  // at rest [m]
    std::vector<float> strain_, speed_, edge_count_;
    std::vector<WeightMap> maps_;
    bool maps_fresh_ = false;
};

}  // namespace springtime::live
