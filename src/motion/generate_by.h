#pragma once

#include "sim/batch_recorder.h"
#include "springtime/generate.h"

namespace springtime {

// generate() by a recorder: batch after batch, and while one runs the one before it is handed out.
// Options have been checked.
void generate_by(BatchRecorder& recorder, const Cloth& cloth, const GenerateOptions& options,
                 int first, const RolloutSink& sink, const Progress& progress);

}  // namespace springtime
