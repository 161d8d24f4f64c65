// What the page calls: plain C, a LiveCloth behind each pointer. A function that can fail returns
// whether it worked; live_error() then has the message. Pointers to results are valid until the
// next call with the same cloth.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>

#include "live_cloth.h"
#include "springtime/error.h"

using springtime::live::LiveCloth;
using namespace springtime;

#define SPRINGTIME_EXPORT extern "C" [[gnu::visibility("default"), gnu::used]]

namespace {

// What a cloth shows beside itself, kept here because the page only gets addresses.
struct Page {
    explicit Page(LiveCloth cloth_) : cloth(std::move(cloth_)) {}

    LiveCloth cloth;
    std::vector<float> rest, map, surface;
    std::vector<int> named;
    std::string text;
};

std::string last_error;

// Runs what may throw. Nothing of it leaves this file.
template <class Work>
bool works(Work work)
{
    try {
        work();
        return true;
    } catch (const std::bad_alloc&) {
        last_error = "out of memory; use a smaller cloth or obstacle";
    } catch (const std::exception& error) {
        last_error = error.what();
    }
    return false;
}

}  // namespace

SPRINGTIME_EXPORT void* live_allocate(std::size_t bytes)
{
    return std::malloc(bytes);
}
SPRINGTIME_EXPORT void live_free(void* memory)
{
    std::free(memory);
}
SPRINGTIME_EXPORT const char* live_error()
{
    return last_error.c_str();
}

// ---- A cloth ----

// Null when it fails.
SPRINGTIME_EXPORT Page* live_open(const char* json, std::size_t length, const char* name)
{
    Page* page = nullptr;
    works([&] { page = new Page(LiveCloth({json, length}, name)); });
    return page;
}
SPRINGTIME_EXPORT void live_close(Page* page)
{
    delete page;
}

SPRINGTIME_EXPORT int live_particle_count(const Page* page)
{
    return int(page->cloth.cloth().particle_count());
}
// u and v of every particle in the flat sheet. [m]
SPRINGTIME_EXPORT const float* live_rest(Page* page)
{
    page->rest.clear();
    for (const SheetPoint& at : page->cloth.cloth().rest) {
        page->rest.insert(page->rest.end(), {float(at.u), float(at.v)});
    }
    return page->rest.data();
}
// 0: length [m], 1: width [m], 2: mass [kg].
SPRINGTIME_EXPORT double live_sheet(const Page* page, int which)
{
    const Sheet& sheet = page->cloth.cloth().sheet;
    return which == 0 ? sheet.length : which == 1 ? sheet.width : sheet.mass;
}
// Whether it stiffens when it is stretched, so that no step is safe in every shape.
SPRINGTIME_EXPORT bool live_stiffens(const Page* page)
{
    return page->cloth.cloth().triangles.triangle_count() > 0;
}
SPRINGTIME_EXPORT int live_triangle_count(const Page* page)
{
    return int(page->cloth.triangles().size());
}
SPRINGTIME_EXPORT const int* live_triangles(const Page* page)
{
    return page->cloth.triangles().data()->data();
}
SPRINGTIME_EXPORT int live_edge_count(const Page* page)
{
    return int(page->cloth.edges().size());
}
SPRINGTIME_EXPORT const int* live_edges(const Page* page)
{
    return page->cloth.edges().data()->data();
}

// ---- Running ----

SPRINGTIME_EXPORT bool live_advance(Page* page, int frames)
{
    return works([&] {
        if (const auto blow_up = page->cloth.advance(frames)) throw Failure("{}", *blow_up);
    });
}
SPRINGTIME_EXPORT bool live_reset(Page* page, double height)
{
    return works([&] { page->cloth.reset(height); });
}
// Without a number of sub-steps (0), as many as are safe.
SPRINGTIME_EXPORT bool live_set_frame(Page* page, double dt, int substeps)
{
    const std::optional<int> given = substeps > 0 ? std::optional(substeps) : std::nullopt;
    return works([&] { page->cloth.set_frame(dt, given); });
}
SPRINGTIME_EXPORT int live_substeps(const Page* page)
{
    return page->cloth.simulation().substeps();
}
SPRINGTIME_EXPORT double live_time(const Page* page)
{
    return page->cloth.simulation().state().time;
}
SPRINGTIME_EXPORT bool live_set_air(Page* page, double gx, double gy, double gz, double wx,
                                    double wy, double wz, double drag)
{
    return works([&] {
        page->cloth.set_environment({.gravity = {gx, gy, gz}, .drag = drag, .wind = {wx, wy, wz}});
    });
}
SPRINGTIME_EXPORT bool live_set_self_collision(Page* page, int on)
{
    return works([&] { page->cloth.set_self_collision(on != 0); });
}

// ---- What is held ----

// Its number from 1 on; 0 when all of the particles are held already, or it fails.
SPRINGTIME_EXPORT int live_hold(Page* page, const int* particles, int count)
{
    int number = 0;
    works([&] { number = page->cloth.hold({particles, std::size_t(count)}).value_or(0); });
    return number;
}
// How many particles a name stands for that particles_named() knows, such as corner-nw; negative when
// it knows none. live_named() has them.
SPRINGTIME_EXPORT int live_find_named(Page* page, const char* name)
{
    const bool found =
        works([&] { page->named = particles_named(page->cloth.cloth(), name); });
    return found ? int(page->named.size()) : -1;
}
SPRINGTIME_EXPORT const int* live_named(const Page* page)
{
    return page->named.data();
}
SPRINGTIME_EXPORT bool live_move(Page* page, int number, double x, double y, double z, double turn_x,
                                 double turn_y, double turn_z)
{
    return works([&] { page->cloth.move(number, {x, y, z}, {turn_x, turn_y, turn_z}); });
}
SPRINGTIME_EXPORT bool live_release(Page* page, int number)
{
    return works([&] { page->cloth.release(number); });
}
SPRINGTIME_EXPORT bool live_center(const Page* page, int number, double* center)
{
    return works([&] {
        const Vec3d at = page->cloth.center(number);
        std::copy_n(&at.x, 3, center);
    });
}
SPRINGTIME_EXPORT bool live_is_held(const Page* page, int particle)
{
    return page->cloth.is_held(particle);
}

// ---- Obstacles ----

SPRINGTIME_EXPORT bool live_set_obstacle(Page* page, const char* name)
{
    return works([&] { page->cloth.set_obstacle(name); });
}
SPRINGTIME_EXPORT bool live_set_obstacle_mesh(Page* page, const char* obj, std::size_t length,
                                              const char* name)
{
    return works([&] { page->cloth.set_obstacle_mesh({obj, length}, name); });
}
SPRINGTIME_EXPORT bool live_set_obstacle_position(Page* page, double x, double y, double z)
{
    return works([&] { page->cloth.set_obstacle_pose({{x, y, z}, {}}); });
}
SPRINGTIME_EXPORT int live_surface_point_count(const Page* page)
{
    return int(page->cloth.obstacle_surface().points.size());
}
SPRINGTIME_EXPORT const float* live_surface_points(Page* page)
{
    page->surface.clear();
    for (const Vec3d& at : page->cloth.obstacle_surface().points) {
        page->surface.insert(page->surface.end(), {float(at.x), float(at.y), float(at.z)});
    }
    return page->surface.data();
}
SPRINGTIME_EXPORT int live_surface_triangle_count(const Page* page)
{
    return int(page->cloth.obstacle_surface().triangles.size());
}
SPRINGTIME_EXPORT const int* live_surface_triangles(const Page* page)
{
    return page->cloth.obstacle_surface().triangles.data()->data();
}

// ---- What is shown ----

SPRINGTIME_EXPORT const float* live_positions(const Page* page)
{
    return &page->cloth.simulation().positions().data()->x;
}
SPRINGTIME_EXPORT const float* live_strain(Page* page)
{
    return page->cloth.strain().data();
}
SPRINGTIME_EXPORT const float* live_speed(Page* page)
{
    return page->cloth.speed().data();
}
SPRINGTIME_EXPORT int live_map_count(Page* page)
{
    return int(page->cloth.maps().size());
}
// The name and the unit of a map, with a line break between them.
SPRINGTIME_EXPORT const char* live_map_title(Page* page, int map)
{
    const WeightMap& shown = page->cloth.maps()[std::size_t(map)];
    page->text = shown.name + "\n" + shown.unit;
    return page->text.c_str();
}
SPRINGTIME_EXPORT const float* live_map(Page* page, int map)
{
    const std::vector<double>& values = page->cloth.maps()[std::size_t(map)].value;
    page->map.assign(values.begin(), values.end());
    return page->map.data();
}

// ---- Paint, and the file ----

SPRINGTIME_EXPORT bool live_paint(Page* page, const float* factors)
{
    return works([&] {
        page->cloth.paint({factors, page->cloth.cloth().particle_count()});
    });
}
// Null when it fails.
SPRINGTIME_EXPORT const char* live_json(Page* page)
{
    return works([&] { page->text = page->cloth.json(); }) ? page->text.c_str() : nullptr;
}
