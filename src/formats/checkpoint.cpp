#include "formats/checkpoint.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/assert.h"
#include "springtime/error.h"

namespace springtime {

namespace {

template <class Values>
struct StoredField {
    const char* name;
    Values TrainState::*values;
};

// In the order of the file.
constexpr std::array<StoredField<double>, 3> kScalars{{
    {"stiffness_scale", &TrainState::stiffness_scale},
    {"damping_scale", &TrainState::damping_scale},
    {"lowest_validation", &TrainState::lowest_validation},
}};
constexpr double kNoValidation = -1;  // in the file, instead of a best validation
// With one value for every element.
constexpr std::array<StoredField<ParameterValues>, 4> kArrays{{
    {"parameters", &TrainState::parameters},
    {"mean", &TrainState::mean},
    {"square", &TrainState::square},
    {"best", &TrainState::best},
}};
// Of descents on trajectories alone; empty otherwise. Those of levels have a value for every
// family.
constexpr std::array<StoredField<ParameterValues>, 3> kTrajectoryArrays{{
    {"level_mean", &TrainState::level_mean},
    {"level_square", &TrainState::level_square},
    {"average", &TrainState::average},
}};

// ---- Checkpoints as bytes: little-endian words of 8 bytes, see docs/formats.md

constexpr std::string_view kMagic = "springtime-state";
constexpr std::uint64_t kCheckpointVersion = 4;
constexpr std::size_t kWordBytes = 8;
constexpr std::size_t kHeaderBytes = kMagic.size() + 3 * kWordBytes;
// Iteration, best iteration, the scalars and the best validation come first; then for every field
// how many arrays it has, how many values each of them has, and the values.
constexpr std::size_t kFixedBytes =
    (3 + kScalars.size() + kArrays.size() + kTrajectoryArrays.size()) * kWordBytes;

// FNV-1a with 64 bits. Each step is a bijection of the hash for a given byte and of the byte for a
// given hash, so a change within one byte never goes unnoticed.
std::uint64_t checksum(std::string_view bytes)
{
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char byte : bytes) {
        hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
    }
    return hash;
}

void put(std::string& bytes, std::uint64_t word)
{
    std::array<char, kWordBytes> little;
    for (std::size_t i = 0; i < kWordBytes; ++i) {
        little[i] = static_cast<char>(word >> (8 * i) & 0xff);
    }
    bytes.append(little.data(), little.size());
}

void put(std::string& bytes, double value)
{
    put(bytes, std::bit_cast<std::uint64_t>(value));
}

// Takes words off the front.
class Words {
  public:
    explicit Words(std::string_view bytes) : bytes_(bytes) {}

    std::uint64_t next()
    {
        SPRINGTIME_ASSERT(bytes_.size() >= kWordBytes);
        std::uint64_t word = 0;
        for (std::size_t i = 0; i < kWordBytes; ++i) {
            word |= std::uint64_t(static_cast<unsigned char>(bytes_[i])) << (8 * i);
        }
        bytes_.remove_prefix(kWordBytes);
        return word;
    }
    double next_double() { return std::bit_cast<double>(next()); }
    std::size_t left() const { return bytes_.size() / kWordBytes; }

  private:
    std::string_view bytes_;
};

// What follows the header. Throws Error when the header does not speak for it.
std::string_view checked_content(std::string_view bytes, const std::string& source)
{
    if (!bytes.starts_with(kMagic)) {
        throw Error("{}: {} bytes that do not begin with '{}'", source, bytes.size(), kMagic);
    }
    if (bytes.size() < kHeaderBytes) {
        throw Error("{}: {} bytes, but the header alone has {}", source, bytes.size(),
                    kHeaderBytes);
    }
    Words header(bytes.substr(kMagic.size()));
    if (const std::uint64_t version = header.next(); version != kCheckpointVersion) {
        throw Error("{}: version {}, but only version {} can be read", source, version,
                    kCheckpointVersion);
    }
    const std::string_view content = bytes.substr(kHeaderBytes);
    if (const std::uint64_t length = header.next(); length != content.size()) {
        throw Error("{}: {} bytes after the header, but it announces {}", source, content.size(),
                    length);
    }
    const std::uint64_t found = checksum(content);
    if (const std::uint64_t announced = header.next(); announced != found) {
        throw Error("{}: the checksum is {:016x}, but the header announces {:016x}", source, found,
                    announced);
    }
    return content;
}

std::string values_fault(const std::vector<double>& values, std::size_t elements)
{
    if (values.size() != elements) {
        return fmt::format("has {} entries for {} elements", values.size(), elements);
    }
    for (std::size_t e = 0; e < elements; ++e) {
        if (!std::isfinite(values[e])) return fmt::format("is {} for element {}", values[e], e);
    }
    return {};
}

// How many values each parameter has. Nothing is allocated before the words for it are there, and
// no sum can overflow, for no count is larger than the number of words.
std::vector<std::size_t> element_counts(Words& words, std::string_view name,
                                        const std::string& source)
{
    if (words.left() == 0) throw Error("{}: {} is missing", source, name);
    const std::uint64_t parameters = words.next();
    if (parameters > words.left()) {
        throw Error("{}: {} arrays of {}, but only {} words follow", source, parameters, name,
                    words.left());
    }
    std::vector<std::size_t> counts;
    std::size_t sum = 0;
    for (std::uint64_t k = 0; k < parameters; ++k) {
        counts.push_back(words.next());
        if (counts.back() > words.left()) {
            throw Error("{}: {} values of {} {}, but only {} words follow", source, counts.back(),
                        name, k, words.left());
        }
        sum += counts.back();
    }
    if (sum > words.left()) {
        throw Error("{}: {} values of {}, but only {} words follow", source, sum, name,
                    words.left());
    }
    return counts;
}

ParameterValues read_arrays(Words& words, std::string_view name, const std::string& source)
{
    ParameterValues arrays;
    for (const std::size_t count : element_counts(words, name, source)) {
        for (double& value : arrays.emplace_back(count)) value = words.next_double();
    }
    return arrays;
}

void put_arrays(std::string& bytes, const ParameterValues& arrays)
{
    put(bytes, std::uint64_t(arrays.size()));
    for (const auto& values : arrays) put(bytes, std::uint64_t(values.size()));
    for (const auto& values : arrays) {
        for (const double value : values) put(bytes, value);
    }
}

int checked_count(std::uint64_t word, std::string_view name, const std::string& source)
{
    if (word > std::uint64_t(std::numeric_limits<int>::max())) {
        throw Error("{}: {} is {}, more than any run has", source, name, word);
    }
    return int(word);
}

}  // namespace

std::string state_fault(const TrainState& state)
{
    if (state.iteration < 0) return fmt::format("iteration {} is negative", state.iteration);
    if (state.best_iteration < 0 || state.best_iteration > state.iteration) {
        return fmt::format("best_iteration {} is not between 0 and iteration {}",
                           state.best_iteration, state.iteration);
    }
    for (const auto& field : kScalars) {
        const double value = state.*field.values;
        if (!std::isfinite(value)) return fmt::format("{} is {}", field.name, value);
    }
    if (state.best_validation && !std::isfinite(*state.best_validation)) {
        return fmt::format("best_validation is {}", *state.best_validation);
    }
    const std::size_t count = state.parameters.size();
    if (count == 0) return "parameters is empty";
    for (const auto& field : kArrays) {
        const ParameterValues& all = state.*field.values;
        if (all.size() != count) {
            return fmt::format("{} has {} arrays, but parameters has {}", field.name, all.size(),
                               count);
        }
        for (std::size_t k = 0; k < count; ++k) {
            const std::string fault = values_fault(all[k], state.parameters[k].size());
            if (!fault.empty()) return fmt::format("{} of parameter {} {}", field.name, k, fault);
        }
    }
    if (!state.average.empty() && state.average.size() != count) {
        return fmt::format("average has {} arrays, but parameters has {}", state.average.size(),
                           count);
    }
    for (const auto& field : kTrajectoryArrays) {
        for (const std::vector<double>& values : state.*field.values) {
            const std::string fault = values_fault(values, values.size());
            if (!fault.empty()) return fmt::format("{} {}", field.name, fault);
        }
    }
    return {};
}

std::string encode_checkpoint(const TrainState& state)
{
    std::string content;
    put(content, std::uint64_t(state.iteration));
    put(content, std::uint64_t(state.best_iteration));
    for (const auto& field : kScalars) put(content, state.*field.values);
    put(content, state.best_validation.value_or(kNoValidation));
    for (const auto& field : kArrays) put_arrays(content, state.*field.values);
    for (const auto& field : kTrajectoryArrays) put_arrays(content, state.*field.values);
    std::string bytes(kMagic);
    put(bytes, kCheckpointVersion);
    put(bytes, std::uint64_t(content.size()));
    put(bytes, checksum(content));
    return bytes + content;
}

TrainState decode_checkpoint(std::string_view bytes, const std::string& source)
{
    const std::string_view content = checked_content(bytes, source);
    if (content.size() < kFixedBytes || content.size() % kWordBytes != 0) {
        throw Error("{}: {} bytes after the header, but a state has {} or more, in words of {}",
                    source, content.size(), kFixedBytes, kWordBytes);
    }
    Words words(content);
    TrainState state;
    state.iteration = checked_count(words.next(), "iteration", source);
    state.best_iteration = checked_count(words.next(), "best_iteration", source);
    for (const auto& field : kScalars) state.*field.values = words.next_double();
    const double best = words.next_double();
    if (!(best < 0)) state.best_validation = best;
    for (const auto& field : kArrays) {
        state.*field.values = read_arrays(words, field.name, source);
    }
    for (const auto& field : kTrajectoryArrays) {
        state.*field.values = read_arrays(words, field.name, source);
    }
    if (words.left() > 0) throw Error("{}: {} words too many", source, words.left());
    if (const std::string fault = state_fault(state); !fault.empty()) {
        throw Error("{}: {}", source, fault);
    }
    return state;
}

}  // namespace springtime
