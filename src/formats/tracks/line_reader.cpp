#include "formats/tracks/line_reader.h"

#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/atomic_file.h"
#include "core/text.h"
#include "springtime/error.h"

namespace springtime {

namespace fs = std::filesystem;

namespace {

// Read at once; a longer line makes the buffer grow.
constexpr std::size_t kBlock = std::size_t(1) << 20;
// A frame of a million points takes about 30 MB.
constexpr std::size_t kLongestLine = std::size_t(64) << 20;
constexpr std::size_t kLongestComment = 1 << 20;  // a longer one is not a row of names

}  // namespace

LineReader::LineReader(const fs::path& path) : source_(path.string())
{
    check_source(path);
    file_.reset(std::fopen(path.c_str(), "rb"));
    std::error_code status;
    size_ = fs::file_size(path, status);
    if (!file_ || status) {
        throw Error("{}: cannot be read ({}); check its permissions", source_,
                    file_ ? status.message() : std::strerror(errno));
    }
    std::setvbuf(file_.get(), nullptr, _IONBF, 0);  // ours is the buffer
    // No more than the file needs, and one byte to see that it has ended.
    buffer_.resize(std::min(kBlock, size_ + 1));
    fill();
    check_is_text();
    skip_byte_order_mark();
}

bool LineReader::fill()
{
    if (begin_ > 0) {
        std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
    if (end_ == buffer_.size()) {
        if (end_ >= kLongestLine) {
            throw Error(
                "{}:{}: a line of more than {} MiB; a text with one frame or point a line"
                " is needed",
                source_, ahead_.number, kLongestLine >> 20);
        }
        buffer_.resize(2 * buffer_.size());
    }
    const std::size_t got =
        std::fread(buffer_.data() + end_, 1, buffer_.size() - end_, file_.get());
    if (got == 0 && std::ferror(file_.get())) {
        throw Error("{}: cannot be read ({}); check the disk", source_, std::strerror(errno));
    }
    end_ += got;
    return got > 0;
}

void LineReader::check_is_text() const
{
    const std::string_view start(buffer_.data(), end_);
    if (start.starts_with("\xff\xfe") || start.starts_with("\xfe\xff")) {
        throw Error("{}: is UTF-16; save it as UTF-8 or plain ASCII", source_);
    }
    if (start.substr(0, 4096).find('\0') != std::string_view::npos) {
        throw Error("{}: is not text: it holds zero bytes; a CSV is needed", source_);
    }
}

void LineReader::skip_byte_order_mark()
{
    if (std::string_view(buffer_.data(), end_).starts_with(kByteOrderMark)) {
        begin_ = ahead_.offset = kByteOrderMark.size();
    }
}

bool LineReader::next_any(std::string_view& line)
{
    std::size_t searched = 0;  // of what is not given yet
    const char* found = nullptr;
    for (;;) {
        const char* from = buffer_.data() + begin_;
        const std::size_t length = end_ - begin_;
        found = static_cast<const char*>(std::memchr(from + searched, '\n', length - searched));
        if (found) break;
        searched = length;
        if (!fill()) break;
    }
    const char* from = buffer_.data() + begin_;
    const std::size_t length = found ? std::size_t(found - from) : end_ - begin_;
    if (!found && length == 0) return false;
    line = {from, length};
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t taken = length + (found ? 1 : 0);
    mark_ = ahead_;
    begin_ += taken;
    ahead_.offset += taken;
    ++ahead_.number;
    return true;
}

bool LineReader::next(std::string_view& line)
{
    while (next_any(line)) {
        const auto first = line.find_first_not_of(" \t");
        if (first == std::string_view::npos) continue;
        if (line[first] != '#') return true;
        comment_ = line.substr(first + 1, kLongestComment);
    }
    return false;
}

std::string LineReader::place() const
{
    return source_ + ":" + std::to_string(mark_.number);
}

void LineReader::go_to(const Mark& mark)
{
    if (fseeko(file_.get(), off_t(mark.offset), SEEK_SET) != 0) {
        throw Error("{}: cannot be read again ({}); save it to a plain file", source_,
                    std::strerror(errno));
    }
    begin_ = end_ = 0;
    ahead_ = mark;
}

double LineReader::share() const
{
    return size_ == 0 ? 1 : std::min(1.0, double(ahead_.offset) / double(size_));
}

}  // namespace springtime
