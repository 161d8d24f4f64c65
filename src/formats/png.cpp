#include "formats/png.h"

#include <png.h>

#include <array>
#include <cerrno>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "core/atomic_file.h"
#include "springtime/error.h"
#include "springtime/report.h"

namespace springtime {

namespace {

constexpr int kMaxSide = 16384;
// Half a gigabyte of values, so that a small file with a false header cannot exhaust the memory.
constexpr std::size_t kMaxPixels = std::size_t(1) << 26;

struct Header {
    png_uint_32 width = 0, height = 0;
    int channels = 0, depth = 0;
    std::size_t row_bytes = 0;
};

// What libpng said of the last fault, before it jumped.
struct Fault {
    std::array<char, 128> text{};

    static void on_error(png_structp png, png_const_charp words)
    {
        auto* fault = static_cast<Fault*>(png_get_error_ptr(png));
        std::snprintf(fault->text.data(), fault->text.size(), "%s", words);
        png_longjmp(png, 1);
    }
    static void on_warning(png_structp, png_const_charp) {}
};

// The only place that meets libpng's longjmp: each function with a setjmp owns nothing that needs
// a destructor, and reports failure by its result.
class Decoder {
  public:
    explicit Decoder(std::FILE* file)
    {
        png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &fault_, Fault::on_error,
                                      Fault::on_warning);
        info_ = png_ != nullptr ? png_create_info_struct(png_) : nullptr;
        if (info_ == nullptr) {
            png_destroy_read_struct(&png_, nullptr, nullptr);
            throw std::bad_alloc();
        }
        png_init_io(png_, file);
    }
    ~Decoder() { png_destroy_read_struct(&png_, &info_, nullptr); }
    Decoder(const Decoder&) = delete;
    Decoder& operator=(const Decoder&) = delete;

    bool read_size(Header& header)
    {
        if (setjmp(png_jmpbuf(png_)) != 0) return false;
        png_read_info(png_, info_);
        header.width = png_get_image_width(png_, info_);
        header.height = png_get_image_height(png_, info_);
        return true;
    }

    // Asks for plain samples of 8 or 16 bits: one channel for grey, three for colour.
    bool prepare(Header& header)
    {
        if (setjmp(png_jmpbuf(png_)) != 0) return false;
        png_set_expand(png_);
        png_set_strip_alpha(png_);
        png_set_interlace_handling(png_);
        png_read_update_info(png_, info_);
        header.channels = png_get_channels(png_, info_);
        header.depth = png_get_bit_depth(png_, info_);
        header.row_bytes = png_get_rowbytes(png_, info_);
        return true;
    }

    bool read_rows(png_bytep* rows)
    {
        if (setjmp(png_jmpbuf(png_)) != 0) return false;
        png_read_image(png_, rows);
        png_read_end(png_, nullptr);
        return true;
    }

    const char* fault() const { return fault_.text.data(); }

  private:
    png_structp png_ = nullptr;
    png_infop info_ = nullptr;
    Fault fault_;
};

// The same for writing.
class Encoder {
  public:
    explicit Encoder(std::FILE* file)
    {
        png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, &fault_, Fault::on_error,
                                       Fault::on_warning);
        info_ = png_ != nullptr ? png_create_info_struct(png_) : nullptr;
        if (info_ == nullptr) {
            png_destroy_write_struct(&png_, nullptr);
            throw std::bad_alloc();
        }
        png_init_io(png_, file);
    }
    ~Encoder() { png_destroy_write_struct(&png_, &info_); }
    Encoder(const Encoder&) = delete;
    Encoder& operator=(const Encoder&) = delete;

    // Grey of 16 bits in the order of this machine's bytes, or red, green and blue of 8 bits. The
    // remark becomes a text chunk; null for none.
    bool write(int width, int height, bool grey, png_textp remark, png_bytep* rows)
    {
        if (setjmp(png_jmpbuf(png_)) != 0) return false;
        png_set_IHDR(png_, info_, width, height, grey ? 16 : 8,
                     grey ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                     PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
        if (remark != nullptr) png_set_text(png_, info_, remark, 1);
        if (grey) {
            png_set_compression_level(png_, kFast);
        } else {
            png_set_sRGB(png_, info_, PNG_sRGB_INTENT_PERCEPTUAL);
        }
        png_write_info(png_, info_);
        if (grey) png_set_swap(png_);  // samples are stored with the high byte first
        png_write_image(png_, rows);
        png_write_end(png_, nullptr);
        return true;
    }

    const char* fault() const { return fault_.text.data(); }

  private:
    static constexpr int kFast = 3;  // of 9: a map of 512 x 512 takes a third of the default time

    png_structp png_ = nullptr;
    png_infop info_ = nullptr;
    Fault fault_;
};

File open_png(const std::filesystem::path& path)
{
    check_source(path);
    File file(std::fopen(path.c_str(), "rb"));
    if (!file) {
        throw Error("{}: cannot be opened ({}); give the path of a PNG image", path.string(),
                    std::strerror(errno));
    }
    std::array<png_byte, 8> signature{};
    const auto count = std::fread(signature.data(), 1, signature.size(), file.get());
    if (count != signature.size() || png_sig_cmp(signature.data(), 0, count) != 0) {
        throw Error("{}: is not a PNG image; convert it to a grey-scale PNG or to a CSV table",
                    path.string());
    }
    std::rewind(file.get());
    return file;
}

void check_size(const Header& header, const std::filesystem::path& path)
{
    const std::size_t pixels = std::size_t(header.width) * header.height;
    if (header.width > kMaxSide || header.height > kMaxSide || pixels > kMaxPixels) {
        throw Error(
            "{}: {} x {} pixels; a map has at most {} a side and {} in all, scale the image down",
            path.string(), header.width, header.height, kMaxSide, kMaxPixels);
    }
}

[[noreturn]] void throw_damaged(const std::filesystem::path& path, const char* fault)
{
    throw Error("{}: damaged PNG image ({}); save or copy it again", path.string(), fault);
}

// Samples of 16 bits are stored with the high byte first.
double sample_at(const png_byte* row, std::size_t index, int depth)
{
    return depth == 16 ? row[2 * index] * 256.0 + row[2 * index + 1] : row[index];
}

// Rec. 709 luma. Whole-number weights keep a grey exact.
double luminance(const png_byte* row, std::size_t pixel, const Header& header)
{
    if (header.channels == 1) return sample_at(row, pixel, header.depth);
    const std::size_t first = pixel * header.channels;
    return (2126 * sample_at(row, first, header.depth) +
            7152 * sample_at(row, first + 1, header.depth) +
            722 * sample_at(row, first + 2, header.depth)) /
           10000;
}

}  // namespace

ValueMap read_grey_png(const std::filesystem::path& path)
{
    const File file = open_png(path);
    Decoder decoder(file.get());
    Header header;
    if (!decoder.read_size(header)) throw_damaged(path, decoder.fault());
    check_size(header, path);
    if (!decoder.prepare(header)) throw_damaged(path, decoder.fault());

    std::vector<png_byte> bytes(header.row_bytes * header.height);
    std::vector<png_bytep> rows(header.height);
    for (std::size_t r = 0; r < rows.size(); ++r) {
        rows[r] = bytes.data() + r * header.row_bytes;
    }
    if (!decoder.read_rows(rows.data())) throw_damaged(path, decoder.fault());

    ValueMap map{static_cast<int>(header.height), static_cast<int>(header.width), {}};
    map.values.reserve(std::size_t(header.width) * header.height);
    const double white = header.depth == 16 ? 65535 : 255;
    for (const png_bytep row : rows) {
        for (std::size_t c = 0; c < header.width; ++c) {
            map.values.push_back(luminance(row, c, header) / white);
        }
    }
    return map;
}

namespace {

template <class T>
std::vector<png_bytep> rows_of(std::vector<T>& values, int height)
{
    std::vector<png_bytep> rows;
    for (int r = 0; r < height; ++r) {
        rows.push_back(reinterpret_cast<png_bytep>(values.data() + values.size() / height * r));
    }
    return rows;
}

template <class T>
void write_rows(const std::filesystem::path& path, int width, int height, std::vector<T> values,
                png_textp remark, bool overwrite)  // by value: libpng takes no const rows
{
    PartFile file(path, overwrite);
    Encoder encoder(file.stream());
    if (!encoder.write(width, height, sizeof(T) == 2, remark, rows_of(values, height).data())) {
        fail_write(path, encoder.fault());
    }
    file.publish();
}

void check_picture(const Picture& picture, std::string_view source)
{
    const int width = picture.width, height = picture.height;
    if (width > 0 && height > 0 && picture.rgb.size() == std::size_t(3) * width * height) return;
    throw Error("{}: a picture of {} x {} pixels holds {} bytes; it needs 3 a pixel", source, width,
                height, picture.rgb.size());
}

}  // namespace

void write_grey_png(const std::filesystem::path& path, const GreyPicture& picture,
                    const std::string& remark)
{
    const int width = picture.width, height = picture.height;
    if (width < 1 || height < 1 || picture.grey.size() != std::size_t(width) * height) {
        throw Error("{}: a picture of {} x {} pixels holds {} values; it needs one a pixel",
                    path.string(), width, height, picture.grey.size());
    }
    std::string key = "Comment", text = remark;
    png_text chunk{};
    chunk.compression = PNG_TEXT_COMPRESSION_NONE;
    chunk.key = key.data();
    chunk.text = text.data();
    chunk.text_length = text.size();
    write_rows(path, width, height, picture.grey, &chunk, true);
}

void write_png(const std::filesystem::path& path, const Picture& picture, bool overwrite)
{
    check_picture(picture, path.string());
    write_rows(path, picture.width, picture.height, picture.rgb, nullptr, overwrite);
}

std::string to_png(const Picture& picture)
{
    check_picture(picture, "PNG");
    std::vector<std::uint8_t> rgb = picture.rgb;
    char* bytes = nullptr;
    std::size_t count = 0;
    File stream(open_memstream(&bytes, &count));
    if (!stream) throw std::bad_alloc();
    Encoder encoder(stream.get());
    const bool written = encoder.write(picture.width, picture.height, false, nullptr,
                                       rows_of(rgb, picture.height).data());
    stream.reset();  // completes the bytes
    const std::unique_ptr<char, void (*)(void*)> owned(bytes, std::free);
    if (!written) throw Failure("PNG: {}", encoder.fault());
    return {bytes, count};
}

}  // namespace springtime
