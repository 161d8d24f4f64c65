#include "tensor_file.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <sstream>

namespace springtime::baselines {

namespace fs = std::filesystem;

namespace {

constexpr const char* kMagic = "springtime tensors 1";
constexpr std::array<const char*, 3> kTypeNames{"f32", "f64", "i64"};

std::string header_of(const Texts& texts, const std::vector<ArrayInfo>& arrays)
{
    std::ostringstream header;
    header << kMagic << '\n';
    for (const auto& [name, value] : texts) header << "text " << name << ' ' << value << '\n';
    for (const ArrayInfo& array : arrays) {
        header << "array " << array.name << ' ' << kTypeNames[std::size_t(array.type)];
        for (const std::int64_t n : array.shape) header << ' ' << n;
        header << '\n';
    }
    header << "end\n";
    return header.str();
}

std::map<std::string, std::int64_t> offsets_of(const std::vector<ArrayInfo>& arrays,
                                               std::int64_t first)
{
    std::map<std::string, std::int64_t> offsets;
    for (const ArrayInfo& array : arrays) {
        offsets[array.name] = first;
        first += array.count() * array.number_size();
    }
    return offsets;
}

const ArrayInfo& find(const std::vector<ArrayInfo>& arrays, const std::string& name,
                      const fs::path& path)
{
    for (const ArrayInfo& array : arrays) {
        if (array.name == name) return array;
    }
    throw BadInput(path.string() + ": has no array '" + name +
                   "'; it must be a file that `springtime reproduce` wrote for this purpose");
}

void check_type(const ArrayInfo& array, NumberType type, const fs::path& path)
{
    if (array.type == type) return;
    throw BadInput(path.string() + ": '" + array.name + "' holds " +
                   kTypeNames[std::size_t(array.type)] + ", but " + kTypeNames[std::size_t(type)] +
                   " is needed; make the file again");
}

}  // namespace

std::int64_t ArrayInfo::count() const
{
    std::int64_t count = 1;
    for (const std::int64_t n : shape) count *= n;
    return count;
}

TensorWriter::TensorWriter(fs::path path, const Texts& texts, std::vector<ArrayInfo> arrays)
    : path_(std::move(path)), part_(path_.string() + ".part"), arrays_(std::move(arrays))
{
    const std::string header = header_of(texts, arrays_);
    offset_ = offsets_of(arrays_, std::int64_t(header.size()));
    file_.reset(std::fopen(part_.c_str(), "wb"));
    check(file_ != nullptr);
    check(std::fwrite(header.data(), 1, header.size(), file_.get()) == header.size());
}

void TensorWriter::check(bool good) const
{
    if (!good) {
        throw std::runtime_error(part_.string() +
                                 ": cannot be written; is there space, and may "
                                 "you write there?");
    }
}

void TensorWriter::write_bytes(const std::string& name, NumberType type, std::int64_t first,
                               const void* numbers, std::int64_t count)
{
    const ArrayInfo& array = find(arrays_, name, path_);
    check_type(array, type, path_);
    if (first < 0 || first + count > array.count()) {
        throw std::logic_error(path_.string() + ": numbers beyond the end of '" + name + "'");
    }
    const std::int64_t size = array.number_size();
    check(fseeko(file_.get(), offset_.at(name) + first * size, SEEK_SET) == 0);
    check(std::fwrite(numbers, std::size_t(size), std::size_t(count), file_.get()) ==
          std::size_t(count));
}

void TensorWriter::publish()
{
    check(std::fclose(file_.release()) == 0);
    fs::rename(part_, path_);
}

TensorReader::TensorReader(fs::path path)
    : path_(std::move(path)), file_(std::fopen(path_.c_str(), "rb"))
{
    if (!file_) throw BadInput(path_.string() + ": cannot be opened; check the name");
    read_header();
    std::int64_t size = std::ftell(file_.get());
    offset_ = offsets_of(arrays_, size);
    for (const ArrayInfo& array : arrays_) size += array.count() * array.number_size();
    if (std::int64_t(fs::file_size(path_)) != size) {
        throw BadInput(path_.string() + ": has " + std::to_string(fs::file_size(path_)) +
                       " bytes, but " + std::to_string(size) +
                       " are needed; it was cut off, so make it again");
    }
}

void TensorReader::read_header()
{
    const auto bad = [&](const std::string& line) {
        const bool readable =
            std::all_of(line.begin(), line.end(), [](char c) { return c >= ' '; });
        return BadInput(path_.string() + ": found '" +
                        (readable ? line.substr(0, 60) : "bytes that are no text") +
                        "', but a line of the header was needed; give a file of tensors, which "
                        "`springtime reproduce` and `springtime-baseline` write");
    };
    std::array<char, 4096> buffer{};
    for (bool first = true;; first = false) {
        if (!std::fgets(buffer.data(), int(buffer.size()), file_.get())) throw bad("the end");
        std::string line = buffer.data();
        if (line.empty() || line.back() != '\n') throw bad(line);
        line.pop_back();
        if (first) {
            if (line != kMagic) throw bad(line);
            continue;
        }
        if (line == "end") return;
        std::istringstream words(line);
        std::string what, name;
        words >> what >> name;
        if (what == "text") {
            std::getline(words >> std::ws, texts_[name]);
            continue;
        }
        ArrayInfo array{name, NumberType::f32, {}};
        std::string type;
        words >> type;
        const auto known = std::find(kTypeNames.begin(), kTypeNames.end(), type);
        if (what != "array" || known == kTypeNames.end()) throw bad(line);
        array.type = NumberType(known - kTypeNames.begin());
        constexpr std::int64_t kMost = std::int64_t(1) << 40;  // numbers in an array
        for (std::int64_t n = 0; words >> n;) {
            if (n < 0 || n > kMost || array.count() > kMost) throw bad(line);
            array.shape.push_back(n);
        }
        arrays_.push_back(array);
    }
}

const std::string& TensorReader::text(const std::string& name) const
{
    const auto found = texts_.find(name);
    if (found != texts_.end()) return found->second;
    throw BadInput(path_.string() + ": does not say '" + name +
                   "'; it must be a file that springtime wrote for this purpose");
}

const ArrayInfo& TensorReader::info(const std::string& name) const
{
    return find(arrays_, name, path_);
}

void TensorReader::read_bytes(const std::string& name, NumberType type, void* numbers) const
{
    const ArrayInfo& array = info(name);
    check_type(array, type, path_);
    const bool there = fseeko(file_.get(), offset_.at(name), SEEK_SET) == 0;
    const auto count = std::size_t(array.count());
    if (!there ||
        std::fread(numbers, std::size_t(array.number_size()), count, file_.get()) != count) {
        throw BadInput(path_.string() + ": '" + name + "' cannot be read; make the file again");
    }
}

std::int64_t frame_fingerprint(const float* position, std::size_t count)
{
    std::uint64_t hash = 0x9e3779b97f4a7c15;
    for (std::size_t i = 0; i < count; ++i) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, position + i, sizeof bits);
        hash = (hash ^ bits) * 0xff51afd7ed558ccd;  // mixes like the end of MurmurHash3
        hash ^= hash >> 32;
    }
    return std::int64_t(hash);
}

}  // namespace springtime::baselines
