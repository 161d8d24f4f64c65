#pragma once

#include <string>
#include <string_view>

#include "springtime/learn.h"

namespace springtime {

// What keeps training from going on from this state; empty when nothing does.
std::string state_fault(const TrainState& state);

// The bytes of a checkpoint file, see docs/formats.md. The state has no fault.
std::string encode_checkpoint(const TrainState& state);

// Throws Error that names the source and what was found; what to do is up to the caller. A state
// that comes back has no fault.
TrainState decode_checkpoint(std::string_view bytes, const std::string& source);

}  // namespace springtime
