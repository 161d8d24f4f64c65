#pragma once

#include <optional>

#include "learn/balance_reader.h"
#include "learn/work.h"
#include "springtime/identify.h"

namespace springtime {

// Identifies triangles and hinges from positions with white noise, by displacements instead of
// forces (learn/displacement_balance.h). Nothing where rollouts are too short for a window, or the
// motion does not determine the parameters.
std::optional<Identification> identify_noisy_mesh(const BalanceReader& reader,
                                                  const IdentifyOptions& options,
                                                  const NoiseEstimate& noise, Work& work);

// How much of the displacements of one half of the motion is left unexplained by what was found
// from the other half, as a share. From some of the windows, without care for bias.
std::optional<double> unexplained_displacements(const BalanceReader& reader,
                                                const IdentifyOptions& options,
                                                const NoiseEstimate& noise, Work& work);

}  // namespace springtime
