#include "formats/tracks/byte_source.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/atomic_file.h"
#include "springtime/error.h"

namespace springtime {

namespace fs = std::filesystem;

namespace {

// Stays in the second-level cache while its numbers are converted.
constexpr std::size_t kBlockBytes = std::size_t(1) << 18;

[[noreturn]] void fail_read(const std::string& name, int reason)
{
    throw Error("{}: cannot be read ({}); check its permissions", name, std::strerror(reason));
}

class FileBytes : public ByteSource {
  public:
    explicit FileBytes(const fs::path& path) : name_(path.string())
    {
        check_source(path);
        std::error_code status;
        file_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
        if (file_ < 0) fail_read(name_, errno);
        const auto bytes = fs::file_size(path, status);
        if (status) {
            close(file_);
            fail_read(name_, status.value());
        }
        size_ = bytes;
        posix_fadvise(file_, 0, 0, POSIX_FADV_SEQUENTIAL);  // only advice: may fail
    }
    ~FileBytes() override { close(file_); }
    FileBytes(const FileBytes&) = delete;
    FileBytes& operator=(const FileBytes&) = delete;

    std::string name() const override { return name_; }
    std::uint64_t size() const override { return size_; }
    std::size_t read(char* to, std::size_t count) override
    {
        std::size_t done = 0;
        while (done < count) {
            const ssize_t got = ::read(file_, to + done, count - done);
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) fail_read(name_, errno);
            if (got == 0) break;
            done += std::size_t(got);
        }
        return done;
    }

  private:
    std::string name_;
    int file_ = -1;
    std::uint64_t size_ = 0;
};

}  // namespace

std::unique_ptr<ByteSource> open_bytes(const fs::path& path)
{
    return std::make_unique<FileBytes>(path);
}

std::string read_bytes(const fs::path& path, std::uint64_t most)
{
    const auto source = open_bytes(path);
    if (source->size() > most) {
        throw Error("{}: {} bytes, but {} are the most that is read at once; export less",
                    source->name(), source->size(), most);
    }
    std::string bytes(source->size(), '\0');
    read_exactly(*source, bytes.data(), bytes.size());
    return bytes;
}

void read_exactly(ByteSource& source, char* to, std::size_t count)
{
    const std::size_t got = source.read(to, count);
    if (got == count) return;
    throw Error("{}: ends {} bytes early; copy it or export it again", source.name(), count - got);
}

std::optional<std::uint64_t> checked_product(std::initializer_list<std::uint64_t> factors)
{
    std::uint64_t product = 1;
    for (const std::uint64_t factor : factors) {
        if (__builtin_mul_overflow(product, factor, &product)) return std::nullopt;
    }
    return product;
}

NumberStream::NumberStream(std::unique_ptr<ByteSource> source, const ScalarFormat& format)
    : source_(std::move(source)), format_(format)
{
}

void NumberStream::fill()
{
    if (block_.empty()) block_.resize(kBlockBytes);  // not before something is asked for
    const std::size_t kept = end_ - begin_;          // part of a number
    std::memmove(block_.data(), block_.data() + begin_, kept);
    const std::size_t got = source_->read(block_.data() + kept, block_.size() - kept);
    begin_ = 0;
    end_ = kept + got;
    bytes_read_ += got;
    if (end_ < std::size_t(format_.bytes)) {
        throw Error(
            "{}: ends after {} bytes in the middle of its numbers; copy it or export it again",
            source_->name(), bytes_read_);
    }
}

void NumberStream::read(double* out, std::size_t count)
{
    const std::size_t bytes = std::size_t(format_.bytes);
    while (count > 0) {
        if (end_ - begin_ < bytes) fill();
        const std::size_t now = std::min(count, (end_ - begin_) / bytes);
        decode_scalars(format_, block_.data() + begin_, bytes, now, out);
        begin_ += now * bytes;
        out += now;
        count -= now;
    }
}

void NumberStream::check_end()
{
    char beyond = 0;
    if (begin_ == end_ && source_->read(&beyond, 1) == 0) return;
    throw Error("{}: goes on behind its last number; export it again", source_->name());
}

void settle_missing(double* xyz, std::size_t point_count, std::string_view source,
                    std::size_t frame, std::string_view what)
{
    // One pass for the compiler's vector instructions; most frames need no other.
    bool finite = true;
    for (std::size_t i = 0; i < 3 * point_count; ++i) {
        finite &= std::abs(xyz[i]) <= std::numeric_limits<double>::max();
    }
    if (finite) return;
    for (std::size_t p = 0; p < point_count; ++p) {
        double* const at = xyz + 3 * p;
        if (std::any_of(at, at + 3, [](double x) { return std::isinf(x); })) {
            throw Error(
                "{}: frame {}, point {}: {} {} {} {} is infinite; finite numbers, or NaN "
                "where it was not seen, are needed",
                source, frame, p, what, at[0], at[1], at[2]);
        }
        if (std::any_of(at, at + 3, [](double x) { return std::isnan(x); })) {
            std::fill(at, at + 3, std::numeric_limits<double>::quiet_NaN());
        }
    }
}

}  // namespace springtime
