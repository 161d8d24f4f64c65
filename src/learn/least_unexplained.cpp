#include "learn/least_unexplained.h"

#include <algorithm>
#include <cmath>

#include "learn/balance.h"
#include "learn/balance_reader.h"
#include "learn/noise.h"
#include "learn/noisy_mesh.h"

namespace springtime {

std::optional<double> least_unexplained(const Motion& motion, const IdentifyOptions& options,
                                        Work& work)
{
    constexpr int kHalfWidth = 48;        // frames of windows
    constexpr double kWindowOverlap = 4;  // windows that share most of their frames
    const BalanceReader reader(motion, options);
    Scheme scheme;
    if (options.form != BalanceForm::weak && !reader.has_accelerations()) return std::nullopt;
    if (options.form == BalanceForm::weak) {
        scheme.form = BalanceForm::weak;
        scheme.half_width = std::min(kHalfWidth, static_cast<int>(reader.shortest() / 8));
        if (scheme.half_width < static_cast<int>(kFewestFrames)) return std::nullopt;
        const NoiseEstimate noise = reader.measure_noise(work);
        const bool mesh = reader.cloth().triangles.triangle_count() > 0;
        if (mesh && noise.white && noise_matters(noise, reader.cloth())) {
            return unexplained_displacements(reader, options, noise, work);
        }
    }
    NormalBlocks blocks(reader.cloth());
    const double of_place = blocks.work_per_place();
    work.expect(of_place * double(reader.place_count(scheme)));
    for (std::size_t r = 0; r < reader.rollouts().size(); ++r) {
        for (const Piece& piece : reader.pieces(scheme, r)) {
            reader.with_rows(scheme, piece,
                             [&](const BalancePair& rows) { blocks.add(rows, reader.threads()); });
            work.add(of_place * double(piece.place_count()));
        }
    }
    if (blocks.row_count() == 0) return std::nullopt;
    const double overlap = scheme.form == BalanceForm::weak ? kWindowOverlap : 1;
    return std::sqrt(std::max(0.0, blocks.least_residual(overlap)) / blocks.squares());
}

std::optional<double> least_unexplained(const Motion& motion, const IdentifyOptions& options,
                                        const Progress& progress)
{
    Work work(progress, "unexplained forces");
    return least_unexplained(motion, options, work);
}

}  // namespace springtime
