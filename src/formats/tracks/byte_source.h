#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "formats/scalar_format.h"

namespace springtime {

// Bytes that come one after the other: a file, or a member of an archive.
class ByteSource {
  public:
    virtual ~ByteSource() = default;

    virtual std::string name() const = 0;    // for messages
    virtual std::uint64_t size() const = 0;  // as the file system or the archive says
    // Fewer than asked for only at the end.
    virtual std::size_t read(char* to, std::size_t count) = 0;
};

// A plain file; throws Error when it is none or cannot be opened.
std::unique_ptr<ByteSource> open_bytes(const std::filesystem::path& path);

// All of it; throws Error when that is more than `most`.
std::string read_bytes(const std::filesystem::path& path, std::uint64_t most);

// Reads exactly `count`, or throws Error saying how many bytes were found.
void read_exactly(ByteSource& source, char* to, std::size_t count);

// The product, or none when it does not fit.
std::optional<std::uint64_t> checked_product(std::initializer_list<std::uint64_t> factors);

// Numbers of one format from a source, read in blocks.
class NumberStream {
  public:
    NumberStream(std::unique_ptr<ByteSource> source, const ScalarFormat& format);

    void read(double* out, std::size_t count);
    // After the last number; archives check their sums only here.
    void check_end();

  private:
    void fill();

    std::unique_ptr<ByteSource> source_;
    ScalarFormat format_;
    std::string block_;
    std::size_t begin_ = 0, end_ = 0;  // what of the block has not been given out
    std::uint64_t bytes_read_ = 0;
};

// A point of which a coordinate is NaN becomes missing, NaN in all three; an infinite one is an
// Error that names `what`, the frame and the point.
void settle_missing(double* xyz, std::size_t point_count, std::string_view source,
                    std::size_t frame, std::string_view what = "position");

}  // namespace springtime
