#pragma once

#include "crew/crew.h"
#include "sim/batch_recorder.h"

namespace springtime {

inline constexpr const char* kRecordTask = "record";

// A recorder that deals its rollouts to all ranks. Each runs them on a device of its own.
std::unique_ptr<BatchRecorder> make_rank_recorder(Crew& crew, const Cloth& cloth,
                                                  const SimulationOptions& options,
                                                  std::size_t rollouts, std::size_t steps,
                                                  int threads);
// The side of a rank that serves.
std::unique_ptr<RankTask> make_record_task(WireReader& setup, const RankTools& tools);

}  // namespace springtime
