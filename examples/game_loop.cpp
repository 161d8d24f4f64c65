// A cape on a figure that walks off, frame by frame as in a game: game_loop cape.json
// The origin is between the shoulders, y is up, the figure walks along -z.
#include <algorithm>
#include <cstdio>

#include "springtime/error.h"
#include "springtime/files.h"
#include "springtime/simulation.h"

using namespace springtime;

namespace {

constexpr double kFrame = 1.0 / 60;  // [s]
constexpr int kFrames = 300;

// How far the figure has walked [m]: it speeds up for a second and then keeps its 1 m/s.
double walked(double time)
{
    return time < 1 ? time * time / 2 : time - 0.5;
}

// Upright in front of the sheet's northern edge.
Obstacle torso(const Sheet& sheet)
{
    Obstacle body;
    body.name = "torso";
    const double z = -sheet.width / 2 - 0.17;
    body.shapes = {CapsuleShape{{0, -0.1, z}, {0, -0.8, z}, 0.15}};
    return body;
}

// Stands for what a renderer does: it takes floats, x, y and z of every particle.
float upload(std::span<const Vec3f> positions, std::span<const Vec3f> normals)
{
    float lowest = positions[0].y;
    for (const Vec3f& x : positions) lowest = std::min(lowest, x.y);
    return positions.size() == normals.size() ? lowest : 0;
}

}  // namespace

int main(int argc, char** argv)
try {
    if (argc != 2) throw Error("usage: game_loop cape.json");
    const Cloth cape = read_cloth(argv[1]);
    Simulation cloth(cape, {.dt = kFrame,
                            .obstacles = {torso(cape.sheet)},
                            .thickness = 0.01,
                            .substeps = kAutomatic});
    const std::size_t body = cloth.obstacle_named("torso");
    const HandleId left = cloth.hold("corner-nw"), right = cloth.hold("corner-ne");
    const Vec3d left_start = cloth.center(left), right_start = cloth.center(right);

    float lowest = 0;
    for (int frame = 1; frame <= kFrames; ++frame) {
        const Vec3d way{0, 0, -walked(frame * kFrame)};  // where all is at the end of the frame
        cloth.move(left, left_start + way);
        cloth.move(right, right_start + way);
        cloth.set_pose(body, {way, {}});
        cloth.set_wind({0.5, 0, 0});
        if (const auto report = cloth.advance()) {
            std::puts(describe(*report, cape, cloth.options()).c_str());
            return 1;
        }
        lowest = upload(cloth.positions(), cloth.normals());
    }
    std::printf("after %d frames of %d steps: left shoulder at z = %.3f m, hem at y = %.3f m\n",
                kFrames, cloth.substeps(), cloth.center(left).z, double(lowest));
} catch (const std::exception& error) {
    std::fprintf(stderr, "game_loop: %s\n", error.what());
    return 2;
}
