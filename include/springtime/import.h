#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "springtime/cloth.h"
#include "springtime/error.h"
#include "springtime/motion.h"
#include "springtime/report.h"
#include "springtime/simulation.h"

// Points that a tracker, an animation or another simulator left in files become a motion.
// docs/own-data.md describes it for users.
namespace springtime {

struct ImportOptions {
    // Where points lie in the flat sheet is said by one of three: a grid, listed row by row from
    // the north-west corner and reaching from edge to edge; a mesh file with a vertex for every
    // point; an earlier motion file of the same points, which lends its rest positions and sheet.
    // Without any of them a frame is laid out flat.
    std::optional<Grid> grid;
    bool column_order = false;        // the grid is listed column by column instead
    std::filesystem::path rest;       // OBJ, PLY or motion file
    std::optional<double> rest_unit;  // [m] that 1 in a mesh means; else as fits the points
    // The frame to be laid out, counted from 0; else the first that shows every point.
    std::optional<std::size_t> rest_frame;

    std::optional<double> length, width;  // of the sheet [m]; a grid needs them, a layout has them
    double mass = 0;                      // [kg] of the sheet; must be given
    // Names as in the file, or as particles_named() has them (the points taken for particles).
    std::vector<std::string> pinned;   // held fast
    std::vector<std::string> driven;   // held and moved: their observed paths are prescribed
    std::vector<std::string> dropped;  // left out
    // Files with the path of what moves the driven points, one for every recording: poses of a
    // tool, or a place for every driven point. The points then follow these instead of their
    // observed paths, rigidly fixed to the tool, with offsets and a delay that fit what was seen.
    std::vector<std::filesystem::path> handle_path;
    std::optional<double> handle_delay;  // [s] of the recording behind those files; else fitted

    std::optional<double> unit;  // [m] that 1 in the file means; else as it says, or fits the sheet
    std::string up;              // x, y, z, -x, -y or -z of the file; empty: as it says, or y
    std::optional<double> frame_rate;   // [1/s]; else as the file says
    std::optional<double> from, until;  // [s] after the first frame of the file; else all of it
    Environment environment;
    double longest_step = 1e-3;  // [s]; what is stored is the longest below that divides a frame

    bool file_velocities = false;  // take those of the file, where it has them
    bool keep_outliers = false;    // report them, but leave them in
    bool smooth_handles = true;    // driven paths by local quadratics, as states are estimated
    bool trust = false;  // take unit, axis and grid as stated, whatever the points look like

    std::string csv_layout = "auto";  // wide, long, blocks or auto
    bool with_velocities = false;     // of a CSV without names: the second half are velocities
    std::string time_column;          // of a CSV, by its name; empty: as the numbers show
    std::string array;                // of an .npz
    std::string config;               // TOML that is kept in the motion; may be empty
    bool overwrite = true;            // replace a motion file that is there
};

// A point that cannot be where a frame shows it.
struct Outlier {
    std::size_t frame = 0;  // of the motion
    int landmark = 0;
    double off =
        0;  // [m] from the nearest position that its neighbours in time and on the sheet allow
};

// How driven points follow a file of handle_path.
struct HandleLogReport {
    std::string source;
    double delay = 0, delay_error = 0;  // [s] of the recording behind it; its standard error
    bool delay_given = false;
    bool shared_clock = true;   // else the file is taken to begin with the recording
    std::vector<Vec3d> offset;  // [m] of every driven point, in the axes of the tool
    bool oriented = false;      // the file has orientations; else offsets are in the room's axes
    double turn = 0;            // [rad] between the axes of file and recording, as fitted
    // Whether gravity points down in the axes of the file, because the cloth hangs straighter
    // there; and how far it hangs from gravity on average, now and as recorded [rad].
    bool levelled = false;
    double slant = 0, slant_before = 0;
    double residual = 0;        // [m], root mean square of seen places against the path
    double usual_residual = 0;  // [m], the median
    std::vector<std::string> remarks;
};

// What became of a recording: one file, or one sequence of files.
struct RecordingReport {
    std::string source, format;
    std::size_t frames_read = 0, frame_count = 0;  // in the file, and in the motion
    // Frames of the file that are dropped: they repeat the frame before, their time is not later
    // than that of an earlier frame, or they are at an end of the file and show nothing.
    std::size_t duplicates = 0, backward = 0, trimmed = 0;
    // Frames of the motion in which every point is missing: the file has no frame at that time, or
    // its frame shows no point.
    std::size_t lost = 0, empty = 0;
    std::size_t missing = 0;    // missing points, summed over the frames that show some
    bool resampled = false;     // for one of two reasons:
    bool another_rate = false;  // another frame rate than that of the file was asked for
    bool uneven = false;        // the time stamps are uneven
    double file_rate = 0;       // [1/s], lost frames counted
    double jitter = 0;          // of the time stamps, in frames of the file, at most
    // How far time stamps are from when a frame was seen, rms [s], where that can be told; and
    // whether times are those of the tracker's own clock, which its velocities tell, instead.
    std::optional<double> stamp_jitter;
    bool own_clock = false;
    // Noise of the points along an axis [m], by how far they are from the middle of the frames
    // before and after: of most (from the median), and root mean square. Motion that changes within
    // three frames counts too. Heavy tails make the second larger than the first.
    double noise = 0, noise_rms = 0;
    std::size_t outlier_count = 0;  // in the file
    std::vector<Outlier> outliers;  // the first of them
    // Root mean square change of driven paths [m] by local quadratics through so many frames.
    double smoothing = 0;
    std::size_t smoothing_frames = 0;
    // Frames in which a driven point is missing and its path is a straight line; the longest run.
    std::size_t bridged = 0, longest_bridge = 0;
    std::size_t late = 0;  // frames from the start until every point has been seen
    // Time after the first frame of the file [s] of the first frame that shows every point, or does
    // so with the two after it.
    std::optional<double> whole_from;
    std::optional<HandleLogReport> handle_log;
    double pin_motion = 0;  // root mean square distance of pinned points from their position [m]
    std::vector<std::string> remarks;
};

struct ImportReport {
    MotionHeader header;
    std::vector<int> pinned, driven;  // landmarks
    std::vector<std::string>
        labels;          // of landmarks: their names in the file, or their numbers there
    bool named = false;  // the labels are names
    double unit = 1;     // [m]
    std::string unit_reason, up, up_reason, rest_reason;
    // Median distance between neighbours over that in the flat sheet: about 1, less if crumpled.
    double stretch = 1;
    double rest_strain = 0;  // root mean square strain of a layout that was unrolled
    bool outliers_kept = false;
    std::vector<RecordingReport> recordings;
    std::vector<std::string> warnings;
};

// Reads files as recordings (each becomes a rollout; a sequence of meshes is one, and a folder
// stands for what is in it), cleans them and writes a motion file. Files are read twice and never
// held as a whole. When `progress` cancels, nothing is written. Throws Error on anything that
// cannot be right, with what to do.
ImportReport import_motion(const std::vector<std::filesystem::path>& files,
                           const std::filesystem::path& out, const ImportOptions& options,
                           const Progress& progress = {});

Result report_of(const ImportReport& report);

}  // namespace springtime
