#include "learn/rank_balance.h"

#include <algorithm>
#include <future>

#include "crew/wire_cloth.h"
#include "learn/wire_clips.h"
#include "motion/rank_motion.h"

namespace springtime {

template <>
inline constexpr bool kPlain<BalancePart::World> = true;
template <>
inline constexpr bool kPlain<Scheme> = true;
inline auto fields(Piece& piece)
{
    auto& [rollout, first, count, fold, middles] = piece;
    return std::tie(rollout, first, count, fold, middles);
}
inline auto fields(Regions& regions)
{
    auto& [count, of] = regions;
    return std::tie(count, of);
}

namespace {

enum class Told : std::uint8_t { clear, values };
enum class Asked : std::uint8_t { add, blocks, scores, reads };

ParticleRange range_of(const Cloth& cloth, int rank, int ranks)
{
    const auto [begin, end] = part_of(cloth.particle_count(), 1, rank, ranks);
    return {begin, end};
}

template <class T>
void keep_only(std::vector<T>& values, const std::vector<std::size_t>& kept)
{
    if (values.empty()) return;  // of something that no element has
    std::vector<T> left;
    for (const std::size_t i : kept) left.push_back(values[i]);
    values.swap(left);
}

// The elements that act on particles of the range, in the same order.
std::vector<std::size_t> elements_at(const Cloth& cloth, Element type, ParticleRange range)
{
    std::vector<std::size_t> kept;
    for (std::size_t e = 0; e < element_count(cloth, type); ++e) {
        const auto shares = particle_shares(cloth, type, e);
        if (std::any_of(shares.begin(), shares.end(), [&](const ParticleShare& share) {
                return range.has(std::size_t(share.particle));
            })) {
            kept.push_back(e);
        }
    }
    return kept;
}

// All particles, but no other elements. Parameters come first: their arrays are found by the cloth
// as it is.
Cloth cloth_at(Cloth cloth, ParticleRange range, std::optional<Regions>& regions)
{
    std::array<std::vector<std::size_t>, kElements.size()> kept;
    for (const Element type : kElements) {
        kept[std::size_t(type)] = elements_at(cloth, type, range);
        if (regions) keep_only(regions->of[std::size_t(type)], kept[std::size_t(type)]);
    }
    for (const Element type : kElements) {
        for (const Parameter& parameter : parameters_in(cloth, type)) {
            keep_only(values_of(cloth, parameter), kept[std::size_t(type)]);
        }
    }
    const auto& springs = kept[std::size_t(Element::spring)];
    keep_only(cloth.springs.ends, springs);
    keep_only(cloth.springs.family, springs);
    keep_only(cloth.springs.rest_length, springs);
    keep_only(cloth.bends.particles, kept[std::size_t(Element::bend)]);
    keep_only(cloth.bends.family, kept[std::size_t(Element::bend)]);
    keep_only(cloth.triangles.corners, kept[std::size_t(Element::triangle)]);
    keep_only(cloth.hinges.corners, kept[std::size_t(Element::hinge)]);
    keep_only(cloth.couplings.corners, kept[std::size_t(Element::coupling)]);
    keep_only(cloth.couplings.rest_length, kept[std::size_t(Element::coupling)]);
    return cloth;
}

NormalBlocks blocks_at(const Cloth& cloth, std::optional<Regions> regions, ParticleRange range)
{
    const Cloth part = cloth_at(cloth, range, regions);
    return NormalBlocks(part, regions, range);
}

// Columns of groups that no place belongs to are zero, and are not sent.
std::vector<int> different(std::vector<int> groups)
{
    std::sort(groups.begin(), groups.end());
    groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
    return groups;
}

template <class Wire, class Matrix>
void columns(Wire& wire, Matrix& matrix, const std::vector<int>& used)
{
    for (const int column : used) {
        for (Eigen::Index row = 0; row < matrix.rows(); ++row) wire(matrix(row, column));
    }
}

}  // namespace

BalancePart::BalancePart(const Cloth& cloth, const std::optional<Regions>& regions,
                         const World& world, ParticleRange range, int threads)
    : range_(range),
      cloth_([&] {
          std::optional<Regions> same = regions;
          return cloth_at(cloth, range, same);
      }()),
      world_(world),
      threads_(threads),
      none_(blocks_at(cloth, regions, range)),
      folds_{none_, none_}
{
}

void BalancePart::clear()
{
    folds_ = {none_, none_};
}

template <class Visit>
void BalancePart::with_rows(const Scheme& scheme, const Piece& piece, const Rollout& particles,
                            const Visit& visit) const
{
    if (scheme.form == BalanceForm::force) {
        const BalanceRows rows = force_rows(cloth_, world_.environment, particles, threads_);
        return visit(BalancePair{rows, rows});
    }
    const TestFunction test(scheme.half_width, world_.interval, world_.step);
    const Tracks tracks(particles);
    const auto subset = [&](std::size_t first) {
        return weak_rows(cloth_, world_.environment, tracks, test, piece.middles,
                         {scheme.frame_step(), first}, world_.interval, world_.step, threads_);
    };
    const BalanceRows one = subset(0);
    if (scheme.instruments == Instruments::frames) {
        visit(BalancePair{one, subset(1)});
    } else {
        visit(BalancePair{one, one});
    }
}

void BalancePart::add(const Scheme& scheme, const Piece& piece, const Rollout& particles)
{
    with_rows(scheme, piece, particles,
              [&](const BalancePair& rows) { folds_[piece.fold].add(rows, threads_); });
}

std::vector<NormalBlocks::Scores> BalancePart::scores(const Scheme& scheme, const Piece& piece,
                                                      const Rollout& particles,
                                                      const std::vector<Eigen::VectorXd>& values,
                                                      const std::vector<int>& group_of_place,
                                                      int groups) const
{
    std::vector<NormalBlocks::Scores> result;
    with_rows(scheme, piece, particles, [&](const BalancePair& rows) {
        result = none_.score_parts(rows, values, group_of_place, groups, threads_);
    });
    return result;
}

// ---- The side of a rank that serves

namespace {

class BalanceTask : public RankTask {
  public:
    BalanceTask(WireReader& setup, const RankTools& tools) : heartbeat_(tools.heartbeat)
    {
        Cloth cloth;
        std::optional<Regions> regions;
        BalancePart::World world;
        int threads = 0;
        std::optional<SharedMotion> motion;
        setup(cloth, regions, world, threads, motion);
        motion_ = open_shared(motion, tools);
        IdentifyOptions options;
        options.cloth = cloth;
        options.threads = tools.threads(threads);
        if (motion_) reader_.emplace(*motion_, options);
        part_.emplace(cloth, regions, world,
                      range_of(cloth, tools.ranks.rank(), tools.ranks.count()),
                      tools.threads(threads));
    }

    void take(WireReader& message) override
    {
        switch (message.next<Told>()) {
            case Told::clear:
                return part_->clear();
            case Told::values:
                values_.clear();
                for (const auto& of : message.next<std::vector<std::vector<double>>>()) {
                    values_.push_back(Eigen::Map<const Eigen::VectorXd>(
                        of.data(), static_cast<Eigen::Index>(of.size())));
                }
                return;
        }
    }

    void answer(WireReader& request, WireWriter& answer) override
    {
        const auto what = request.next<Asked>();
        if (what == Asked::reads) return answer(reader_.has_value());
        if (what == Asked::blocks) {
            for (const NormalBlocks& fold : part_->folds()) fold.write(answer);
            return;
        }
        const auto scheme = request.next<Scheme>();
        const auto piece = request.next<Piece>();
        const Rollout seen = particles(request, piece);
        heartbeat_();
        if (what == Asked::add) return part_->add(scheme, piece, seen);
        const auto group = request.next<std::vector<int>>();
        const auto groups = request.next<int>();
        const std::vector<int> used = different(group);
        for (const auto& part : part_->scores(scheme, piece, seen, values_, group, groups)) {
            answer(part.of_group.rows(), part.squares);
            columns(answer, part.of_group, used);
            columns(answer, part.information, used);
        }
    }

  private:
    Rollout particles(WireReader& message, const Piece& piece) const
    {
        auto sent = message.next<Rollout>();
        return sent.frame_count > 0 ? std::move(sent) : reader_->particles(piece);
    }

    std::function<void()> heartbeat_;
    std::optional<Motion> motion_;  // nothing: the first rank sends what is needed of it
    std::optional<BalanceReader> reader_;
    std::optional<BalancePart> part_;
    std::vector<Eigen::VectorXd> values_;  // of the blocks
};

WireWriter setup_of(const BalanceReader& reader, const std::optional<Regions>& regions, int threads)
{
    WireWriter bytes;
    bytes(reader.cloth(), regions,
          BalancePart::World{reader.environment(), reader.interval(), reader.step()}, threads,
          shared(reader.motion()));
    return bytes;
}

}  // namespace

std::unique_ptr<RankTask> make_balance_task(WireReader& setup, const RankTools& tools)
{
    return std::make_unique<BalanceTask>(setup, tools);
}

// ---- The side of the first rank

RankBalance::RankBalance(Crew& crew, const BalanceReader& reader,
                         const std::optional<Regions>& regions, int threads,
                         std::function<void()> alive)
    : reader_(reader),
      own_(reader.cloth(), regions, {reader.environment(), reader.interval(), reader.step()},
           range_of(reader.cloth(), 0, crew.count()), crew.threads(threads)),
      alive_(std::move(alive)),
      task_(crew, kBalanceTask, setup_of(reader, regions, threads)),
      all_read_(true)
{
    WireWriter request;
    request(Asked::reads);
    ask_others(request);
    for (int rank = 1; rank < task_.rank_count(); ++rank) {
        const std::vector<std::byte> bytes = answer(rank);
        if (!WireReader(bytes).next<bool>()) all_read_ = false;
    }
}

void RankBalance::ask_others(const WireWriter& request)
{
    for (int rank = 1; rank < task_.rank_count(); ++rank) task_.ask(rank, request);
}

const Rollout& RankBalance::sent(const Rollout& particles) const
{
    return all_read_ ? nothing_ : particles;
}

// use(number of the rollout, piece, particles), and the next piece is read meanwhile.
template <class Use>
void RankBalance::read_pieces(const Scheme& scheme, const Use& use) const
{
    struct Stretch {
        std::size_t number;
        Piece piece;
    };
    std::vector<Stretch> all;
    for (std::size_t r = 0; r < reader_.rollouts().size(); ++r) {
        for (Piece& piece : reader_.pieces(scheme, r)) all.push_back({r, std::move(piece)});
    }
    const auto read_ahead = [&](std::size_t i) {
        return std::async(std::launch::async, [this, &all, i] {
            return i < all.size() ? reader_.particles(all[i].piece) : Rollout{};
        });
    };
    auto coming = read_ahead(0);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Rollout particles = coming.get();
        coming = read_ahead(i + 1);
        use(all[i].number, all[i].piece, particles);
    }
}

Folds RankBalance::accumulate(const Scheme& scheme, const NormalBlocks& none,
                              const std::function<void(const Piece&)>& done)
{
    const int ranks = task_.rank_count();
    own_.clear();
    WireWriter clear;
    clear(Told::clear);
    for (int rank = 1; rank < ranks; ++rank) task_.tell(rank, clear);
    read_pieces(scheme, [&](std::size_t, const Piece& piece, const Rollout& particles) {
        // Nobody gets far ahead: whoever gives up waits for one piece at most.
        WireWriter request;
        request(Asked::add, scheme, piece, sent(particles));
        ask_others(request);
        own_.add(scheme, piece, particles);
        for (int rank = 1; rank < ranks; ++rank) answer(rank);
        done(piece);
    });
    WireWriter request;
    request(Asked::blocks);
    ask_others(request);
    Folds sums{none, none};
    for (std::size_t fold = 0; fold < sums.size(); ++fold) {
        sums[fold].take(own_.folds()[fold], own_.range());
    }
    for (int rank = 1; rank < ranks; ++rank) {
        const std::vector<std::byte> bytes = answer(rank);
        WireReader answer(bytes);
        for (NormalBlocks& sum : sums) sum.read(answer, range_of(reader_.cloth(), rank, ranks));
    }
    return sums;
}

NormalBlocks::Scores RankBalance::scores(
    const Scheme& scheme, const NormalBlocks& blocks, const Eigen::VectorXd& solution, int groups,
    const std::function<std::vector<int>(std::size_t, const Piece&)>& group_of_place,
    const std::function<void(const Piece&)>& done)
{
    const int ranks = task_.rank_count();
    const std::vector<Eigen::VectorXd> values = blocks.values_of_blocks(solution);
    const auto of_rank = [&](int rank) {
        const ParticleRange range = range_of(reader_.cloth(), rank, ranks);
        return std::vector<Eigen::VectorXd>(values.begin() + std::ptrdiff_t(range.begin),
                                            values.begin() + std::ptrdiff_t(range.end));
    };
    for (int rank = 1; rank < ranks; ++rank) {
        std::vector<std::vector<double>> numbers;
        for (const auto& of : of_rank(rank)) numbers.emplace_back(of.begin(), of.end());
        WireWriter message;
        message(Told::values, numbers);
        task_.tell(rank, message);
    }
    NormalBlocks::Scores sum(blocks.unknown_count(), groups);
    read_pieces(scheme, [&](std::size_t number, const Piece& piece, const Rollout& particles) {
        const std::vector<int> group = group_of_place(number, piece), used = different(group);
        WireWriter request;
        request(Asked::scores, scheme, piece, sent(particles), group, groups);
        ask_others(request);
        std::vector<NormalBlocks::Scores> parts =
            own_.scores(scheme, piece, particles, of_rank(0), group, groups);
        for (int rank = 1; rank < ranks; ++rank) {
            const std::vector<std::byte> bytes = answer(rank);
            WireReader answer(bytes);
            const ParticleRange range = range_of(reader_.cloth(), rank, ranks);
            for (std::size_t p = range.begin; p < range.end; ++p) {
                const auto rows = answer.next<Eigen::Index>();
                NormalBlocks::Scores& part = parts.emplace_back(std::size_t(rows), groups);
                answer(part.squares);
                columns(answer, part.of_group, used);
                columns(answer, part.information, used);
            }
        }
        sum.add(blocks.sum_of(parts, groups));
        done(piece);
    });
    return sum;
}

}  // namespace springtime
