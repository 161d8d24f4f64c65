#include "formats/tracks/zip_archive.h"

#include <zip.h>

#include <algorithm>

#include "core/atomic_file.h"
#include "springtime/error.h"

namespace springtime {

namespace fs = std::filesystem;

namespace {

// What deflate can make of its input at most: 258 bytes from 2 bits.
constexpr std::uint64_t kMostDeflation = 1032;

struct CloseMember {
    void operator()(zip_file_t* file) const { zip_fclose(file); }
};

class MemberBytes : public ByteSource {
  public:
    MemberBytes(std::shared_ptr<zip> archive, std::string name, std::uint64_t index,
                std::uint64_t size)
        : archive_(std::move(archive)),
          name_(std::move(name)),
          size_(size),
          file_(zip_fopen_index(archive_.get(), index, 0))
    {
        if (!file_) fail(zip_strerror(archive_.get()));
    }

    std::string name() const override { return name_; }
    std::uint64_t size() const override { return size_; }
    std::size_t read(char* to, std::size_t count) override
    {
        std::size_t done = 0;
        while (done < count) {
            const zip_int64_t got = zip_fread(file_.get(), to + done, count - done);
            if (got < 0) fail(zip_file_strerror(file_.get()));
            if (got == 0) break;
            done += std::size_t(got);
        }
        return done;
    }

  private:
    [[noreturn]] void fail(const char* reason) const
    {
        throw Error("{}: cannot be unpacked ({}); copy the file or save it again", name_, reason);
    }

    std::shared_ptr<zip> archive_;  // first: the file must go before it
    std::string name_;
    std::uint64_t size_;
    std::unique_ptr<zip_file_t, CloseMember> file_;
};

std::string open_message(int code)
{
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const std::string text = zip_error_strerror(&error);
    zip_error_fini(&error);
    return text;
}

}  // namespace

ZipArchive::ZipArchive(const fs::path& path) : path_(path.string())
{
    file_bytes_ = open_bytes(path)->size();
    int code = 0;
    zip_t* const opened = zip_open(path.c_str(), ZIP_RDONLY, &code);
    if (!opened) {
        throw Error("{}: cannot be opened as a zip file ({}); copy it or save it again", path_,
                    open_message(code));
    }
    zip_.reset(opened, zip_discard);
    const zip_int64_t count = zip_get_num_entries(opened, 0);
    for (zip_int64_t i = 0; i < count; ++i) {
        const char* const name = zip_get_name(opened, zip_uint64_t(i), 0);
        names_.emplace_back(name ? name : "");
    }
}

std::unique_ptr<ByteSource> ZipArchive::open(std::size_t member) const
{
    const std::string name = fmt::format("{}: {}", path_, names_.at(member));
    zip_stat_t status;
    constexpr zip_uint64_t kNeeded = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
    if (zip_stat_index(zip_.get(), member, 0, &status) != 0 ||
        (status.valid & kNeeded) != kNeeded) {
        throw Error("{}: cannot be found in the zip file; copy it or save it again", name);
    }
    if ((status.valid & ZIP_STAT_ENCRYPTION_METHOD) && status.encryption_method != ZIP_EM_NONE) {
        throw Error("{}: is encrypted; pack it again without a password", name);
    }
    if (status.comp_method != ZIP_CM_STORE && status.comp_method != ZIP_CM_DEFLATE) {
        throw Error(
            "{}: is packed by method {}; stored or deflated is needed, as np.savez and "
            "np.savez_compressed do",
            name, int(status.comp_method));
    }
    // Checked before anyone takes memory for what the file only says.
    const std::uint64_t packed = std::min<std::uint64_t>(status.comp_size, file_bytes_);
    const std::uint64_t most =
        status.comp_method == ZIP_CM_STORE ? packed : packed * kMostDeflation;
    if (status.size > most) {
        throw Error(
            "{}: says {} bytes, but {} packed ones hold {} at most; copy the file or save "
            "it again",
            name, status.size, packed, most);
    }
    return std::make_unique<MemberBytes>(zip_, name, member, status.size);
}

}  // namespace springtime
