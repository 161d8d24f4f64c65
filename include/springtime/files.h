#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "springtime/cloth.h"
#include "springtime/geometry.h"
#include "springtime/learn.h"
#include "springtime/motion.h"
#include "springtime/simulation.h"

// Files are written as PATH.part and renamed, so that an interrupted write never destroys the last
// good one. The part is locked: of two that write the same name, the second is refused with
// Failure. Without `overwrite` nothing is replaced, not even what came meanwhile. Formats:
// docs/formats.md. Every reader throws Error that names the file, what was found, what was needed
// and what to do.
namespace springtime {

std::string read_text(const std::filesystem::path& path);
void write_text(const std::filesystem::path& path, std::string_view text);  // overwrites
void write_text(const std::filesystem::path& path, std::string_view text, bool overwrite);

// The right to write into a folder, until the last copy of it goes. Throws Failure when another
// process has it.
std::shared_ptr<void> lock_folder(const std::filesystem::path& folder);

// The version of the format that a cloth needs, from 1 for plain springs alone to 6.
int cloth_file_version(const Cloth& cloth);
std::string cloth_to_json(const Cloth& cloth);
Cloth cloth_from_json(std::string_view text, std::string_view source);
void write_cloth(const std::filesystem::path& path, const Cloth& cloth, bool overwrite = true);
Cloth read_cloth(const std::filesystem::path& path);

// What a motion file says of a run of this cloth, which goes into it as well.
MotionHeader header_for(const Cloth& cloth, const SimulationOptions& options, int stride,
                        std::uint64_t seed, int rollouts, std::string config);

// Appends rollouts to PATH.part; finish() turns that into PATH. Without `overwrite`, a part with
// rollouts that an interrupted run left is not replaced either.
class MotionWriter {
  public:
    MotionWriter(const std::filesystem::path& path, const MotionHeader& header,
                 bool overwrite = true);
    ~MotionWriter();  // without finish(): closes, and leaves PATH.part behind if it has rollouts

    void append(const Rollout& rollout);
    // The same for a rollout that may be larger than memory. `next` is called for one segment after
    // the other: it returns at least the frame `first` and at most `count` frames. The handles are
    // those of the last segment.
    using SegmentReader = std::function<Rollout(std::size_t first, std::size_t count)>;
    void append(std::size_t frame_count, const SegmentReader& next);
    void finish();
    void discard();  // instead of finish(): leaves nothing behind

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

class MotionReader {
  public:
    explicit MotionReader(const std::filesystem::path& path);
    ~MotionReader();
    MotionReader(MotionReader&&) noexcept;
    MotionReader& operator=(MotionReader&&) noexcept;
    // What an interrupted run left in PATH.part, given as `part`; nothing where it cannot be read.
    static std::optional<MotionReader> open_part(const std::filesystem::path& part);

    const MotionHeader& header() const;
    int version() const;
    std::size_t rollout_count() const;
    std::size_t frame_count(std::size_t rollout) const;
    Rollout read(std::size_t rollout) const;
    // Frames [first, first + count) only. Times, also those of handle keys, count from `first`.
    Rollout read(std::size_t rollout, std::size_t first, std::size_t count) const;

  private:
    MotionReader();
    void open(const std::filesystem::path& path);

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// Makes PATH of the PATH.part that an interrupted run left, if it holds more rollouts. Where both
// are there, `check` throws unless they are of the same run. Failure while another process writes.
void adopt_part(
    const std::filesystem::path& path,
    const std::function<void(const MotionHeader& file, const MotionHeader& part)>& check);

enum class FileKind { cloth, motion };
// By content, not by name. Throws Error for anything else.
FileKind file_kind(const std::filesystem::path& path);

// Paths of named handles: a CSV with the header `time,handle,x,y,z`, where handle is a name that
// particles_named() knows and x, y, z the displacement from the start [m].
Handles read_handle_paths(const std::filesystem::path& path, const Cloth& cloth,
                          const State& start);

// A Wavefront OBJ file [m]; polygons are cut into triangles, normals and colours ignored.
TriangleMesh read_obj(const std::filesystem::path& path);

// The size and position that a built-in obstacle or an OBJ file is fitted to: its longest
// horizontal side becomes `size`, and the middle of its top (of an animal: of its back) `top`.
struct ObstacleFit {
    double size = 1;  // [m]
    Vec3d top;
};

// Below the middle of the flat sheet of a cloth, half as wide as it.
ObstacleFit fit_below(const Sheet& sheet, double thickness);

// A built-in obstacle (floor, sphere, table, animal), a closed mesh in an OBJ file, or a TOML file
// with any number of obstacles (docs/obstacles.md), to which the fit does not apply.
std::vector<Obstacle> read_obstacles(const std::string& source, const ObstacleFit& fit);

// A table of numbers: a CSV file as it is, or the grey of a PNG image from 0 (black) to 1 (white).
ValueMap read_value_map(const std::filesystem::path& path);

// parse_material() with maps read from PNG (grey-scale) and CSV files.
MaterialField read_material(std::string_view text);

// A motion file, read segment by segment. It stays open as long as the motion or a copy of it is
// there.
Motion open_motion(const std::filesystem::path& path);

// How springs were solved for: form, window, noise, prior, unseen springs. The cloth goes apart.
std::string identification_to_json(const Identification& identification);
Identification identification_from_json(std::string_view text, std::string_view source,
                                        const Cloth& cloth);

// What a run of learn() leaves behind:
//   config.toml            the merged settings
//   fingerprint.json       what tells whether the settings or the motion have changed
//   log.jsonl              one line per iteration of the descent
//   checkpoint-a.bin, -b   the last two states of it, written in turn, each with a checksum
//   homogeneous.json       the best homogeneous network
//   linear.json            the linear answer, and identification.json how it was found
//   best.json              the best cloth so far, while the run is not finished
//   cloth.json             the learned cloth of a run that is finished
// A run that is made or opened has the folder to itself, until the last copy of the RunFolder goes:
// another process that wants it is refused with Failure.
class RunFolder : public LearnStore {
  public:
    explicit RunFolder(std::filesystem::path path);

    const std::filesystem::path& path() const { return path_; }
    bool exists() const;  // holds a run
    // Makes the folder and those it lies in. Throws Error when it already holds a run, unless
    // `overwrite` lets that go, and always when it holds files under the names of a run's, but
    // none.
    void create(const std::string& config, bool overwrite = false);
    // The same, but not before learn() opens it: bad input leaves no folder behind.
    void create_when_opened(std::string config, bool overwrite = false)
    {
        new_run_ = {std::move(config), overwrite};
    }
    // The file that the run learns from. When a run goes on, open() throws Error if the content is
    // not that of the file it was begun with; the name may be another.
    void learns_from(std::filesystem::path motion) { motion_ = std::move(motion); }
    // Throws Error when it was changed since the run was begun.
    std::string config() const;

    void append_log(const TrainLog& log);
    // Drops log lines from this iteration on: a resumed run writes them again. A last line that a
    // crash tore goes too. Returns the lines before.
    std::vector<TrainLog> cut_log(int iteration);

    // Replaces the older checkpoint, or a damaged one. Throws Failure, and keeps both, when the
    // state has a number that is not finite or arrays of different lengths, and Error when a
    // checkpoint of a later iteration is there.
    void write_checkpoint(const TrainState& state);
    // The newest checkpoint that is whole. A damaged one is refused with a word in `remarks`, and
    // the one before it is used. Nothing when there is no checkpoint; Error when there are only
    // damaged ones.
    std::optional<TrainState> read_checkpoint(std::vector<std::string>& remarks) const;
    bool has_checkpoint() const;  // whole or damaged

    LearnState open() override;
    void keep_homogeneous(const Cloth& cloth) override;
    void keep_linear(const Identification& linear) override;
    void keep_step(std::size_t number, const Cloth& cloth) override;
    void keep_log(const TrainLog& log) override { append_log(log); }
    void keep_descent(const TrainState& state) override { write_checkpoint(state); }
    void keep_best(const Cloth& cloth) override;
    void finish(const Learned& learned) override;
    void note(const std::string& text) override
    {
        if (on_note) on_note(text);
    }

    std::function<void(const std::string&)> on_note;

  private:
    struct NewRun {
        std::string config;
        bool overwrite = false;
    };
    void check_motion() const;

    std::filesystem::path path_;
    std::optional<std::filesystem::path> motion_;
    std::optional<NewRun> new_run_;  // that is yet to be made
    std::shared_ptr<void> lock_;
};

}  // namespace springtime
