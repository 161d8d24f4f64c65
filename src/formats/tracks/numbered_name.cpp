#include "formats/tracks/numbered_name.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <limits>
#include <tuple>

#include "springtime/error.h"

namespace springtime {

namespace fs = std::filesystem;

NumberedName::NumberedName(const fs::path& path) : folder(path.parent_path())
{
    const std::string name = path.filename().string();
    std::size_t end = name.size();
    while (end > 0 && !std::isdigit(static_cast<unsigned char>(name[end - 1]))) --end;
    std::size_t begin = end;
    while (begin > 0 && std::isdigit(static_cast<unsigned char>(name[begin - 1]))) --begin;
    before = name.substr(0, begin);
    after = name.substr(end);
    numbered = end > begin;
    digits = name.substr(begin, end - begin);
    digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
}

bool natural_order(const fs::path& a, const fs::path& b)
{
    const auto key = [](const fs::path& path) {
        const NumberedName name(path);
        return std::tuple(name.folder.string(), name.before, name.after, name.digits.size(),
                          name.digits);
    };
    return key(a) < key(b);
}

namespace {

std::uint64_t number_of(const NumberedName& name, const fs::path& path)
{
    std::uint64_t number = 0;
    const char* end = name.digits.data() + name.digits.size();
    if (!name.digits.empty() &&
        std::from_chars(name.digits.data(), end, number).ec != std::errc()) {
        throw Error("{}: a number of {} digits; number the frames of a sequence 1, 2, 3 and so on",
                    path.string(), name.digits.size());
    }
    return number;
}

}  // namespace

std::optional<std::vector<double>> frame_numbers(const std::vector<fs::path>& files)
{
    std::vector<std::uint64_t> steps;
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    for (std::size_t i = 1; i < files.size(); ++i) {
        const NumberedName last(files[i - 1]), name(files[i]);
        const bool alike = name.numbered && last.numbered && name.folder == last.folder &&
                           name.before == last.before && name.after == last.after;
        if (!alike) return std::nullopt;
        const std::uint64_t from = number_of(last, files[i - 1]), to = number_of(name, files[i]);
        if (from == to) {
            throw Error("{}: has the same number as {}; one frame is one file", files[i].string(),
                        files[i - 1].string());
        }
        if (to < from) return std::nullopt;
        steps.push_back(to - from);
        least = std::min(least, steps.back());
    }
    std::vector<double> numbers = {0};
    for (const std::uint64_t step : steps) {
        if (step % least != 0) return std::nullopt;
        numbers.push_back(numbers.back() + double(step / least));
    }
    return numbers;
}

}  // namespace springtime
