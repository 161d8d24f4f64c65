#pragma once

#include <memory>
#include <string>
#include <vector>

#include "formats/tracks/byte_source.h"

struct zip;

namespace springtime {

// The members of a zip file, read through libzip.
class ZipArchive {
  public:
    explicit ZipArchive(const std::filesystem::path& path);

    const std::vector<std::string>& names() const { return names_; }
    // From its beginning; several may be open at a time, and outlive this object. Throws Error when
    // the member is encrypted, packed other than by deflate, or of an impossible size.
    std::unique_ptr<ByteSource> open(std::size_t member) const;

  private:
    std::string path_;
    std::uint64_t file_bytes_ = 0;
    std::shared_ptr<zip> zip_;
    std::vector<std::string> names_;
};

}  // namespace springtime
