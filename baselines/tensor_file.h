#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

// Named arrays and words in one file: how motion goes to the baselines, and results come back. It
// needs nothing but the C++ library, because the baselines are also built where SpringTime is not.
//
//     springtime tensors 1
//     text kind motion
//     array position f32 128 401 961 3
//     end
//
// and then the numbers of all arrays, little-endian, in this order.
namespace springtime::baselines {

// Bad input: source, what was found, what was needed, what to do.
struct BadInput : std::runtime_error {
    using std::runtime_error::runtime_error;
};

enum class NumberType : std::uint8_t { f32, f64, i64 };

struct ArrayInfo {
    std::string name;
    NumberType type = NumberType::f32;
    std::vector<std::int64_t> shape;

    std::int64_t count() const;                                                   // of numbers
    std::int64_t number_size() const { return type == NumberType::f32 ? 4 : 8; }  // [bytes]
};

template <class T>
constexpr NumberType number_type()
{
    if constexpr (std::is_same_v<T, float>) return NumberType::f32;
    if constexpr (std::is_same_v<T, double>) return NumberType::f64;
    return NumberType::i64;
}

using Texts = std::map<std::string, std::string>;

struct CloseStream {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using Stream = std::unique_ptr<std::FILE, CloseStream>;

// Writes PATH.part and renames it, so that an interrupted write destroys nothing.
class TensorWriter {
  public:
    TensorWriter(std::filesystem::path path, const Texts& texts, std::vector<ArrayInfo> arrays);

    // Numbers `first` to `first + values.size()` of an array, in any order.
    template <class T>
    void write(const std::string& name, std::int64_t first, const std::vector<T>& values)
    {
        write_bytes(name, number_type<T>(), first, values.data(), std::int64_t(values.size()));
    }
    template <class T>
    void write(const std::string& name, const std::vector<T>& values)
    {
        write(name, 0, values);
    }
    void write_bytes(const std::string& name, NumberType type, std::int64_t first,
                     const void* numbers, std::int64_t count);
    void publish();

  private:
    void check(bool good) const;

    std::filesystem::path path_, part_;
    std::vector<ArrayInfo> arrays_;
    std::map<std::string, std::int64_t> offset_;
    Stream file_;
};

class TensorReader {
  public:
    explicit TensorReader(std::filesystem::path path);

    const std::filesystem::path& path() const { return path_; }
    bool has_text(const std::string& name) const { return texts_.count(name) > 0; }
    const std::string& text(const std::string& name) const;
    bool has(const std::string& name) const { return offset_.count(name) > 0; }
    const ArrayInfo& info(const std::string& name) const;

    template <class T>
    std::vector<T> read(const std::string& name) const
    {
        std::vector<T> values(std::size_t(info(name).count()));
        read_bytes(name, number_type<T>(), values.data());
        return values;
    }
    // The whole array, into memory that is large enough.
    void read_bytes(const std::string& name, NumberType type, void* numbers) const;

  private:
    void read_header();

    std::filesystem::path path_;
    Texts texts_;
    std::vector<ArrayInfo> arrays_;
    std::map<std::string, std::int64_t> offset_;
    Stream file_;
};

// A number for the positions of one frame: two frames with the same number are the same to the last
// bit, but for one chance in 10^13 for a million frames.
std::int64_t frame_fingerprint(const float* position, std::size_t count);

}  // namespace springtime::baselines
