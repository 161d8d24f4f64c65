#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "springtime/train.h"

namespace springtime {

// What a training run leaves behind:
//   config.toml            the merged settings
//   log.jsonl              one line per iteration
//   checkpoint-a.bin, -b   the last two states, written in turn, each with a checksum
//   cloth.json             the best cloth so far
//   homogeneous.json       the best homogeneous network
class RunFolder {
  public:
    explicit RunFolder(std::filesystem::path path);

    const std::filesystem::path& path() const { return path_; }
    bool exists() const;  // holds a run
    // Makes the folder and those it lies in. Throws Error when it already holds a run.
    void create(const std::string& config);
    std::string config() const;

    void append_log(const TrainLog& log);
    // Drops log lines from this iteration on: a resumed run writes them again. A last line that a
    // crash tore goes too.
    void cut_log(int iteration);

    // Replaces the older checkpoint, or a damaged one. Throws Failure, and keeps both, when the
    // state has a number that is not finite or arrays of different lengths, and Error when a
    // checkpoint of a later iteration is there.
    void write_checkpoint(const TrainState& state);
    // The newest checkpoint that is whole. A damaged one is refused with a word in `remarks`, and
    // the one before it is used. Nothing when there is no checkpoint; Error when there are only
    // damaged ones.
    std::optional<TrainState> read_checkpoint(std::vector<std::string>& remarks) const;
    bool has_checkpoint() const;  // whole or damaged

  private:
    std::filesystem::path path_;
};

}  // namespace springtime
