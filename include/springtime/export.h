#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "springtime/cloth.h"
#include "springtime/error.h"
#include "springtime/motion.h"
#include "springtime/obstacle.h"
#include "springtime/report.h"
#include "springtime/simulation.h"

// Motion and cloth as files of other programs; docs/export.md says what each of them holds.
namespace springtime {

enum class ExportFormat { arcsim, blender, csv, glb, mdd, newton, npz, obj, pc2, ply, png, usda };
inline constexpr std::array kExportFormats{
    ExportFormat::arcsim, ExportFormat::blender, ExportFormat::csv, ExportFormat::glb,
    ExportFormat::mdd,    ExportFormat::newton,  ExportFormat::npz, ExportFormat::obj,
    ExportFormat::pc2,    ExportFormat::ply,     ExportFormat::png, ExportFormat::usda};
// Those that hold the parameters of a solver for a cloth of triangles and hinges, as JSON.
bool holds_parameters(ExportFormat format);
std::string_view name_of(ExportFormat format);
ExportFormat export_format_named(std::string_view name);  // throws Error naming all there are

enum class MapScale { linear, logarithmic };

// A learned field as a number from 0 to 1 for every particle.
struct WeightMap {
    std::string name;           // for instance stretch_warp
    std::string unit;           // of low, high and value
    double low = 0, high = 0;   // what 0 and 1 mean
    std::vector<double> value;  // in physical units
    std::vector<float> weight;  // value between low and high, on the scale of the map
    std::string strain;         // of a range, the strains it is for; otherwise empty
    std::size_t below_low = 0;  // zeros, which a logarithmic scale cannot show; their weight is 0
    bool constant() const { return low == high; }  // then every weight is 1
};

// The maps of a cloth: of springs stretch, shear and bend, along warp (the length, u) and weft (the
// width, v), of stiffness, damping and whatever its law has; of triangles and hinges their moduli.
// A value is the mean over the elements that have the particle as a corner; where there is none,
// the mean over the nearest particles that have one. Kinds without any element have no map.
std::vector<WeightMap> weight_maps(const Cloth& cloth, MapScale scale = MapScale::linear);

// What was written.
struct ExportReport {
    std::vector<std::filesystem::path> files;  // or a folder
    std::size_t frame_count = 0, point_count = 0, face_count = 0;
    std::string surface;               // what its faces are made of
    std::size_t filled = 0;            // positions of missing landmarks that were interpolated
    std::vector<WeightMap> maps;       // that were written
    std::vector<std::string> remarks;  // a sentence each
};

struct MotionExport {
    ExportFormat format = ExportFormat::usda;
    std::filesystem::path out;  // a file; for obj and ply a folder
    std::size_t rollout = 0;
    std::optional<double> rate;         // frames per second; otherwise those stored
    std::optional<double> from, until;  // [s]
    bool fill = false;                  // interpolate missing landmarks linearly in time
    bool long_rows = false;             // csv: one row per point instead of one per frame
    bool overwrite = false;
    std::vector<std::filesystem::path> inputs;  // that are never replaced
    std::optional<Cloth> maps;  // with the same particles: its weight maps are written too
    MapScale scale = MapScale::linear;
    std::string color;   // glb: the map that becomes the colour; empty: stretch, or the first
    std::string source;  // named in messages
};

// Reads the motion in segments, so it may be larger than memory. When `progress` cancels, nothing
// is left behind.
ExportReport export_motion(const Motion& motion, const MotionExport& options,
                           const Progress& progress = {});

struct ClothExport {
    ExportFormat format = ExportFormat::ply;
    std::filesystem::path out;  // a file; for png a folder
    bool overwrite = false;
    std::vector<std::filesystem::path> inputs;  // that are never replaced
    MapScale scale = MapScale::linear;
    std::string color;
    int size = 512;      // png: pixels along each side
    std::string source;  // named in messages
};

// The flat sheet with its weight maps, or the parameters of a solver.
ExportReport export_cloth(const Cloth& cloth, const ClothExport& options);

// The default path of an export: beside its input.
std::filesystem::path default_export_path(const std::filesystem::path& input, ExportFormat format,
                                          bool motion);

// ---- Pictures and films of a motion

struct RenderOptions {
    std::size_t rollout = 0;
    // Of a picture. Absent: the last one.
    std::optional<std::size_t> frame{};
    int width = 1280, height = 720;  // [pixel]; even for films
    double fps = 30;                 // of a film [1/s]
    double speed = 1;                // of a film; 0.25 is slow motion
    // What is shown, at its particles and in the colours of its stiffness. Absent: the source cloth
    // of the motion if its particles are the landmarks, otherwise the landmarks in one colour.
    std::optional<Cloth> cloth{};
    std::vector<Obstacle> obstacles{};
    int threads = 0;
};

// Draws one frame of a rollout. Throws Error for what is not there.
Picture render_frame(const Motion& motion, const RenderOptions& options);

// Writes an MP4 file of a rollout through the program ffmpeg. Throws Failure where that is not
// installed, or fails; then nothing is left behind, nor after it was cancelled.
void render_film(const Motion& motion, const RenderOptions& options,
                 const std::filesystem::path& path, bool overwrite, const Progress& progress = {});

// ---- The report: a page of HTML

// A number of a publication beside ours.
struct PublishedNumber {
    std::string what;  // with the experiment: "RMSE of k, dual pass"
    double ours = 0, published = 0;
    std::string unit;
    std::string source;  // where it is published, or where that is said
};

struct ReportOptions {
    // Run folders, any folders with a cloth.json, or cloth files. They are shown side by side.
    std::vector<std::filesystem::path> runs;
    // The motion that all are compared with. Absent: no errors and no player.
    std::optional<std::filesystem::path> motion{};
    bool seen = false;  // whether the runs may have learned from that motion
    // The source cloth. Absent: the one that the motion file holds, if it does.
    std::optional<std::filesystem::path> truth{};
    std::vector<PublishedNumber> published{};
    // At most; evenly spread over those of the motion.
    int rollouts = 8;         // that errors are of
    int player_rollouts = 4;  // of these, that the player shows
    int threads = 0;
    Device device = Device::automatic;
};

// Whether this build can make reports: it cannot where npm was missing.
bool has_report_page();

// One file of HTML that needs no network (docs/report.md). Throws Failure where this build has no
// page, and Error for what cannot be read.
std::string make_report(const ReportOptions& options, const Progress& progress = {});

// ---- The live page: a cloth to pull at, which runs in a browser

struct LivePageOptions {
    std::vector<std::filesystem::path> cloths;  // one, or two to compare
    Environment environment{};                  // to begin with
    std::vector<std::string> pins;              // names of held particles (particles_named)
};

// Whether this build can make live pages: it cannot where npm or emscripten was missing.
bool has_live_page();

// One file of HTML that needs no network (docs/view.md). Throws Failure where this build has no
// page, and Error for what cannot be read.
std::string make_live_page(const LivePageOptions& options);

// Gives one page to browsers on this machine (127.0.0.1), and nothing else to anybody.
class PageServer {
  public:
    // Port 0 is any free port. Throws Failure where the port is taken.
    explicit PageServer(std::string page, int port = 0);
    ~PageServer();

    std::string address() const;  // http://127.0.0.1:PORT/
    // Answers until `go_on`, which is asked several times per second, says no.
    void serve(const std::function<bool()>& go_on);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace springtime
