#include <gtest/gtest.h>

#include <cmath>

#include "solids.h"
#include "springtime/files.h"
#include "springtime/report.h"
#include "temp_folder.h"

namespace springtime {
namespace {

std::string obj_text(const TriangleMesh& mesh)
{
    std::string text;
    for (const Vec3d& p : mesh.points) text += fmt::format("v {} {} {}\n", p.x, p.y, p.z);
    for (const auto& [a, b, c] : mesh.triangles) {
        text += fmt::format("f {} {} {}\n", a + 1, b + 1, c + 1);
    }
    return text;
}

class ObstacleFile : public testing::Test {
  protected:
    std::vector<Obstacle> read(const std::string& text)
    {
        write_bytes(path_, text);
        return read_obstacles(path_.string(), {});
    }
    Obstacle read_one(const std::string& text)
    {
        const auto all = read("[[obstacle]]\n" + text);
        EXPECT_EQ(all.size(), 1u);
        return all.at(0);
    }
    // What follows the path in the message; the obstacle begins in line 1.
    std::string fault(const std::string& text)
    {
        const std::string message = error_of([&] { read("[[obstacle]]\n" + text); });
        EXPECT_TRUE(message.starts_with(path_.string())) << message;
        return message.substr(std::min(path_.string().size(), message.size()));
    }

    TempFolder folder_;
    std::filesystem::path path_ = folder_ / "scene.toml";
};

// ---- Kinds ----

TEST_F(ObstacleFile, EveryKindIsWhereItsFormulaSays)
{
    const auto distance = [&](const std::string& text, const Vec3d& x) {
        return signed_distance(read_one(text), x, 0);
    };
    const double e = 1e-12;
    EXPECT_NEAR(distance("kind = 'plane'\nposition = [0, 2, 0]", {7, 5, 1}), 3, e);
    EXPECT_NEAR(distance("kind = 'plane'\nnormal = [0, 3, 4]", {9, 5, 0}), 3, e);
    EXPECT_NEAR(distance("kind = 'sphere'\nradius = 2\nposition = [1, 0, 0]", {6, 0, 0}), 3, e);
    // Half sides 1, 2, 3; beyond a rounded edge the distance counts from the axis of the rounding.
    EXPECT_NEAR(distance("kind = 'box'\nsize = [2, 4, 6]", {4, 0, 0}), 3, e);
    EXPECT_NEAR(distance("kind = 'box'\nsize = [2, 4, 6]\nrounding = 0.5", {3.5, 5.5, 0}),
                std::hypot(3, 4) - 0.5, e);
    EXPECT_NEAR(distance("kind = 'capsule'\nradius = 1\nlength = 6", {5, 0, 0}), 2, e);
    EXPECT_NEAR(distance("kind = 'capsule'\nradius = 1\nlength = 6", {1, 4, 0}), 3, e);
    EXPECT_NEAR(distance("kind = 'capsule'\nradius = 1\na = [0, 0, 0]\nb = [0, 9, 0]", {4, 5, 0}),
                3, e);
    EXPECT_NEAR(distance("kind = 'table'\nside = 4\nposition = [0, 1, 0]", {1, 3, 1}), 2, e);
    EXPECT_NEAR(distance("kind = 'table'\nside = 2\nthickness = 0.2\nheight = 1\nrounding = 0",
                         {0, -1.5, 0}),
                0.5, e);
    EXPECT_NEAR(distance("kind = 'animal'\nlength = 2\nposition = [0, 3, 0]", {0, 3.1, 0}), 0.1, e);
}

TEST_F(ObstacleFile, NamesFrictionAndOrderAreKept)
{
    const auto all = read(
        "[[obstacle]]\nkind = 'sphere'\nradius = 1\nfriction = 0.75\nname = 'ball'\n"
        "[[obstacle]]\nkind = 'plane'\n");
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].name, "ball");
    EXPECT_EQ(all[0].friction, 0.75);
    EXPECT_EQ(all[1].name, "plane");
    EXPECT_EQ(all[1].friction, Obstacle{}.friction);
}

TEST_F(ObstacleFile, TurnsAreDegrees)
{
    // A quarter turn about z carries the box's x axis to y.
    const Obstacle box = read_one("kind = 'box'\nsize = [6, 2, 2]\nturn = [0, 0, 90]");
    EXPECT_NEAR(signed_distance(box, {0, 5, 0}, 0), 2, 1e-12);
    EXPECT_NEAR(signed_distance(box, {5, 0, 0}, 0), 4, 1e-12);
}

TEST_F(ObstacleFile, PathsArePosesOverTime)
{
    const Obstacle ball =
        read_one("kind = 'sphere'\nradius = 1\npath = [[0, 0, 0, 0], [2, 4, 0, 0], [3, 4, 6, 0]]");
    ASSERT_TRUE(ball.moving());
    EXPECT_NEAR(length(ball.pose(1).position - Vec3d{2, 0, 0}), 0, 1e-15);
    EXPECT_NEAR(length(ball.pose(2.5).position - Vec3d{4, 3, 0}), 0, 1e-15);
    EXPECT_NEAR(length(ball.pose(9).position - Vec3d{4, 6, 0}), 0, 1e-15);
    const Obstacle bar = read_one(
        "kind = 'capsule'\nradius = 1\nlength = 6\n"
        "path = [[1, 0, 0, 0, 0, 0, 0], [3, 0, 0, 0, 0, 0, 180]]");
    EXPECT_NEAR(bar.pose(2).turn.z, M_PI / 2, 1e-15);
    EXPECT_NEAR(signed_distance(bar, {0, 5, 0}, 2), 2, 1e-12);  // upright half-way
}

TEST_F(ObstacleFile, MeshesLieBesideTheFileAndAreScaled)
{
    std::filesystem::create_directory(folder_ / "shapes");
    write_bytes(folder_ / "shapes/cube.obj", obj_text(cube_mesh(1, {0, 3, 0})));
    const Obstacle cube = read_one(
        "kind = 'mesh'\nfile = 'shapes/cube.obj'\nscale = 2\nspacing = 0.1\nposition = [10, 0, 0]");
    // The cube's own middle is at (0, 6, 0) after scaling; its faces are 1 m away from there.
    // Points of the grid are 0.1 m apart, and distances along a face's normal linear.
    EXPECT_NEAR(signed_distance(cube, {10, 7.3, 0}, 0), 0.3, 1e-6);
    EXPECT_NEAR(signed_distance(cube, {10.8, 6, 0}, 0), -0.2, 1e-6);
    const auto& grid = *std::get<GridShape>(cube.shapes.at(0)).grid;
    EXPECT_EQ(grid.spacing, 0.1);
    const Obstacle plain = read_one("kind = 'mesh'\nfile = 'shapes/cube.obj'");
    EXPECT_DOUBLE_EQ(std::get<GridShape>(plain.shapes.at(0)).grid->spacing, 1.0 / 96);
}

// ---- Faults ----

TEST_F(ObstacleFile, Errors)
{
    EXPECT_EQ(fault("radius = 1"), ":1: obstacle 1: key 'kind' is missing; add it");
    EXPECT_EQ(fault("kind = 'cone'"),
              ":2: obstacle 1: key 'kind': there is no 'cone'; choose one of plane, sphere, box, "
              "capsule, table, animal, mesh");
    EXPECT_EQ(fault("kind = 3"), ":2: obstacle 1: key 'kind': a text in quotes is needed");
    EXPECT_EQ(fault("kind = 'sphere'"), ":1: obstacle 1: key 'radius' is missing; add it");
    EXPECT_EQ(fault("kind = 'sphere'\nradius = 1\nradios = 2"),
              ":4: obstacle 1: key 'radios': a sphere has no such key; it has: kind, name, "
              "position, turn, path, friction, radius");
    EXPECT_EQ(fault("kind = 'sphere'\nradius = '1'"),
              ":3: obstacle 1: key 'radius': a finite number is needed");
    EXPECT_EQ(fault("kind = 'sphere'\nradius = true"),
              ":3: obstacle 1: key 'radius': a finite number is needed");
    EXPECT_EQ(fault("kind = 'sphere'\nradius = nan"),
              ":3: obstacle 1: key 'radius': a finite number is needed");
    EXPECT_EQ(fault("kind = 'sphere'\nradius = -1"),
              ":3: obstacle 1: key 'radius': -1 is too small; a positive number is needed");
    EXPECT_EQ(fault("kind = 'sphere'\nradius = 1\nposition = [1, 2]"),
              ":4: obstacle 1: key 'position': a list of 3 numbers is needed");
    EXPECT_EQ(fault("kind = 'sphere'\nradius = 1\nposition = [1, 2, 'x']"),
              ":4: obstacle 1: key 'position': a finite number is needed");
    EXPECT_EQ(fault("kind = 'sphere'\nradius = 1\nturn = 90"),
              ":4: obstacle 1: key 'turn': a list of 3 numbers is needed");
    EXPECT_EQ(fault("kind = 'sphere'\nradius = 1\nfriction = -1"),
              ":1: obstacle 1: friction -1; it must be finite and not negative");
    EXPECT_EQ(fault("kind = 'plane'\n[[obstacle]]\nkind = 'box'"),
              ":3: obstacle 2: key 'size' is missing; add it");
    EXPECT_EQ(fault("kind = 'plane'\nnormal = [0, 0, 0]"),
              ":1: obstacle 1: plane with a normal of length 0; it must point somewhere");
}

TEST_F(ObstacleFile, ErrorsOfKinds)
{
    EXPECT_EQ(fault("kind = 'capsule'\nradius = 1"), ":1: obstacle 1: key 'a' is missing; add it");
    EXPECT_EQ(fault("kind = 'capsule'\nradius = 1\nlength = 3\nb = [0, 0, 0]"),
              ":4: obstacle 1: key 'length': either the length or the ends a and b are needed, not "
              "both");
    EXPECT_EQ(fault("kind = 'capsule'\nradius = 1\nlength = 1.5"),
              ":4: obstacle 1: key 'length': it is shorter than its two round ends; at least 2 m "
              "are needed");
    EXPECT_EQ(fault("kind = 'table'\nside = 1\nthickness = 0.5\nheight = 0.4"),
              ":1: obstacle 1: table: 0.4 m high with a top of 0.5 m; it must be higher than its "
              "top");
    EXPECT_EQ(
        fault("kind = 'mesh'\nfile = 'none.obj'"),
        ":1: obstacle 1: " + (folder_ / "none.obj").string() + ": no such file; check the name");
    TriangleMesh open = cube_mesh(1);
    open.triangles.pop_back();
    write_bytes(folder_ / "open.obj", obj_text(open));
    EXPECT_TRUE(fault("kind = 'mesh'\nfile = 'open.obj'")
                    .starts_with(":1: obstacle 1: " + (folder_ / "open.obj").string() +
                                 ": the surface is open"));
}

TEST_F(ObstacleFile, ErrorsOfPaths)
{
    const std::string ball = "kind = 'sphere'\nradius = 1\n";
    EXPECT_EQ(fault(ball + "path = []"),
              ":4: obstacle 1: key 'path': a list of [t, x, y, z] or [t, x, y, z, ax, ay, az] is "
              "needed");
    EXPECT_EQ(fault(ball + "path = [[0, 1, 2]]"),
              ":4: obstacle 1: key 'path': a list of 4 or 7 numbers is needed");
    EXPECT_EQ(fault(ball + "path = [1, 2, 3, 4]"),
              ":4: obstacle 1: key 'path': a list of 4 or 7 numbers is needed");
    EXPECT_EQ(fault(ball + "path = [[1, 0, 0, 0], [1, 2, 0, 0]]"),
              ":4: obstacle 1: key 'path': 1 s comes after 1 s; times must ascend");
    EXPECT_EQ(
        fault(ball + "path = [[1, 0, 0, 0]]\nposition = [1, 2, 3]"),
        ":5: obstacle 1: key 'position': the path says where it is already; leave one of them "
        "out");
}

TEST_F(ObstacleFile, ErrorsOfFiles)
{
    const std::string path = path_.string();
    EXPECT_EQ(error_of([&] { read_obstacles(path, {}); }), path + ": no such file; check the name");
    EXPECT_EQ(error_of([&] { read(""); }), path + ": no [[obstacle]]; at least one is needed");
    EXPECT_EQ(error_of([&] { read("[obstacle]\nkind = 'plane'"); }),
              path + ":1: found 'obstacle'; only [[obstacle]] tables can stand here");
    EXPECT_EQ(error_of([&] { read("\nthickness = 1"); }),
              path + ":2: found 'thickness'; only [[obstacle]] tables can stand here");
    EXPECT_TRUE(error_of([&] { read("kind ="); }).starts_with(path + ":1:7: not TOML: "));
    EXPECT_EQ(error_of([&] { read_obstacles("chair", {}); }),
              "obstacle 'chair': no such name; give floor, sphere, table, animal, or a file that "
              "ends in .obj or .toml");
    EXPECT_EQ(error_of([&] {
                  read_obstacles("table", {0, {1, 2, 3}});
              }),
              "obstacle: a size of 0 m with its top at (1, 2, 3); both must be finite, the size "
              "positive");
    EXPECT_EQ(error_of([&] { read_obstacles((folder_ / "none.obj").string(), {}); }),
              (folder_ / "none.obj").string() + ": no such file; check the name");
}

// ---- Fits ----

// Of the obstacle's surface.
struct Extent {
    Vec3d low, high;
};
Extent extent_of(const Obstacle& obstacle)
{
    const TriangleMesh mesh = obstacle_surface(obstacle, 0);
    Extent extent{mesh.points.at(0), mesh.points.at(0)};
    for (const Vec3d& p : mesh.points) {
        for (int axis = 0; axis < 3; ++axis) {
            extent.low[axis] = std::min(extent.low[axis], p[axis]);
            extent.high[axis] = std::max(extent.high[axis], p[axis]);
        }
    }
    return extent;
}

TEST_F(ObstacleFile, FittedOnesHaveTheirTopAndSize)
{
    // Twice as long in z as in x, upright, off its origin.
    TriangleMesh brick = cube_mesh(1, {5, 6, 7});
    for (Vec3d& p : brick.points) p = {p.x, 1.5 * p.y, 2 * p.z};
    write_bytes(folder_ / "brick.OBJ", obj_text(brick));
    const ObstacleFit fit{3, {-1, 2, 4}};
    const double sample = 3.0 / 48;  // twice the spacing of surfaces, which are smoothed by that
    for (const std::string& name :
         {std::string("sphere"), std::string("table"), (folder_ / "brick.OBJ").string()}) {
        const auto all = read_obstacles(name, fit);
        ASSERT_EQ(all.size(), 1u);
        const auto [low, high] = extent_of(all[0]);
        EXPECT_NEAR(std::max(high.x - low.x, high.z - low.z), fit.size, sample) << name;
        EXPECT_NEAR((low.x + high.x) / 2, fit.top.x, sample) << name;
        EXPECT_NEAR(high.y, fit.top.y, sample) << name;
        EXPECT_NEAR((low.z + high.z) / 2, fit.top.z, sample) << name;
        EXPECT_NEAR(signed_distance(all[0], fit.top, 0), 0, 1e-6) << name;  // grids hold floats
    }
}

TEST_F(ObstacleFile, AnAnimalIsFittedByItsHornsAndAFloorByItsHeight)
{
    const ObstacleFit fit{2, {1, 5, -3}};
    const Obstacle animal = read_obstacles("animal", fit).at(0);
    const double back = fit.top.y - kAnimalHornHeight * 2;
    EXPECT_NEAR(signed_distance(animal, {fit.top.x, back, fit.top.z}, 0), 0, 1e-12);
    const auto [low, high] = extent_of(animal);
    EXPECT_NEAR(high.y, fit.top.y, 2.0 / 48);
    EXPECT_NEAR(high.x - low.x, 2, 2.0 / 48);
    EXPECT_NEAR((low.x + high.x) / 2, 1, 2.0 / 48);
    const Obstacle floor = read_obstacles("floor", fit).at(0);
    EXPECT_NEAR(signed_distance(floor, {70, 7, 90}, 0), 2, 1e-12);
}

TEST_F(ObstacleFile, TheExamplesCanBeRead)
{
    const std::filesystem::path folder =
        std::filesystem::path(SPRINGTIME_SOURCE_DIR) / "examples/obstacles";
    EXPECT_EQ(read_obstacles((folder / "table.toml").string(), {}).size(), 2u);
    EXPECT_TRUE(read_obstacles((folder / "moving-sphere.toml").string(), {}).at(0).moving());
    EXPECT_EQ(read_obstacles((folder / "animal.toml").string(), {}).at(0).name, "animal");
}

}  // namespace
}  // namespace springtime
