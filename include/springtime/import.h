#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "springtime/cloth.h"
#include "springtime/error.h"
#include "springtime/motion.h"
#include "springtime/simulation.h"

// Points that a tracker, an animation or another simulator left in files become a motion.
// docs/own-data.md tells it for users.
namespace springtime {

struct ImportOptions {
    // Where points lie in the flat sheet. One of: a grid, row by row from the north-west corner and
    // edge to edge; a mesh file with a vertex for every point; an earlier motion file of the same
    // points, whose rest places and sheet are taken; otherwise a frame, laid out flat.
    std::optional<Grid> grid;
    bool column_order = false;   // the grid is listed column by column instead
    std::filesystem::path rest;  // OBJ, PLY or motion file
    double rest_unit = 0;  // [m] that 1 in a mesh means; 0: as in the files, or as fits the points
    // The frame to be laid out, counted from 0; negative: the first that shows every point.
    long rest_frame = -1;

    double length = 0, width = 0;  // of the sheet [m]; 0: those of the layout, which a grid has not
    double mass = 0;               // [kg]
    // Names as in the file, or as particles_named() has them (the points taken for particles).
    std::vector<std::string> pinned;   // held fast
    std::vector<std::string> driven;   // held and moved: their observed paths are prescribed
    std::vector<std::string> dropped;  // left out

    double unit = 0;  // [m] that 1 in the file means; 0: as the file says, or as fits the sheet
    std::string up;   // x, y, z, -x, -y or -z of the file; empty: as the file says, or y
    double frame_rate = 0;  // [1/s]; 0: as the file says
    double from = 0;        // [s] of the file's time to begin with
    double until = 0;       // and to end with; 0: its end
    Environment environment;
    double longest_step =
        1e-3;  // [s]; the step that is written is the longest part of a frame below

    bool file_velocities = false;  // take those of the file, where it has them
    bool keep_outliers = false;    // report them, but leave them in
    bool smooth_handles = true;    // driven paths by local quadratics, as states are estimated
    bool trust = false;  // take unit, axis and grid as stated, whatever the points look like

    std::string csv_layout = "auto";  // wide, long, blocks or auto
    std::string array;                // of an .npz
    std::string config;               // TOML that is kept in the motion; may be empty
};

// A point in a frame that cannot be where it was seen.
struct Outlier {
    std::size_t frame = 0;  // of the motion
    int landmark = 0;
    double off = 0;  // [m] from where its neighbours, in time or on the sheet, let it be
};

// What became of a take: one file, or one sequence of files.
struct TakeReport {
    std::string source, format;
    std::size_t frames_read = 0, frame_count = 0;  // in the file, and in the motion
    // Frames of the file that are dropped: they repeat the one before, come no later than one
    // before, or are at its ends and show nothing.
    std::size_t duplicates = 0, backward = 0, trimmed = 0;
    // Frames of the motion that are all gap: the file has none there or it was dropped, or what it
    // has shows no point.
    std::size_t lost = 0, empty = 0;
    std::size_t missing = 0;        // points times frames of the motion, in frames that show some
    bool resampled = false;         // for one of the two:
    bool another_rate = false;      // than the file's was wanted
    bool uneven = false;            // time stamps
    double file_rate = 0;           // [1/s], lost frames counted
    double jitter = 0;              // of the time stamps, in frames of the file
    std::size_t outlier_count = 0;  // in the file
    std::vector<Outlier> outliers;  // the first of them
    double smoothing = 0;           // root mean square change of driven paths [m]
    // Frames in which a driven point is missing and its path goes on straight; the longest run.
    std::size_t bridged = 0, longest_bridge = 0;
    std::size_t late = 0;  // frames from the start until every point has been seen
    // Time after the first frame of the file [s] of the first frame that shows every point, or does
    // so with the two behind it; negative without one.
    double whole_from = -1;
    double pin_motion = 0;  // root mean square distance of pinned points from their place [m]
    std::vector<std::string> remarks;
};

struct ImportReport {
    MotionHeader header;
    std::vector<int> pinned, driven;  // landmarks
    std::vector<std::string>
        labels;          // of landmarks: their names in the file, or their numbers there
    bool named = false;  // names they are
    double unit = 1;     // [m]
    std::string unit_reason, up, up_reason, rest_reason;
    // Median distance between neighbours, of that in the flat sheet: about 1, less when crumpled.
    double stretch = 1;
    double rest_strain = 0;  // root mean square strain of a layout that was unrolled
    bool outliers_kept = false;
    std::vector<TakeReport> takes;
    std::vector<std::string> warnings;
};

// Reads files as takes (each a rollout; a sequence of meshes is one, and a folder stands for what
// is in it), cleans them and writes a motion file. Files are read twice and never held as a whole.
// When it is cancelled nothing is written. Throws Error on anything that cannot be right, in words
// that say what to do.
ImportReport import_motion(const std::vector<std::filesystem::path>& files,
                           const std::filesystem::path& out, const ImportOptions& options,
                           const Progress& progress = {});

}  // namespace springtime
