#pragma once

#include "backends/cuda/grid_advance.h"
#include "backends/cuda/grid_programs.h"
#include "backends/cuda/grid_retreat.h"

// Starts the kernels for patches of one shape.
namespace springtime::cuda {

inline LaunchShape grid_launch(const GridView& grid, const LaneView& lanes, std::size_t room)
{
    return {lanes.count * grid.blocks, grid.bands * kWarp, room, grid.blocks};
}

template <class Shape, class Law, bool kContact, bool kCluster>
void start_advance(const GridView& grid, const LaneView& lanes, int first, int count,
                   const Records& records, const ContactView& contact)
{
    launch(grid_launch(grid, lanes, advance_room<Shape, Law>(grid.bands)),
           advance_grid<Shape, Law, kContact, kCluster>, grid, lanes, first, count, records,
           contact);
}

template <class Shape, bool kCluster>
void choose_advance(const GridView& grid, bool full, const LaneView& lanes, int first, int count,
                    const Records& records, const ContactView* contact)
{
    if (contact) {
        auto* const start = full ? start_advance<Shape, FullGridLaw, true, kCluster>
                                 : start_advance<Shape, PlainGridLaw, true, kCluster>;
        start(grid, lanes, first, count, records, *contact);
    } else {
        auto* const start = full ? start_advance<Shape, FullGridLaw, false, kCluster>
                                 : start_advance<Shape, PlainGridLaw, false, kCluster>;
        start(grid, lanes, first, count, records, ContactView{});
    }
}

template <class Shape, class Law, bool kCluster>
void start_retreat(const GridView& grid, const LaneView& lanes, int first, int count,
                   const float* tape, std::size_t lane_stride, const FrameAdjoints& frames,
                   const GridBackView& back)
{
    launch(grid_launch(grid, lanes, retreat_room<Shape, Law>(grid)),
           retreat_grid<Shape, Law, kCluster>, grid, lanes, first, count, tape, lane_stride, frames,
           back);
}

template <class Shape, bool kCluster>
void choose_retreat(const GridView& grid, bool full, const LaneView& lanes, int first, int count,
                    const float* tape, std::size_t lane_stride, const FrameAdjoints& frames,
                    const GridBackView& back)
{
    auto* const start = full ? start_retreat<Shape, FullGridLaw, kCluster>
                             : start_retreat<Shape, PlainGridLaw, kCluster>;
    start(grid, lanes, first, count, tape, lane_stride, frames, back);
}

// kSingle: with kernels for a single block, too, which need no cluster.
template <class Shape, bool kSingle>
GridPrograms programs_of_shape()
{
    return {[](const GridView& grid, bool full, const LaneView& lanes, int first, int count,
               const Records& records, const ContactView* contact) {
                if constexpr (kSingle) {
                    if (grid.blocks == 1) {
                        choose_advance<Shape, false>(grid, full, lanes, first, count, records,
                                                     contact);
                        return;
                    }
                }
                choose_advance<Shape, true>(grid, full, lanes, first, count, records, contact);
            },
            [](const GridView& grid, bool full, const LaneView& lanes, int first, int count,
               const float* tape, std::size_t lane_stride, const FrameAdjoints& frames,
               const GridBackView& back) {
                if constexpr (kSingle) {
                    if (grid.blocks == 1) {
                        choose_retreat<Shape, false>(grid, full, lanes, first, count, tape,
                                                     lane_stride, frames, back);
                        return;
                    }
                }
                choose_retreat<Shape, true>(grid, full, lanes, first, count, tape, lane_stride,
                                            frames, back);
            }};
}

}  // namespace springtime::cuda
