#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace springtime {

// The lines of a text file one after the other, in memory for a few of them however long the file.
// Lines end with LF or CRLF; a byte order mark, blank lines and comments, which start with #, are
// passed over.
class LineReader {
  public:
    // Where a line starts.
    struct Mark {
        std::size_t offset = 0, number = 1;
    };

    explicit LineReader(const std::filesystem::path& path);

    // The next line, valid until the next call; false at the end.
    bool next(std::string_view& line);
    // Of the line last given.
    const Mark& mark() const { return mark_; }
    // The last comment passed over, without its #.
    const std::string& comment() const { return comment_; }
    // "file:line" of the line last given, for messages.
    std::string place() const;
    // Makes the line at `mark` the next one.
    void go_to(const Mark& mark);
    // How much of the file has been given, 0 to 1.
    double share() const;
    const std::string& source() const { return source_; }

  private:
    bool next_any(std::string_view& line);
    bool fill();
    void skip_byte_order_mark();
    void check_is_text() const;

    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };

    std::string source_;
    std::unique_ptr<std::FILE, Close> file_;
    std::size_t size_ = 0;  // of the file [bytes]
    std::vector<char> buffer_;
    std::size_t begin_ = 0, end_ = 0;  // what is not given yet lies here in the buffer
    Mark ahead_, mark_;                // of the next line, of the last one
    std::string comment_;
};

}  // namespace springtime
