#include "core/fingerprint.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "core/atomic_file.h"
#include "springtime/error.h"

namespace springtime {

namespace {

// Four numbers take turns with the words of the text, so that the processor works on all of them at
// once. Each step is a bijection of the number for a given word and of the word for a given number,
// so no single change is lost.
class Fingerprint {
  public:
    // Every text but the last must have whole rows of four words.
    void add(std::string_view bytes)
    {
        length_ += bytes.size();
        while (!bytes.empty()) {
            std::array<std::uint64_t, kLanes> row{};
            const std::size_t size = std::min(bytes.size(), sizeof row);
            std::memcpy(row.data(), bytes.data(), size);
            for (std::size_t i = 0; i < kLanes; ++i) step(lane_[i], row[i]);
            bytes.remove_prefix(size);
        }
    }

    std::uint64_t value() const
    {
        std::uint64_t all = length_;
        for (const std::uint64_t lane : lane_) step(all, lane);
        return all;
    }

  private:
    static constexpr std::size_t kLanes = 4;

    static void step(std::uint64_t& number, std::uint64_t word)
    {
        number = (number ^ word) * 0x9e3779b97f4a7c15;  // odd: 2^64 over the golden ratio
        number ^= number >> 32;
    }

    std::array<std::uint64_t, kLanes> lane_{1, 2, 3, 4};
    std::uint64_t length_ = 0;
};

}  // namespace

std::uint64_t text_fingerprint(std::string_view text)
{
    Fingerprint fingerprint;
    fingerprint.add(text);
    return fingerprint.value();
}

std::uint64_t file_fingerprint(const std::filesystem::path& path)
{
    check_source(path);
    const File file(std::fopen(path.c_str(), "rb"));
    Fingerprint fingerprint;
    std::vector<char> block(1 << 20);
    for (std::size_t got = block.size(); file && got == block.size();) {
        got = std::fread(block.data(), 1, block.size(), file.get());
        fingerprint.add({block.data(), got});
    }
    if (!file || std::ferror(file.get())) {
        throw Error("{}: cannot be read ({}); check its permissions", path.string(),
                    std::strerror(errno));
    }
    return fingerprint.value();
}

}  // namespace springtime
